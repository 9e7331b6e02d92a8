import { AddressPattern, withoutQuery } from './address-pattern.js'
import { didYouMean, editDistance } from './nearest-name.js'

/** Steps of a script that nothing has met. They may come from a server, or from a log: nothing is known of their fields. */
export interface Unplayed {
  readonly pattern: string
  readonly steps: readonly { readonly kind?: unknown; readonly status?: unknown }[]
}

/** An entry of a log: `attempt` for a delivery, `call` for a call of the app. */
interface Logged {
  readonly type: string
  readonly url?: unknown
}

/**
 * Which steps of a script are left, and why that may be.
 * @param log what has happened: a request to nearly the same url is named
 */
export function unplayedText({ pattern, steps }: Unplayed, what: 'delivery' | 'call', log: readonly Logged[]): string {
  const told = steps.map(({ kind, status }) => (typeof status === 'number' ? `${kind} ${status}` : String(kind)))
  const type = what === 'delivery' ? 'attempt' : 'call'
  const urls = new Set(log.flatMap(({ type: is, url }) => (is === type && typeof url === 'string' ? [url] : [])))
  const why = {
    delivery: ` Either too few deliveries were attempted (await clock.drain()?), or the steps aren't needed.`,
    call: ` Either the app sent too few requests there (a cache?), or the steps aren't needed.`,
  }
  return `The script for ${pattern} has steps that no ${what} met: ${told.join(', ')}.${meant(pattern, [...urls]) || why[what]}`
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
