const longest = 120

/** How many chars must be put in, taken out or changed. Only the first chars of long texts are looked at. */
export function editDistance(one: string, other: string): number {
  const [a, b] = [one.slice(0, longest), other.slice(0, longest)]
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]! + Math.abs(one.length - a.length - (other.length - b.length))
}

/** The nearest of some names, when one is near enough to be a slip. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const other of names) {
    const apart = editDistance(name.toLowerCase(), other.toLowerCase())
    if (apart < least) [best, least] = [other, apart]
  }
  return best
}
