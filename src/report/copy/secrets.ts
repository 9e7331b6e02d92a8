import { serviceVocabulary, upstashVocabulary, type Vocabulary } from '../../protocol/vocabulary.js'
import { type CopyContext, type Headers, headersOf } from './selection.js'

// Where a secret stood, there is the name of a variable: that of the SDKs where the place tells which secret it was.

/** How a trace writes a secret. */
export const hidden = '***'

/** The words that a request, or else the world, speaks. */
export function wordsOf(headers: unknown, { headerPrefix }: CopyContext): Vocabulary {
  const has = (prefix: string): boolean =>
    (headersOf(headers) as Headers).some(([name]) => name.toLowerCase().startsWith(prefix.toLowerCase()))
  if (has(upstashVocabulary.headerPrefix)) return upstashVocabulary
  const { headerPrefix: neutral } = serviceVocabulary
  return has(neutral) || headerPrefix === neutral ? serviceVocabulary : upstashVocabulary
}

/** The variables of the environment that a service's address and token are found in. */
export function variablesOf(service: unknown, { environment }: Vocabulary): { url?: string; token: string } {
  if (service === 'store') return { url: environment.storeUrl[0]!, token: environment.storeToken[0]! }
  if (service === 'queue') return { url: environment.queueUrl, token: environment.queueToken }
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
