const longest = 120

/**
 * How many characters must be inserted, deleted or changed. Only the first ones of long texts are compared.
 * @param enough it may stop and answer any number from here on
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

/** ` Did you mean "orders"?`, to be put behind a sentence; empty where nothing is near. */
export function didYouMean(name: unknown, names: Iterable<string>): string {
  const near = typeof name === 'string' ? nearestName(name, names) : undefined
  return near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`
}

/** Every name of some options: the compiler keeps it complete. */
export type OptionNames<T> = { readonly [Name in keyof T]-?: true }

/**
 * What every function with options calls first, once for each object of them.
 * @param who is the subject of the sentence: `timeline()`, or `policy.queueLimits` for nested ones
 * @throws TypeError with the nearest name, for an option that is not known
 */
export function checkOptionNames<T extends object>(
  who: string,
  options: T,
  names: readonly string[] | NoInfer<OptionNames<T>>,
): void {
  const known = Array.isArray(names) ? (names as readonly string[]) : Object.keys(names)
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`${who} takes an object of options (${known.join(', ')}), got ${shown(options)}.`)
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new TypeError(
    `${who} has no option ${JSON.stringify(unknown)}.${didYouMean(unknown, known)} The options are ${known.join(', ')}.`,
  )
}

function shown(given: unknown): string {
  return typeof given === 'string' || Array.isArray(given) ? JSON.stringify(given) : String(given)
}

/** The nearest name, if one is near enough for a typo. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  // Nothing was typed, so nothing was mistyped.
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

/** One name and the same one in the plural are a single change apart: `retry` and `retries` are three letters apart. */
function distance(one: string, other: string, enough: number): number {
  const plain = editDistance(one, other, enough)
  const [a, b] = [singular(one), singular(other)]
  return a === one && b === other ? plain : Math.min(plain, editDistance(a, b, enough) + 1)
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '')
}
