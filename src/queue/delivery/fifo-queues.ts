import type { ResolvedPolicy, ResolvedQueueLimits } from '../../policy/policy.js'
import { FifoQueue } from '../message/fifo-queue.js'
import type { Message } from '../message/message.js'
import { refusals } from '../settings/queue-rejections.js'
import { checkName } from '../settings/url.js'

export class FifoQueues {
  readonly #lanes = new Map<string, FifoQueue<Message>>()
  readonly #now: () => number
  readonly #policy: ResolvedPolicy
  readonly #limits: ResolvedQueueLimits

  constructor(now: () => number, policy: ResolvedPolicy, limits: ResolvedQueueLimits) {
    this.#now = now
    this.#policy = policy
    this.#limits = limits
  }

  get(name: string): FifoQueue<Message> | undefined {
    return this.#lanes.get(name)
  }

  list(): readonly FifoQueue<Message>[] {
    return [...this.#lanes.values()]
  }

  /** Returns the FIFO queue of this name; creates it with parallelism 1 if it does not exist. */
  open(name: string): FifoQueue<Message> {
    const known = this.#lanes.get(name)
    if (known !== undefined) return known
    this.check(name, undefined)
    const lane = new FifoQueue<Message>(name, this.#now())
    this.#lanes.set(name, lane)
    return lane
  }

  upsert(name: string, parallelism: number, paused: boolean | undefined): FifoQueue<Message> {
    this.check(name, parallelism)
    const lane = this.open(name)
    lane.parallelism = parallelism
    if (paused !== undefined) lane.paused = paused
    lane.updatedAt = this.#now()
    return lane
  }

  /**
   * Rejects invalid names and values above the quota. If the maximum number of queues is reached, existing queues can
   * still be changed.
   */
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

  delete(name: string): FifoQueue<Message> | undefined {
    const lane = this.#lanes.get(name)
    this.#lanes.delete(name)
    return lane
  }
}
