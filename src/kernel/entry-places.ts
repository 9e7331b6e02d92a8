/** A part of an entry. The log imports this file. */
interface Numbered {
  readonly seq: number
}

// The entries of a log are sorted by `seq`, so that no index is needed to find one.

/**
 * Returns the index of the first entry after the entry with this `seq`. The numbers of entries have no gaps, except in
 * recorded logs and in selections of entries.
 */
export function placeAfter(entries: readonly Numbered[], seq: number): number {
  const first = entries[0]
  if (first === undefined || seq < first.seq) return 0
  const guess = seq - first.seq
  if (entries[guess]?.seq === seq) return guess + 1
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle]!.seq > seq) high = middle
    else low = middle + 1
  }
  return low
}

/** Returns the entry with this `seq`. */
export function entryWith<T extends Numbered>(entries: readonly T[], seq: number): T | undefined {
  const entry = entries[placeAfter(entries, seq) - 1]
  return entry?.seq === seq ? entry : undefined
}
