import { type Bytes, toArray, utf8 } from './bytes.js'
import { hmacSha256 } from './digest.js'
import type { Random } from './random.js'

/**
 * Chance that nobody can predict without the key: HMAC-SHA256 over a counter. A seeded source is not secret,
 * because its seed has 32 bits. The same key gives the same draws.
 */
export function secretRandom(key: Bytes): Random {
  return new KeyedRandom(key)
}

class KeyedRandom implements Random {
  readonly #key: Bytes
  #blocks = 0
  readonly #left: number[] = []

  constructor(key: Bytes) {
    this.#key = key
  }

  int(below: number): number {
    if (!(below >= 1 && below <= 0x1_0000_0000)) throw new RangeError(`random.int() takes 1 to 2^32, got ${below}`)
    // Draws from the incomplete last round would favour small numbers.
    const limit = 0x1_0000_0000 - (0x1_0000_0000 % below)
    for (;;) {
      const draw = this.#next()
      if (draw < limit) return draw % below
    }
  }

  chance(times: number, outOf: number): boolean {
    return this.int(outOf) < times
  }

  float(): number {
    return this.#next() / 0x1_0000_0000
  }

  fork(stream: string): Random {
    return new KeyedRandom(hmacSha256(this.#key, utf8(`fork ${stream}`)))
  }

  copy(): Random {
    const copy = new KeyedRandom(this.#key)
    copy.#blocks = this.#blocks
    copy.#left.push(...this.#left)
    return copy
  }

  #next(): number {
    if (this.#left.length === 0) {
      const block = new DataView(toArray(hmacSha256(this.#key, utf8(`block ${this.#blocks++}`))).buffer)
      for (let at = 0; at < block.byteLength; at += 4) this.#left.push(block.getUint32(at))
    }
    return this.#left.pop()!
  }
}
