import type { ResolvedPolicy } from '../../policy/policy.js'
import { refusals } from '../settings/queue-rejections.js'

const day = 86_400_000

/** Counts API requests, and rejects them above the limits per second and per day. [queue.md 10] */
export class CallLimits {
  readonly #perDay: number | undefined
  readonly #perSecond: number | undefined
  #second = -1
  #inSecond = 0
  #day = -1
  #inDay = 0

  constructor(policy: ResolvedPolicy, plannedPerDay: number | undefined) {
    this.#perDay = policy.queueDailyLimit ?? (policy.enforceQuotas ? plannedPerDay : undefined)
    this.#perSecond = policy.queueBurstLimit
  }

  get isAny(): boolean {
    return this.#perDay !== undefined || this.#perSecond !== undefined
  }

  /**
   * Counts a request.
   * @throws QueueRejection 429 when the limit is exceeded; its headers name the limit
   */
  count(limit: 'daily' | 'burst', now: number): void {
    if (limit === 'daily') this.#countDay(now)
    else this.#countSecond(now)
  }

  #countDay(now: number): void {
    const limit = this.#perDay
    if (limit === undefined) return
    const today = Math.floor(now / day)
    if (today !== this.#day) {
      this.#day = today
      this.#inDay = 0
    }
    if (this.#inDay >= limit)
      throw refusals.dailyLimit(rateLimitHeaders('daily', { limit, reset: ((today + 1) * day) / 1000 }))
    this.#inDay++
  }

  #countSecond(now: number): void {
    const limit = this.#perSecond
    if (limit === undefined) return
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#inSecond = 0
    }
    if (this.#inSecond >= limit) throw refusals.burstLimit(rateLimitHeaders('burst', { limit, reset: second + 1 }))
    this.#inSecond++
  }
}

/**
 * Returns the headers of a 429 response, which name the exceeded limit. Faults that simulate a rate limit have them,
 * too. [queue.md 10]
 */
export function rateLimitHeaders(
  kind: 'chat' | 'daily' | 'burst',
  { limit = 1, remaining = 0, reset = 0 }: { limit?: number; remaining?: number; reset?: number | string } = {},
): Record<string, string> {
  const values = { limit: String(limit), remaining: String(remaining), reset: String(reset) }
  if (kind === 'chat') {
    return Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) =>
        ['requests', 'tokens'].map((unit) => [`x-ratelimit-${name}-${unit}`, value]),
      ),
    )
  }
  const prefix = kind === 'burst' ? 'Burst-RateLimit' : 'RateLimit'
  return {
    [`${prefix}-Limit`]: values.limit,
    [`${prefix}-Remaining`]: values.remaining,
    [`${prefix}-Reset`]: values.reset,
  }
}
