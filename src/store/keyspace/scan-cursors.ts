import type { Random } from '../../kernel/random.js'

/** A cursor consists of a checksum bit, 48 bits for the position, and 15 further checksum bits. */
const lowBits = 15n
/**
 * A position consists of 16 bits for the number of loads and 32 bits for the sequence number of a key in the keyspace.
 */
const lives = 0x1_0000
const places = 0x1_0000_0000
const half = 0x1_00_0000
const rounds = 4

/** Sequence number after the end of every scan. */
const beyondAll = Number.POSITIVE_INFINITY

/**
 * Cursors of SCAN: opaque 64-bit numbers, mostly beyond 2^53, as in the service. [store.md 7.2: opaque] A keyed
 * permutation converts a position to a cursor and back, so cursors need not be stored.
 *
 * Loading a dump renumbers the keys of a keyspace. A cursor from before the load is still recognized, because the
 * secret of the permutation is the same, but such a cursor restarts the scan. Such a scan may return a key twice, but
 * misses none.
 */
export class ScanCursors {
  readonly #keys: readonly number[]
  readonly #life: number

  /**
   * @param random the random source, which must have the same seed after every load
   * @param loads the number of dumps that were loaded before
   */
  constructor(random: Random, loads = 0) {
    this.#life = loads % lives
    this.#keys = Array.from({ length: rounds + 1 }, () => random.int(0x1_0000_0000))
  }

  of(place: number): string {
    return place === 0 ? '0' : String(this.#cursorOf(this.#life * places + place))
  }

  /**
   * Returns the sequence number from which the scan continues. A number that no scan returned ends the scan. A cursor
   * that was rounded, or returned before a load, restarts the scan.
   */
  place(cursor: bigint): number {
    if (cursor === 0n) return 0
    const position = this.#positionIn(cursor)
    const whole = this.#cursorOf(position)
    if (cursor === whole) return Math.floor(position / places) === this.#life ? position % places : 0
    // If a client converts cursors to floating-point numbers, its scan never advances, as in production.
    const rounded = Number(whole)
    return cursor === BigInt(rounded) || cursor === BigInt(String(rounded)) ? 0 : beyondAll
  }

  #cursorOf(position: number): bigint {
    let left = Math.floor(position / half)
    let right = position % half
    for (let round = 0; round < rounds; round++) [left, right] = [right, left ^ this.#mixed(right, round)]
    const check = this.#mixed(left, rounds) ^ this.#mixed(right, rounds)
    // The number in the low bits is odd, so rounding always changes the cursor. The number is far from both ends of its
    // range, so rounding does not change the position.
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

  /** Returns 24 bits mixed from one half and a key. */
  #mixed(bits: number, key: number): number {
    let mixed = Math.imul(bits ^ this.#keys[key]!, 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return (mixed ^ (mixed >>> 16)) >>> 8
  }
}
