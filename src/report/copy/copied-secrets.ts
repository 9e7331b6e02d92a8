import { jsLiteral } from './quoting.js'
import type { CopyContext, Headers } from './selection.js'

// Copied code contains a variable in place of each secret. If the position of a secret shows which secret it is, the
// code uses the variable that the SDKs read.

/** Text that replaces a secret in a trace. */
export const hidden = '***'

/** The part of a dialect that copying needs. The inspector page contains only this part, so it is smaller. */
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

/**
 * Returns the dialect of a request. If no header of the request belongs to a dialect, returns the dialect of the
 * sandbox.
 */
export function copyDialectOf(headers: Headers, { headerPrefix }: CopyContext): CopyDialect {
  const speaks = ({ headerPrefix: prefix }: CopyDialect): boolean =>
    headers.some(([name]) => name.toLowerCase().startsWith(prefix.toLowerCase()))
  if (speaks(vendorCopy)) return vendorCopy
  return speaks(neutralCopy) || headerPrefix === neutralCopy.headerPrefix ? neutralCopy : vendorCopy
}

/** Returns the names of the environment variables that contain the URL and the token of a service. */
export function variablesOf(service: unknown, words: CopyDialect): { url?: string; token: string } {
  if (service === 'store') return { url: words.storeUrl, token: words.storeToken }
  if (service === 'queue') return { url: words.queueUrl, token: words.queueToken }
  return { token: 'SECRET' }
}

/** Returns the comment that says which variables the code needs to reach an added database. */
export function variablesNote(database: string): string {
  return `Use the variables of sandbox.envFor({ database: ${jsLiteral(database)} }).`
}

/**
 * Splits a text at redacted secrets. The result contains the text between the secrets, and a variable for each secret.
 */
export function partsOf(
  text: string,
  variable: string,
): readonly ({ readonly text: string } | { readonly variable: string })[] {
  return text
    .split(hidden)
    .flatMap((part, index) => [...(index === 0 ? [] : [{ variable }]), ...(part === '' ? [] : [{ text: part }])])
}
