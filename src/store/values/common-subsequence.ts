/** Range of consecutive equal bytes, as positions in both strings. Both ends are included. */
export interface MatchedRange {
  readonly a: readonly [start: number, end: number]
  readonly b: readonly [start: number, end: number]
  readonly length: number
}

// The table has one row for each prefix of `a` and one column for each prefix of `b`. A cell is the length of the
// longest common subsequence of both prefixes. Neighbors in a row differ by 0 or 1, so a row is stored as bits. One
// addition computes 30 columns from the row above. (Heikki Hyyrö, Bit-parallel LCS-length computation revisited, 2004.)

/**
 * Returns the length of the longest common subsequence. The time grows with the product of both lengths.
 * @example lengthOfCommon(bytes('ohmytext'), bytes('mynewtext')) // 6: mytext
 */
export function lengthOfCommon(a: Uint8Array, b: Uint8Array): number {
  const steps = lastSteps(a, b)
  let length = 0
  for (let place = 0; place < b.length; place++) length += stepAt(steps, place)
  return length
}

/**
 * Returns the ranges of a longest common subsequence, from last to first.
 *
 * If several subsequences are equally long, the result is the same one as in redis-server. The search goes backward
 * from the ends of both strings. Equal bytes belong to the subsequence. If the bytes differ, the search drops the last
 * byte of the second string, unless dropping the last byte of the first string keeps a longer subsequence.
 *
 * The search takes as long as {@link lengthOfCommon}, and needs one bit of memory for each pair of bytes.
 */
export function commonRanges(a: Uint8Array, b: Uint8Array): MatchedRange[] {
  const width = wordsFor(b.length)
  const table = new Int32Array(a.length * width)
  lastSteps(a, b, table)
  const ranges: MatchedRange[] = []
  let [i, j, length] = [a.length, b.length, 0]
  const close = (): void => {
    if (length > 0) ranges.push({ a: [i, i + length - 1], b: [j, j + length - 1], length })
    length = 0
  }
  while (i > 0 && j > 0) {
    if (a[i - 1] === b[j - 1]) {
      length++
      i--
      j--
      continue
    }
    close()
    // The bytes differ, so a step in the row above means that the subsequence is equally long without the byte of `a`.
    if (stepAt(table, j - 1, (i - 1) * width) === 1) i--
    else j--
  }
  close()
  return ranges
}

/** Bits per integer. Two bits of 32 stay free, so that a sum is within the integers that engines add fastest. */
const wordSize = 30
const allOnes = 2 ** wordSize - 1

function wordsFor(length: number): number {
  return Math.ceil(length / wordSize)
}

/** Returns how much the length grows at a position of a row: 1 if the bit is 0, and 0 if the bit is 1. */
function stepAt(steps: Int32Array, place: number, from = 0): 0 | 1 {
  return (steps[from + Math.floor(place / wordSize)]! & (1 << (place % wordSize))) === 0 ? 1 : 0
}

/**
 * Computes all rows and returns the last one.
 * @param table receives all rows
 */
function lastSteps(a: Uint8Array, b: Uint8Array, table?: Int32Array): Int32Array {
  const width = wordsFor(b.length)
  const places = placesIn(a, b)
  const row = new Int32Array(width).fill(allOnes)
  for (let i = 0; i < a.length; i++) {
    const here = places[a[i]!]!
    let carry = 0
    for (let at = 0; at < width; at++) {
      const before = row[at]!
      const matching = here[at]!
      const sum = before + (before & matching) + carry
      carry = sum >>> wordSize
      row[at] = (sum & allOnes) | (before & ~matching)
    }
    table?.set(row, i * width)
  }
  return row
}

/**
 * Returns, for each byte in `a`, its positions in `b` as bits. The result needs at most one bit for each pair of bytes.
 */
function placesIn(a: Uint8Array, b: Uint8Array): readonly (Int32Array | undefined)[] {
  const places: (Int32Array | undefined)[] = new Array(256).fill(undefined)
  for (const byte of a) places[byte] ??= new Int32Array(wordsFor(b.length))
  for (let place = 0; place < b.length; place++) {
    const own = places[b[place]!]
    if (own !== undefined) own[Math.floor(place / wordSize)]! |= 1 << (place % wordSize)
  }
  return places
}
