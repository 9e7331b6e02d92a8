import type { Random } from '../../kernel/random.js'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const codes = Array.from(alphabet, (char) => char.charCodeAt(0))
/** 58^5, the largest power below 2^32: five characters from one draw. */
const fiveCharacters = 656_356_768

/** One id whose draws come from a source of its own. */
export function singleId(random: Random, prefix: string, length: number): string {
  return new IdSource(random, prefix, length).next()
}

/** Ids by the dozen: one flat string, five characters a draw. */
export class IdSource {
  readonly #random: Random
  readonly #prefix: string
  readonly #draws: number
  readonly #buffer: number[]

  /** @param length of the random part, a multiple of five or rounded up to one and cut */
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
        buffer[at++] = codes[rest % 58]!
        rest = (rest / 58) | 0
      }
    }
    return String.fromCharCode.apply(null, buffer)
  }
}
