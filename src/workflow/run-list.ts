import type { Bytes } from '../kernel/bytes.js'
import { GrowingHash } from '../kernel/digest.js'
import type { Message } from '../queue/message/message.js'
import { type CallType, rawStep } from './step.js'

/** One entry in the list of a run: what was submitted, and the message that delivers it. */
export interface RunEntry {
  readonly message: Message
  readonly callType: CallType
}

/** The beginning of a run's list, up to one entry and including it. */
export interface ListUpTo {
  readonly size: number
  readonly text: Bytes
  /** SHA-256 of the text. */
  readonly hash: Bytes
}

/**
 * The list of a run as text. The text is built once, and extended while the run continues. Each delivery contains its
 * beginning. With parallel branches, a later delivery may contain fewer entries than an earlier one. [workflow.md 3.1]
 */
export class RunList {
  #open = '['
  /** Length of the text after each entry. */
  readonly #ends: number[] = []
  readonly #hash = new GrowingHash()

  constructor(private readonly first: Message) {}

  /**
   * Returns whether the text was built from these entries. If the run was announced, the SDK may begin it with another
   * payload, and the text is then outdated.
   */
  isOf(entries: readonly RunEntry[]): boolean {
    return this.first === entries[0]?.message
  }

  upTo(entries: readonly RunEntry[], index: number): ListUpTo {
    const ends = this.#ends
    while (ends.length <= index) {
      const { message, callType } = entries[ends.length]!
      this.#open += (ends.length === 0 ? '' : ',') + rawStep(message.id, message.body, callType)
      ends.push(this.#open.length)
    }
    return new Beginning(this.#open as Bytes, ends[index]!, this.#hash)
  }
}

/** A class, because V8 makes a new hidden class for each object literal with a getter, and frees it late. */
class Beginning implements ListUpTo {
  readonly #open: Bytes
  readonly #length: number
  readonly #hash: GrowingHash

  constructor(open: Bytes, length: number, hash: GrowingHash) {
    this.#open = open
    this.#length = length
    this.#hash = hash
  }

  get size(): number {
    return this.#length + 1
  }

  get text(): Bytes {
    const open = this.#open
    return `${this.#length === open.length ? open : open.slice(0, this.#length)}]` as Bytes
  }

  get hash(): Bytes {
    return this.#hash.of(this.#open, this.#length, ']' as Bytes)
  }
}
