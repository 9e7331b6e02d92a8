import type { Bytes } from '../kernel/bytes.js'
import { GrowingHash } from '../kernel/digest.js'
import type { Message } from '../queue/message/message.js'
import { type CallType, rawStep } from './step.js'

/** One entry in the list of a run: a submission, and the message that delivers it. */
export interface RunEntry {
  readonly message: Message
  readonly callType: CallType
}

/** The list of a run up to and including one entry. */
export interface ListUpTo {
  readonly size: number
  readonly text: Bytes
  /** SHA-256 of the text. */
  readonly hash: Bytes
}

/**
 * The list of a run as text, of which each delivery contains the beginning. The text is built once and extended while
 * the run continues.
 * Later deliveries of parallel branches may contain fewer entries than earlier deliveries. [workflow.md 3.1]
 */
export class RunList {
  #open = '['
  /** Lengths of the text after each entry. */
  readonly #ends: number[] = []
  readonly #hash = new GrowingHash()

  constructor(private readonly first: Message) {}

  /**
   * Returns whether the text still belongs to these entries. The SDK may begin an announced run with another payload.
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
    const open = this.#open as Bytes
    const length = ends[index]!
    const hash = this.#hash
    return {
      size: length + 1,
      get text() {
        return `${length === open.length ? open : open.slice(0, length)}]` as Bytes
      },
      get hash() {
        return hash.of(open, length, ']' as Bytes)
      },
    }
  }
}
