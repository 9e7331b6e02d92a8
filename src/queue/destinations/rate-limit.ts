import type { FaultOf } from '../../faults/fault.js'
import { utf8 } from '../../kernel/bytes.js'
import { dateOf } from '../../kernel/instant.js'
import type { RawOutcome } from '../message/message.js'
import { rateLimitHeaders } from '../publish/call-limits.js'

const day = 86_400_000

/**
 * Returns the 429 response of a `rate-limited` fault. The service and destinations with a rate limit send it in this
 * form. [queue.md 5.2, 10]
 */
export function rateLimitResponse({ limit: kind, retryAfter }: FaultOf<'rate-limited'>, now: number): RawOutcome {
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

/**
 * Returns the time at which the limit is reset, in Unix seconds. For the limit `chat`, which is that of a chat model,
 * returns a duration such as `2s`.
 */
function resetOf(
  kind: FaultOf<'rate-limited'>['limit'],
  retryAfter: FaultOf<'rate-limited'>['retryAfter'],
  now: number,
): number | string {
  const usual = { chat: 60_000, daily: day - (now % day), burst: 1000 - (now % 1000) }
  const waitMs = retryAfter?.waitMs ?? usual[kind]
  return kind === 'chat' ? `${waitMs / 1000}s` : Math.ceil((now + waitMs) / 1000)
}
