import { AddressPattern, withoutQuery } from './address-pattern.js'
import { didYouMean, editDistance } from './nearest-name.js'

/**
 * A script with its unused steps. It may come from a server or a log, so the types of the fields of its steps are
 * unknown.
 */
export interface UnusedSteps {
  readonly pattern: string
  readonly steps: readonly { readonly kind?: unknown; readonly status?: unknown }[]
}

/**
 * A log entry of a request that could have used a step: `attempt` for a delivery, `outbound` for an outbound request.
 */
interface Logged {
  readonly type: string
  readonly seq?: number
  readonly cause?: number
  readonly url?: unknown
  readonly method?: unknown
}

/**
 * Describes the unused steps of a script and the probable reason.
 * @param log all entries of the traffic log; if no entry matches the script, a similar URL among them may be a typo
 */
export function unplayedText(
  { pattern, steps }: UnusedSteps,
  what: 'delivery' | 'call',
  log: readonly Logged[],
): string {
  const told = steps.map(({ kind, status }) => (typeof status === 'number' ? `${kind} ${status}` : String(kind)))
  const type = what === 'delivery' ? 'attempt' : 'outbound'
  const logged = log.filter((entry) => entry.type === type)
  const urls = new Set(logged.flatMap(({ url }) => (typeof url === 'string' ? [url] : [])))
  const why = {
    delivery: ` If too few deliveries were attempted, await clock.drain(). Otherwise, remove the steps.`,
    call: ` If the app sent too few requests, check for a cache. Otherwise, remove the steps.`,
  }
  return `The script for ${pattern} has steps that no ${what === 'call' ? 'outbound request' : what} used: ${told.join(', ')}.${meant(pattern, [...urls]) || preceded(pattern, logged, log) || why[what]}`
}

/**
 * Names the first request that matched the script but used no step, because a fault rule determined its response.
 * Returns `''` if there is no such request.
 */
function preceded(pattern: string, logged: readonly Logged[], log: readonly Logged[]): string {
  const struck = new Set(log.flatMap(({ type, cause }) => (type === 'fault' ? (cause ?? []) : [])))
  if (struck.size === 0) return ''
  const [, wanted, url = pattern] = /^([A-Za-z]+)\s+(.*)$/.exec(pattern) ?? []
  const script = new AddressPattern(url)
  const first = logged.find(
    ({ seq = 0, url: asked, method }) =>
      struck.has(seq) &&
      typeof asked === 'string' &&
      script.matches(asked) &&
      (wanted === undefined || wanted.toUpperCase() === method),
  )
  return first === undefined
    ? ''
    : ` A fault rule was injected into entry #${first.seq}. If a rule determines the response, the request uses no step of the script.`
}

/**
 * Returns ` Did you mean "https://shop.test/orders"?` if no request matched the script, but the log has a similar URL.
 * Otherwise, returns `''`.
 */
function meant(pattern: string, asked: readonly string[]): string {
  const url = pattern.replace(/^[A-Za-z]+\s+/, '')
  // A pattern with `*` or a query can match many URLs, so a typo cannot be detected.
  if (asked.length === 0 || /[*?]/.test(url)) return ''
  const script = new AddressPattern(url)
  if (asked.some((other) => script.matches(other))) return ''
  return didYouMean(
    url,
    // A URL that contains a password must not appear in the message.
    asked
      .filter((other) => !other.includes('@'))
      .map(withoutQuery)
      .filter((other) => isTypoOf(url, other)),
  )
}

/**
 * Minimum length of a path segment in which a typo is detected, because short segments such as `/cart` and `/card` are
 * often different pages.
 */
const shortest = 5

/**
 * Returns whether one URL is probably a misspelling of the other. They must differ in one segment only, by at most two
 * characters. If only digits differ, as in `/orders/1` and `/orders/2`, they are different URLs.
 */
function isTypoOf(one: string, other: string): boolean {
  const [a, b] = [one.split('/'), other.split('/')]
  const differing = a.flatMap((part, at) => (part === b[at] ? [] : [[part, b[at] ?? ''] as const]))
  if (a.length !== b.length || differing.length !== 1) return false
  const [[part, instead]] = differing as [readonly [string, string]]
  const letters = (text: string): string => text.replace(/\d+/g, '0')
  return part.length >= shortest && letters(part) !== letters(instead) && editDistance(part, instead, 3) < 3
}
