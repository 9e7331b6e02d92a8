import { AddressPattern, withoutQuery } from './address-pattern.js'
import { didYouMean, editDistance } from './nearest-name.js'

/** Steps of a script that nothing has met. They may come from a server, or from a log: nothing is known of their fields. */
export interface UnusedSteps {
  readonly pattern: string
  readonly steps: readonly { readonly kind?: unknown; readonly status?: unknown }[]
}

/** An entry of a log: `attempt` for a delivery, `outbound` for a request of the app. */
interface Logged {
  readonly type: string
  readonly seq?: number
  readonly cause?: number
  readonly url?: unknown
  readonly method?: unknown
}

/**
 * Which steps of a script are left, and why that may be.
 * @param log what has happened: a request to nearly the same url is named
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
    delivery: ` Either too few deliveries were attempted (await clock.drain()?), or the steps aren't needed.`,
    call: ` Either the app sent too few requests there (a cache?), or the steps aren't needed.`,
  }
  return `The script for ${pattern} has steps that no ${what} met: ${told.join(', ')}.${meant(pattern, [...urls]) || preceded(pattern, logged, log) || why[what]}`
}

/** Of a request that met the pattern of the script and the fault of a rule; empty if there is none. */
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
    : ` A fault rule struck #${first.seq} there, and a rule that answers leaves a script as it is.`
}

/** ` Did you mean "https://shop.test/orders"?`, of urls that were asked; empty if a request has met the script. */
function meant(pattern: string, asked: readonly string[]): string {
  const url = pattern.replace(/^[A-Za-z]+\s+/, '')
  // Nobody knows what `*` and a query stand for.
  if (asked.length === 0 || /[*?]/.test(url)) return ''
  const script = new AddressPattern(url)
  if (asked.some((other) => script.matches(other))) return ''
  return didYouMean(
    url,
    // An address with a password is not repeated.
    asked
      .filter((other) => !other.includes('@'))
      .map(withoutQuery)
      .filter((other) => isTypoOf(url, other)),
  )
}

/** Fewest characters of a part of a url of which another one is a typo: `/cart` and `/card` are two places. */
const shortest = 5

/** Whether two urls differ in one part only, by at most two characters that are no digits: `/orders/1` is not `/orders/2`. */
function isTypoOf(one: string, other: string): boolean {
  const [a, b] = [one.split('/'), other.split('/')]
  const differing = a.flatMap((part, at) => (part === b[at] ? [] : [[part, b[at] ?? ''] as const]))
  if (a.length !== b.length || differing.length !== 1) return false
  const [[part, instead]] = differing as [readonly [string, string]]
  const letters = (text: string): string => text.replace(/\d+/g, '0')
  return part.length >= shortest && letters(part) !== letters(instead) && editDistance(part, instead, 3) < 3
}
