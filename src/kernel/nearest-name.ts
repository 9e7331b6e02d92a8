import { shownValue } from './shown-value.js'

const longest = 120

/**
 * Returns the edit distance of two texts: the number of characters that must be inserted, deleted or changed to get
 * from one to the other. Only the first 120 characters are compared.
 * @param enough number at which the comparison may stop; from this number on, the result may be smaller than the
 * distance
 */
export function editDistance(one: string, other: string, enough: number = Number.POSITIVE_INFINITY): number {
  if (Math.abs(one.length - other.length) >= enough) return enough
  const [a, b] = [one.slice(0, longest), other.slice(0, longest)]
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    if (enough < longest && Math.min(...next) >= enough) return enough
    row = next
  }
  return row[b.length]! + Math.abs(one.length - a.length - (other.length - b.length))
}

/** Returns ` Did you mean "orders"?`, to append to a message. Returns an empty string if no name is similar enough. */
export function didYouMean(name: unknown, names: Iterable<string>): string {
  const near = typeof name === 'string' ? nearestName(name, names) : undefined
  return near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`
}

/** Object whose keys are all option names of a type. The compiler rejects the object if a name is missing. */
export type OptionNames<T> = { readonly [Name in keyof T]-?: true }

/**
 * Checks the names in an options object. Every function with options calls it before it does anything else, once for
 * each options object.
 * @param who subject of the message: `timeline()`, or `policy.queueLimits` for nested options
 * @throws TypeError when an option is unknown, with the nearest name
 */
export function checkOptionNames<T extends object>(
  who: string,
  options: T,
  names: readonly string[] | NoInfer<OptionNames<T>>,
): void {
  const known = Array.isArray(names) ? (names as readonly string[]) : Object.keys(names)
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(
      `${who}: options must be an object (got ${shownValue(options)}). The options are ${known.join(', ')}.`,
    )
  }
  const unknown = Object.keys(options).filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new TypeError(`${who} has no ${unknownOptions(unknown, known)}`)
}

/** Returns the end of a message about unknown options, with the nearest names: `option "sede". Did you mean "seed"? …` */
export function unknownOptions(unknown: readonly string[], known: readonly string[]): string {
  const near = new Set(unknown.map((name) => nearestName(name, known)).filter((name) => name !== undefined))
  const meant = near.size === 0 ? '' : ` Did you mean ${quoted([...near])}?`
  return `option${unknown.length === 1 ? '' : 's'} ${quoted(unknown)}.${meant} The options are ${known.join(', ')}.`
}

function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ')
}

/** Returns the nearest name, or `undefined` if no name is similar enough. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  // An empty name is similar to every short name, so a suggestion would be useless.
  if (name === '') return undefined
  const plain = name.toLowerCase()
  let best: string | undefined
  let least = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const other of names) {
    const apart = distance(plain, other.toLowerCase(), least)
    if (apart < least) [best, least] = [other, apart]
  }
  return best
}

/** Returns the edit distance, but a plural counts as one change: `retry` and `retries` differ by three letters. */
function distance(one: string, other: string, enough: number): number {
  const plain = editDistance(one, other, enough)
  const [a, b] = [singular(one), singular(other)]
  return a === one && b === other ? plain : Math.min(plain, editDistance(a, b, enough) + 1)
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '')
}
