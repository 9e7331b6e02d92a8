import { FifoList } from './fifo-list.js'

/** Message as a FIFO queue sees it. */
interface Member {
  /** Whether the message has neither ended nor been canceled. */
  readonly visible: boolean
  /** Whether a drain waits for the message. */
  readonly awaited: boolean
}

/**
 * FIFO queue, in which a message holds its slot until it and its callbacks have ended. [queue.md 6.1] It is a plain
 * value: it reads no clock, writes no log and calls nothing back.
 */
export class FifoQueue<M extends Member> {
  parallelism = 1
  paused = false
  updatedAt: number
  /** Messages that hold a slot. */
  readonly holding: Set<M> = new Set()
  /** Messages that hold a slot and became due while the queue was paused. */
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

  /** Gives a slot to the next message and returns it. Canceled messages are skipped. */
  admit(): M | undefined {
    if (this.paused || this.holding.size >= this.parallelism) return undefined
    let message = this.#line.shift()
    while (message?.visible === false) message = this.#line.shift()
    if (message !== undefined) this.holding.add(message)
    return message
  }

  /**
   * Removes a message that holds a slot.
   * @returns whether a slot became free
   */
  release(message: M): boolean {
    return this.holding.delete(message)
  }

  /** Removes and returns the messages that became due during a pause; empty while the queue is paused. */
  unpark(): readonly M[] {
    return this.paused ? [] : this.parked.splice(0).filter((message) => message.visible)
  }

  /** Returns the messages that wait for a slot, in order. */
  waiting(): readonly M[] {
    return this.#line.all().filter((message) => message.visible)
  }

  /** Returns all messages, first those that hold a slot. */
  all(): readonly M[] {
    return [...this.holding, ...this.waiting()]
  }

  /**
   * Returns a copy in which each message is replaced, for forecasts.
   * @param of returns the replacement of a message; `undefined` omits the message
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
