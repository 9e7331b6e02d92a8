import { FifoList } from './fifo-list.js'

/** Part of a message that a FIFO queue needs. Forecasts use other objects with the same fields. */
interface Member {
  /** Whether the message has neither ended nor been canceled. */
  readonly visible: boolean
  /** Whether a drain waits for the message. */
  readonly awaited: boolean
}

/**
 * FIFO queue. A message holds its slot until the message and its callbacks have ended. [queue.md 6.1] The class has no
 * side effects: it reads no clock, writes no log and calls no callbacks.
 */
export class FifoQueue<M extends Member> {
  parallelism = 1
  paused = false
  updatedAt: number
  readonly holding: Set<M> = new Set()
  /** Messages that hold a slot but did not start, because they became due while the queue was paused. */
  readonly parked: M[] = []
  readonly #line = new FifoList<M>()

  constructor(
    readonly name: string,
    public createdAt: number,
  ) {
    this.updatedAt = createdAt
  }

  /** Number of messages that have not ended. */
  get lag(): number {
    let pending = 0
    for (const messages of [this.holding, this.#line.all()])
      for (const message of messages) if (message.visible) pending++
    return pending
  }

  /** Whether the queue contains a message for which no drain waits. */
  hasUnawaited = false

  enter(message: M): void {
    if (!message.awaited) this.hasUnawaited = true
    this.#line.push(message)
  }

  /** Gives a free slot to the next message and returns the message. Skips canceled messages. */
  admit(): M | undefined {
    if (this.paused || this.holding.size >= this.parallelism) return undefined
    let message = this.#line.shift()
    while (message?.visible === false) message = this.#line.shift()
    if (message !== undefined) this.holding.add(message)
    return message
  }

  /**
   * Removes a message from the queue.
   * @returns whether the message held a slot, which is now free
   */
  release(message: M): boolean {
    return this.holding.delete(message)
  }

  /** Removes the messages that became due during a pause and returns them. Does nothing while the queue is paused. */
  unpark(): readonly M[] {
    return this.paused ? [] : this.parked.splice(0).filter((message) => message.visible)
  }

  waiting(): readonly M[] {
    return this.#line.all().filter((message) => message.visible)
  }

  /** Returns all messages, first those that hold a slot. */
  all(): readonly M[] {
    return [...this.holding, ...this.waiting()]
  }

  /**
   * Returns a copy for a forecast, with other objects in place of the messages.
   * @param of returns the object that replaces a message; `undefined` omits the message
   */
  copy<N extends Member>(
    of: (message: M) => N | undefined,
    copy: FifoQueue<N> = new FifoQueue(this.name, this.createdAt),
  ): FifoQueue<N> {
    const others = (messages: Iterable<M>): N[] => [...messages].flatMap((message) => of(message) ?? [])
    copy.parallelism = this.parallelism
    copy.paused = this.paused
    copy.updatedAt = this.updatedAt
    for (const other of others(this.holding)) copy.holding.add(other)
    copy.parked.push(...others(this.parked.filter(({ visible }) => visible)))
    for (const other of others(this.waiting())) copy.enter(other)
    return copy
  }
}
