import type { RateLimitedFault } from '../../faults/fault.js'
import { utf8 } from '../../kernel/bytes.js'
import { dateOf } from '../../kernel/instant.js'
import type { Policy } from '../../policy/policy.js'
import { refusals } from '../settings/errors.js'
import type { WireReply } from '../settings/headers.js'

const day = 86_400_000

/** How many calls of the API are allowed a second and a day. [queue.md 10] */
export class CallLimits {
  readonly #perDay: number | undefined
  readonly #perSecond: number | undefined
  #second = -1
  #inSecond = 0
  #day = -1
  #inDay = 0

  constructor(policy: Policy, plannedPerDay: number | undefined) {
    this.#perDay = policy.queueDailyLimit ?? (policy.enforceQuotas ? plannedPerDay : undefined)
    this.#perSecond = policy.queueBurstLimit
  }

  /** Whether there is anything to count. */
  get isAny(): boolean {
    return this.#perDay !== undefined || this.#perSecond !== undefined
  }

  /** Counts a call. @throws Refusal 429 with the headers by which clients tell the two limits apart */
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
 * The headers by which clients tell the three kinds of 429 apart, first match wins: for faults that act out a limit.
 * [queue.md 10]
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

/** A 429 as the service, or a destination that limits its callers, gives it. [queue.md 5.2, 10] */
export function rateLimitAnswer({ limit: kind, retryAfter }: RateLimitedFault, now: number): WireReply {
  const headers: [string, string][] = Object.entries(rateLimitHeaders(kind, { reset: resetOf(kind, retryAfter, now) }))
  headers.push(['content-type', 'application/json'])
  if (retryAfter !== undefined && retryAfter.form !== 'none') {
    const { form, waitMs } = retryAfter
    const value = form === 'seconds' ? String(Math.ceil(waitMs / 1000)) : dateOf(now + waitMs).toUTCString()
    headers.push(['Retry-After', value])
  }
  const error = kind === 'daily' ? 'exceeded daily rate limit' : `exceeded ${kind} rate limit`
  return { status: 429, headers, body: utf8(JSON.stringify({ error })) }
}

/** Unix seconds, where the limit of a chat model tells a span such as `2s`. */
function resetOf(
  kind: RateLimitedFault['limit'],
  retryAfter: RateLimitedFault['retryAfter'],
  now: number,
): number | string {
  const usual = { chat: 60_000, daily: day - (now % day), burst: 1000 - (now % 1000) }
  const waitMs = retryAfter?.waitMs ?? usual[kind]
  return kind === 'chat' ? `${waitMs / 1000}s` : Math.ceil((now + waitMs) / 1000)
}
