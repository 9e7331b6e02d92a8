import { type HeaderList, headerOf } from '../../kernel/http.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import type { AttemptVerdict } from '../message/state.js'
import type { PublishSettings } from '../settings/message-settings.js'
import type { QueueDialect } from '../settings/queue-dialect.js'
import { retryWait } from './retry.js'

/** When a message that is accepted now may be delivered first. */
export function firstDue({ notBefore, delay }: Pick<PublishSettings, 'notBefore' | 'delay'>, now: number): number {
  return Math.max(now, notBefore ?? now + delay)
}

/** What an attempt came to, as far as its message depends on it. */
export interface AttemptResult {
  readonly status: number
  readonly headers: HeaderList
  /** Why it failed; `undefined` for a success. */
  readonly error: string | undefined
  /** It fails the message whatever retries there are. */
  readonly isFinal: boolean
  /** The run of the message is over. */
  readonly isOver: boolean
}

const delivered: AttemptVerdict = { is: 'delivered' }

/** What follows an attempt that ended now. [queue.md 5.2, 5.3] */
export function verdictOn(
  { status, headers, error, isFinal, isOver }: AttemptResult,
  retried: number,
  { retries, retryDelay, words }: Pick<PublishSettings, 'retries' | 'retryDelay' | 'words'>,
  now: number,
  policy: ResolvedPolicy,
): AttemptVerdict {
  if (error === undefined) return delivered
  if (isOver) return { is: 'dropped' }
  const isHopeless = isFinal || (status === 489 && forbidsRetries(headers, words))
  if (isHopeless || retried >= retries) return { is: 'failed' }
  const after = status === 0 ? error : String(status)
  return { is: 'retried', wait: retryWait(retried, retryDelay, headers, now, policy, after) }
}

function forbidsRetries(headers: HeaderList, { nonRetryable }: Pick<QueueDialect, 'nonRetryable'>): boolean {
  return nonRetryable.some((name) => /^true$/i.test(headerOf(headers, name) ?? ''))
}
