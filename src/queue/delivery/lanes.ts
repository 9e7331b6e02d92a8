import type { Policy, QueueLimits } from '../../policy/policy.js'
import { Line } from '../message/line.js'
import type { Message } from '../message/message.js'
import { refusals } from '../settings/errors.js'
import { checkName } from '../settings/url.js'

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
    if (message.meanwhile) this.hasUnawaited = true
    this.#line.push(message)
  }

  /** The next message that may take a slot, which it then holds. Cancelled ones are passed over. */
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

/** All queues by name. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  readonly #now: () => number
  readonly #policy: Policy
  readonly #limits: QueueLimits

  constructor(now: () => number, policy: Policy, limits: QueueLimits) {
    this.#now = now
    this.#policy = policy
    this.#limits = limits
  }

  get(name: string): Lane | undefined {
    return this.#lanes.get(name)
  }

  list(): readonly Lane[] {
    return [...this.#lanes.values()]
  }

  /** The queue of this name, made with parallelism 1 when there is none. */
  open(name: string): Lane {
    const known = this.#lanes.get(name)
    if (known !== undefined) return known
    this.check(name, undefined)
    const lane = new Lane(name, this.#now())
    this.#lanes.set(name, lane)
    return lane
  }

  upsert(name: string, parallelism: number, paused: boolean | undefined): Lane {
    this.check(name, parallelism)
    const lane = this.open(name)
    lane.parallelism = parallelism
    if (paused !== undefined) lane.paused = paused
    lane.updatedAt = this.#now()
    return lane
  }

  /** Refuses a bad name and what the plan does not allow. An existing queue may be changed when the plan is full. */
  check(name: string, parallelism: number | undefined): void {
    checkName(name, 'queue name')
    const { enforceQuotas, quotaStatus } = this.#policy
    if (!enforceQuotas) return
    const { queues, queueParallelism } = this.#limits
    if (!this.#lanes.has(name) && this.#lanes.size >= queues) throw refusals.quota('maxQueues', queues, quotaStatus)
    if (parallelism !== undefined && parallelism > queueParallelism) {
      throw refusals.quota('maxParallelism', queueParallelism, quotaStatus)
    }
  }

  delete(name: string): Lane | undefined {
    const lane = this.#lanes.get(name)
    this.#lanes.delete(name)
    return lane
  }
}
