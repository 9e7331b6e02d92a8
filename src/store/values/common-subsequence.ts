/** Equal bytes in a row, as places in both strings; the ends are part of it. */
export interface MatchedRange {
  readonly a: readonly [start: number, end: number]
  readonly b: readonly [start: number, end: number]
  readonly length: number
}

// The table of lengths, of which a row tells how much the beginnings of `b` have in common with one beginning of `a`, is
// worked out 30 columns at a time: between two neighbours in a row lies a step of 0 or 1, and a row of steps follows
// from the one above it by an addition. (Heikki Hyyrö, Bit-parallel LCS-length computation revisited, 2004.)

/**
 * The length of the longest common subsequence. The time grows with the product of both lengths.
 * @example lengthOfCommon(bytes('ohmytext'), bytes('mynewtext')) // 6: mytext
 */
export function lengthOfCommon(a: Uint8Array, b: Uint8Array): number {
  const steps = lastSteps(a, b)
  let length = 0
  for (let place = 0; place < b.length; place++) length += stepAt(steps, place)
  return length
}

/**
 * The stretches of a longest common subsequence, from the last to the first. Of several subsequences that are equally
 * long it is the one that redis-server finds: looking back from both ends, bytes that are equal belong to it, and else
 * the second string is given up first, unless giving up the first one keeps more. Beside the time of
 * {@link lengthOfCommon} it takes one bit of room for each pair of bytes.
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
    // The bytes differ, so a step here means that the row above has come just as far.
    if (stepAt(table, j - 1, (i - 1) * width) === 1) i--
    else j--
  }
  close()
  return ranges
}

/** With two bits to spare a sum never leaves the integers that engines add fastest. */
const wordSize = 30
const allOnes = 2 ** wordSize - 1

function wordsFor(length: number): number {
  return Math.ceil(length / wordSize)
}

/** In a row of steps a bit is 0 for a step up, and 1 for none. */
function stepAt(steps: Int32Array, place: number, from = 0): 0 | 1 {
  return (steps[from + Math.floor(place / wordSize)]! & (1 << (place % wordSize))) === 0 ? 1 : 0
}

/** The last row. @param table takes all of them */
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

/** For each byte that is in `a`, its places in `b` as bits: never more room than a bit for each pair. */
function placesIn(a: Uint8Array, b: Uint8Array): readonly (Int32Array | undefined)[] {
  const places: (Int32Array | undefined)[] = new Array(256).fill(undefined)
  for (const byte of a) places[byte] ??= new Int32Array(wordsFor(b.length))
  for (let place = 0; place < b.length; place++) {
    const own = places[b[place]!]
    if (own !== undefined) own[Math.floor(place / wordSize)]! |= 1 << (place % wordSize)
  }
  return places
}
