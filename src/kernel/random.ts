/** A seeded random source. Every random decision of this package uses one, so that the same seed repeats a run. */
export interface Random {
  /** Returns a whole number from 0 to `below` - 1; `below` is at most 2^32. */
  int(below: number): number
  /** Returns true in `times` of `outOf` draws on average. */
  chance(times: number, outOf: number): boolean
  /** Returns a float in [0, 1) with 32 random bits. */
  float(): number
  /**
   * Returns an independent random source with a name. Its draws depend only on the seed and the name, and not on draws
   * from other sources. If a new feature draws from its own source, the draws of all other features stay the same.
   */
  fork(stream: string): Random
  /** Returns a copy that will give the same draws as this source. Draws from the copy do not change this source. */
  copy(): Random
}

/** Implements all methods of a random source. A subclass supplies draws of 32 random bits. */
export abstract class DrawnRandom implements Random {
  protected abstract next(): number
  abstract fork(stream: string): Random
  abstract copy(): Random

  int(below: number): number {
    if (!(below >= 1 && below <= 0x1_0000_0000))
      throw new RangeError(`random.int(): below must be from 1 to 2^32 (got ${below})`)
    // If 2^32 is not a multiple of `below`, some results would be drawn more often than others. Draws above the largest
    // multiple are therefore repeated.
    const limit = 0x1_0000_0000 - (0x1_0000_0000 % below)
    for (;;) {
      const draw = this.next()
      if (draw < limit) return draw % below
    }
  }

  chance(times: number, outOf: number): boolean {
    return this.int(outOf) < times
  }

  float(): number {
    return this.next() / 0x1_0000_0000
  }
}

/**
 * Creates a source with the algorithm xoshiro128**, which is small, fast and well tested. It is part of this package,
 * so that an update of a library cannot change a replay.
 */
export function createRandom(seed: number | string): Random {
  return new Xoshiro(String(seed))
}

class Xoshiro extends DrawnRandom {
  readonly #path: string
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(path: string) {
    super()
    this.#path = path
    const mix = splitMix(hash32(path))
    this.#a = mix()
    this.#b = mix()
    this.#c = mix()
    this.#d = mix() | 1
  }

  fork(stream: string): Random {
    return new Xoshiro(`${this.#path}/${stream}`)
  }

  copy(): Random {
    const copy = new Xoshiro(this.#path)
    copy.#a = this.#a
    copy.#b = this.#b
    copy.#c = this.#c
    copy.#d = this.#d
    return copy
  }

  protected next(): number {
    const result = Math.imul(rotateLeft(Math.imul(this.#b, 5), 7), 9) >>> 0
    const shifted = this.#b << 9
    this.#c ^= this.#a
    this.#d ^= this.#b
    this.#b ^= this.#c
    this.#a ^= this.#d
    this.#c ^= shifted
    this.#d = rotateLeft(this.#d, 11)
    return result
  }
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

/** FNV-1a with a final avalanche, which spreads neighboring seeds and names over the whole range. */
function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function splitMix(state: number): () => number {
  let sum = state
  return () => {
    sum = (sum + 0x9e3779b9) | 0
    let z = Math.imul(sum ^ (sum >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return z ^ (z >>> 15)
  }
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Returns base58 text of the given length, in the alphabet of the service's IDs. */
export function base58Id(random: Random, length: number): string {
  let id = ''
  for (let count = 0; count < length; count++) id += base58[random.int(58)]
  return id
}

const base58Codes = Array.from(base58, (char) => char.charCodeAt(0))
/** 58^5, the largest power below 2^32, so that one draw gives five characters. */
const fiveCharacters = 656_356_768

/**
 * Returns one ID, for code that needs no `IdSource`.
 * @param length number of random characters
 */
export function singleId(random: Random, prefix: string, length: number): string {
  return new IdSource(random, prefix, length).next()
}

/**
 * Creates IDs with a common prefix. It is fast, because each draw gives five characters and each ID is one flat string.
 */
export class IdSource {
  readonly #random: Random
  readonly #prefix: string
  readonly #draws: number
  readonly #buffer: number[]

  /** @param prefix text before the random characters @param length number of random characters */
  constructor(random: Random, prefix: string, length: number) {
    this.#random = random
    this.#prefix = prefix
    this.#draws = Math.ceil(length / 5)
    this.#buffer = new Array<number>(prefix.length + length).fill(0)
    for (let index = 0; index < prefix.length; index++) this.#buffer[index] = prefix.charCodeAt(index)
  }

  next(): string {
    const buffer = this.#buffer
    let at = this.#prefix.length
    for (let draw = 0; draw < this.#draws; draw++) {
      let rest = this.#random.int(fiveCharacters)
      for (let digit = 0; digit < 5 && at < buffer.length; digit++) {
        buffer[at++] = base58Codes[rest % 58]!
        rest = (rest / 58) | 0
      }
    }
    return String.fromCharCode.apply(null, buffer)
  }
}

const hexDigits = '0123456789abcdef'

export function hexId(random: Random, length: number): string {
  let id = ''
  for (let count = 0; count < length; count++) id += hexDigits[random.int(16)]
  return id
}
