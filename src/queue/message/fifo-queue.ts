import { FifoList } from './fifo-list.js'

/** What a FIFO queue knows of its messages. */
interface Member {
  /** It has neither ended nor been cancelled. */
  readonly visible: boolean
  /** A drain waits for it. */
  readonly awaited: boolean
}

/**
 * A FIFO queue: a message holds its slot until it and its callbacks have ended. [queue.md 6.1] A value: nothing here
 * reads a clock, writes a log or calls back.
 */
export class FifoQueue<M extends Member> {
  parallelism = 1
  paused = false
  updatedAt: number
  /** Messages that hold a slot. */
  readonly holding: Set<M> = new Set()
  /** Messages with a slot that came due while it was paused. */
  readonly parked: M[] = []
  readonly #line = new FifoList<M>()

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

  enter(message: M): void {
    if (!message.awaited) this.hasUnawaited = true
    this.#line.push(message)
  }

  /** The next message that may take a slot, which it then holds. Cancelled ones are skipped. */
  admit(): M | undefined {
    if (this.paused || this.holding.size >= this.parallelism) return undefined
    let message = this.#line.shift()
    while (message?.visible === false) message = this.#line.shift()
    if (message !== undefined) this.holding.add(message)
    return message
  }

  /** @returns whether a slot is free that was not */
  release(message: M): boolean {
    return this.holding.delete(message)
  }

  /** Those that came due during a pause that is over. */
  unpark(): readonly M[] {
    return this.paused ? [] : this.parked.splice(0).filter((message) => message.visible)
  }

  /** Messages that wait for a slot, first in line first. */
  waiting(): readonly M[] {
    return this.#line.all().filter((message) => message.visible)
  }

  /** Everybody in it, holders first. */
  all(): readonly M[] {
    return [...this.holding, ...this.waiting()]
  }

  /** The same with other messages, for forecasts. @param of `undefined` leaves a message out */
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

/** A message as far as the end of others depends on its own. */
interface Concluding<M> {
  readonly isEnded: boolean
  /** Callbacks that have not ended. */
  openCallbacks: number
  /** What it reports on. */
  readonly source: M | undefined
}

/** Whether a message gives its slot back: its callbacks have to end, too. [queue.md 6.1] */
export function isConcluded<M extends Concluding<M>>({ isEnded: ended, openCallbacks }: M): boolean {
  return ended && openCallbacks === 0
}

/** A message has been concluded. @returns what it reports on, if that is concluded with it */
export function concludedWith<M extends Concluding<M>>({ source }: M): M | undefined {
  if (source === undefined) return undefined
  source.openCallbacks--
  return isConcluded(source) ? source : undefined
}
