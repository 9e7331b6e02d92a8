import type { Random } from '../../kernel/random.js'

/** A cursor is one bit, 48 bits of the position and 15 that tell whether the rest is whole. */
const lowBits = 15n
/** A position is 16 bits of the life of the keyspace and 32 of the place in it. */
const lives = 0x1_0000
const places = 0x1_0000_0000
const half = 0x1_00_0000
const rounds = 4

/** No scan has so far to go. */
const beyondAll = Number.POSITIVE_INFINITY

/**
 * What SCAN shows of its position: a number of 64 bits that says nothing, mostly beyond 2^53, as the service has it. The
 * numbers are a keyed permutation of the positions, so none has to be remembered. [store.md 7.2: opaque]
 *
 * A keyspace that is filled from a dump numbers its places anew. The cursors of its life before stay known, for the key
 * is the same, but they begin the scan anew: a key may come twice, and none is missed.
 */
export class ScanCursors {
  readonly #keys: readonly number[]
  readonly #life: number

  /** @param random of the same seed throughout all loads @param loads how many loads came before */
  constructor(random: Random, loads = 0) {
    this.#life = loads % lives
    this.#keys = Array.from({ length: rounds + 1 }, () => random.int(0x1_0000_0000))
  }

  of(place: number): string {
    return place === 0 ? '0' : String(this.#cursorOf(this.#life * places + place))
  }

  /**
   * The place to go on from: the end for a number that no scan has shown, and the beginning for one that was rounded or
   * shown before a load.
   */
  place(cursor: bigint): number {
    if (cursor === 0n) return 0
    const position = this.#positionIn(cursor)
    const whole = this.#cursorOf(position)
    if (cursor === whole) return Math.floor(position / places) === this.#life ? position % places : 0
    // A client that takes cursors for floating-point numbers gets no further, as in production.
    const rounded = Number(whole)
    return cursor === BigInt(rounded) || cursor === BigInt(String(rounded)) ? 0 : beyondAll
  }

  #cursorOf(position: number): bigint {
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
