import { type Bytes, toArray, utf8 } from './bytes.js'
import { hmacSha256 } from './digest.js'
import { DrawnRandom, type Random } from './random.js'

/**
 * Creates a random source whose draws are unpredictable without the key: HMAC-SHA256 over a counter.
 * A seeded source is not secret, because a seed has only 32 bits. The same key gives the same draws.
 */
export function secretRandom(key: Bytes): Random {
  return new KeyedRandom(key)
}

class KeyedRandom extends DrawnRandom {
  readonly #key: Bytes
  #blocks = 0
  readonly #left: number[] = []

  constructor(key: Bytes) {
    super()
    this.#key = key
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

  protected next(): number {
    if (this.#left.length === 0) {
      const block = new DataView(toArray(hmacSha256(this.#key, utf8(`block ${this.#blocks++}`))).buffer)
      for (let at = 0; at < block.byteLength; at += 4) this.#left.push(block.getUint32(at))
    }
    return this.#left.pop()!
  }
}
