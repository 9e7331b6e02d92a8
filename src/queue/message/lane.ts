import { Line } from './line.js'
import type { Message } from './message.js'

/** A FIFO queue: a message holds its slot until it and its callbacks have ended. [queue.md 6.1] */
export class Lane {
  parallelism = 1
  paused = false
  updatedAt: number
  /** Messages that hold a slot. */
  readonly holding: Set<Message> = new Set()
  /** Messages with a slot that came due while it was paused. */
  readonly parked: Message[] = []
  readonly #line = new Line<Message>()

  constructor(
    readonly name: string,
    public createdAt: number,
  ) {
    this.updatedAt = createdAt
  }

  /** Messages that have not ended. */
  get lag(): number {
    let pending = 0
    for (const messages of [this.holding, this.#line.all()])
      for (const message of messages) if (message.visible) pending++
    return pending
  }

  /** Whether anybody stands in it whom no drain waits for. */
  hasUnawaited = false

  enter(message: Message): void {
    message.lane = this
    if (!message.awaited) this.hasUnawaited = true
    this.#line.push(message)
  }

  /** The next message that may take a slot, which it then holds. Cancelled ones are skipped. */
  admit(): Message | undefined {
    if (this.paused || this.holding.size >= this.parallelism) return undefined
    let message = this.#line.shift()
    while (message?.visible === false) message = this.#line.shift()
    if (message !== undefined) this.holding.add(message)
    return message
  }

  /** Those that came due during a pause that is over. */
  unpark(): readonly Message[] {
    return this.paused ? [] : this.parked.splice(0).filter((message) => message.visible)
  }

  /** Messages that wait for a slot, first in line first. */
  waiting(): readonly Message[] {
    return this.#line.all().filter((message) => message.visible)
  }

  /** Everybody in it, holders first. */
  all(): readonly Message[] {
    return [...this.holding, ...this.waiting()]
  }
}
