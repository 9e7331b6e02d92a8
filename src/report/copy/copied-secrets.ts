import type { CopyContext, Headers } from './selection.js'

// Where a secret stood, there is the name of a variable: that of the SDKs where the place tells which secret it was.

/** How a trace writes a secret. */
export const hidden = '***'

/** What the page needs of the words of a vendor: without the rest of them. */
export interface CopyDialect {
  readonly headerPrefix: string
  readonly storeUrl: string
  readonly storeToken: string
  readonly queueUrl: string
  readonly queueToken: string
}

export const vendorCopy: CopyDialect = {
  headerPrefix: 'Upstash-',
  storeUrl: 'UPSTASH_REDIS_REST_URL',
  storeToken: 'UPSTASH_REDIS_REST_TOKEN',
  queueUrl: 'QSTASH_URL',
  queueToken: 'QSTASH_TOKEN',
}

export const neutralCopy: CopyDialect = {
  headerPrefix: 'Service-',
  storeUrl: 'SERVICE_REDIS_REST_URL',
  storeToken: 'SERVICE_REDIS_REST_TOKEN',
  queueUrl: 'QUEUE_URL',
  queueToken: 'QUEUE_TOKEN',
}

/** The words that a request, or else the world, speaks. */
export function copyDialectOf(headers: Headers, { headerPrefix }: CopyContext): CopyDialect {
  const speaks = ({ headerPrefix: prefix }: CopyDialect): boolean =>
    headers.some(([name]) => name.toLowerCase().startsWith(prefix.toLowerCase()))
  if (speaks(vendorCopy)) return vendorCopy
  return speaks(neutralCopy) || headerPrefix === neutralCopy.headerPrefix ? neutralCopy : vendorCopy
}

/** The variables of the environment that a service's address and token are found in. */
export function variablesOf(service: unknown, words: CopyDialect): { url?: string; token: string } {
  if (service === 'store') return { url: words.storeUrl, token: words.storeToken }
  if (service === 'queue') return { url: words.queueUrl, token: words.queueToken }
  return { token: 'SECRET' }
}

/** A text in which secrets are hidden, as the parts beside them and the variables in their place. */
export function partsOf(
  text: string,
  variable: string,
): readonly ({ readonly text: string } | { readonly variable: string })[] {
  return text
    .split(hidden)
    .flatMap((part, index) => [...(index === 0 ? [] : [{ variable }]), ...(part === '' ? [] : [{ text: part }])])
}
