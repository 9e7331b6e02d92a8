import type { Bytes } from '../kernel/bytes.js'
import { GrowingHash } from '../kernel/digest.js'
import type { Message } from '../queue/message/message.js'
import type { RunEntry } from './run.js'
import { rawStep } from './step.js'

/** The list of a run as its deliveries carry it: put together once, while the run goes from step to step. [workflow.md 3.1] */
export class RunList {
  #open = '['
  #count = 0
  readonly #hash = new GrowingHash()
  #hashed = 0

  constructor(private readonly first: Message) {}

  /** Whether it has more than the list up to this entry. */
  isBeyond(entries: readonly RunEntry[], index: number): boolean {
    // The SDK may begin an announced run with another payload.
    return this.#count > index + 1 || this.first !== entries[0]?.message
  }

  growTo(entries: readonly RunEntry[], index: number): void {
    for (; this.#count <= index; this.#count++) {
      const { message, callType } = entries[this.#count]!
      this.#open += (this.#count === 0 ? '' : ',') + rawStep(message.id, message.body, callType)
    }
  }

  get text(): Bytes {
    return `${this.#open}]` as Bytes
  }

  /** SHA-256 of the text. */
  get hash(): Bytes {
    this.#hash.add(this.#open.slice(this.#hashed) as Bytes)
    this.#hashed = this.#open.length
    return this.#hash.endingIn(']' as Bytes)
  }
}
