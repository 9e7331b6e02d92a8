import type { Random } from '../../kernel/random.js'

/** A cursor is one bit, 48 bits of the position and 15 that tell whether the rest is whole. */
const lowBits = 15n
const half = 0x1_00_0000
const rounds = 4

/** No scan has so far to go. */
const beyondAll = Number.POSITIVE_INFINITY

/**
 * What SCAN shows of its position: a number of 64 bits that says nothing, mostly beyond 2^53, as the service has it. The
 * numbers are a keyed permutation of the positions, so none has to be remembered. [store.md 7.2: opaque]
 */
export class ScanCursors {
  readonly #keys: readonly number[]

  constructor(random: Random) {
    this.#keys = Array.from({ length: rounds + 1 }, () => random.int(0x1_0000_0000))
  }

  of(position: number): string {
    return String(this.#cursorOf(position))
  }

  /** Where to go on: at the end for a number that no scan has shown, and at the beginning for one that was rounded. */
  position(cursor: bigint): number {
    if (cursor === 0n) return 0
    const position = this.#positionIn(cursor)
    const whole = this.#cursorOf(position)
    if (cursor === whole) return position
    // A client that takes cursors for floating-point numbers gets no further, as in production.
    const rounded = Number(whole)
    return cursor === BigInt(rounded) || cursor === BigInt(String(rounded)) ? 0 : beyondAll
  }

  #cursorOf(position: number): bigint {
    if (position === 0) return 0n
    let left = Math.floor(position / half)
    let right = position % half
    for (let round = 0; round < rounds; round++) [left, right] = [right, left ^ this.#mixed(right, round)]
    const check = this.#mixed(left, rounds) ^ this.#mixed(right, rounds)
    // Odd, so that rounding is never harmless; far enough from both ends that it does not reach the bits of the position.
    const low = 4096 + ((check & 0x3fff) | 1)
    const top = check >>> 23
    return (((BigInt(top) << 48n) | BigInt(left * half + right)) << lowBits) | BigInt(low)
  }

  #positionIn(cursor: bigint): number {
    const bits = Number(BigInt.asUintN(48, cursor >> lowBits))
    let left = Math.floor(bits / half)
    let right = bits % half
    for (let round = rounds - 1; round >= 0; round--) [left, right] = [right ^ this.#mixed(left, round), left]
    return left * half + right
  }

  /** 24 bits of a half and a key. */
  #mixed(bits: number, key: number): number {
    let mixed = Math.imul(bits ^ this.#keys[key]!, 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return (mixed ^ (mixed >>> 16)) >>> 8
  }
}
