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

/** The nearest name, if one is near enough for a typo. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  // Nothing was typed, so nothing was mistyped.
  if (name === '') return undefined
  const plain = name.toLowerCase()
  let best: string | undefined
  let least = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const other of names) {
    const apart = editDistance(plain, other.toLowerCase(), least)
    if (apart < least) [best, least] = [other, apart]
  }
  return best
}
