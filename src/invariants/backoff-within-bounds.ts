import { formatDuration } from '../kernel/duration.js'
import { instant, iso } from '../kernel/instant.js'
import { exp } from '../kernel/portable-math.js'
import type { AttemptOutcome, EntryOf } from '../kernel/traffic-log.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Findings, Invariant } from './invariant.js'
import type { CheckedMessage, CheckedSandbox, InvariantIndex } from './invariant-index.js'

export const backoffWithinBounds: Invariant = {
  name: 'backoff-within-bounds',
  guarantee:
    'The delay of a retry is the value of Retry-After. Without Retry-After, it is the retry delay of the message, or the default backoff if the message has no retry delay. No message is delivered before it is due.',
  suspendedBy: {
    duplicate: 'for the affected message',
    restart: 'for messages with an attempt that the restart cut off, and for late deliveries after the restart',
    delay: 'for the affected message',
    reorder: 'for the affected message',
    outage: 'for the affected message',
  },
  examine(history, findings) {
    for (const story of history.stories.values()) {
      if (!history.struck(story.id, this.suspendedBy)) examineStory(story, history, findings)
    }
  },
}

function examineStory(story: CheckedMessage, history: InvariantIndex, findings: Findings): void {
  const { world } = history
  const { published, attempts } = story
  attempts.forEach((attempt, index) => {
    const before = attempts[index - 1]
    const due = before === undefined ? published.notBefore : before.outcome?.next?.at
    if (due !== undefined) checkTime(story, before ?? published, attempt, due, history, findings)
    const { outcome } = attempt
    if (outcome?.next !== undefined) checkDelay(story, attempt, outcome, world, findings)
  })
}

type Before = EntryOf<'published'> | EntryOf<'attempt'>

/**
 * Checks the time of an attempt. An attempt may be early only if a test or request asked for an immediate delivery. It
 * may be late only if the message was held.
 */
function checkTime(
  { id, published, changes }: CheckedMessage,
  before: Before,
  attempt: EntryOf<'attempt'>,
  due: number,
  { world, restartedAt }: InvariantIndex,
  findings: Findings,
): void {
  const between = changes.filter(({ seq }) => seq > before.seq && seq < attempt.seq)
  const was = (state: 'DELIVER_REQUESTED' | 'WAITING'): boolean => between.some((change) => change.state === state)
  if (attempt.at < due && !was('DELIVER_REQUESTED')) {
    findings.broken(
      `${id} was due at ${iso(due)} and attempted ${formatDuration(due - attempt.at)} early`,
      before,
      attempt,
    )
  }
  // A restart delays deliveries, because the service delivers nothing while it is down.
  const isDown = attempt.at >= restartedAt
  const isHeld = isDown || world.isRealTime || was('WAITING') || (before === published && published.queue !== undefined)
  if (attempt.at > due && !isHeld) {
    findings.broken(
      `${id} was due at ${iso(due)} and attempted ${formatDuration(attempt.at - due)} late`,
      before,
      attempt,
    )
  }
}

function checkDelay(
  { id, published }: CheckedMessage,
  attempt: EntryOf<'attempt'>,
  outcome: AttemptOutcome,
  world: CheckedSandbox,
  findings: Findings,
): void {
  const { delayMs: delay, at } = outcome.next!
  const expected = expectedDelay(published.retryDelay, attempt.retried, outcome, world)
  if (delay === expected.delay && at === outcome.at + delay) return
  findings.broken(
    `${id} waited ${formatDuration(at - outcome.at)} after attempt ${attempt.retried + 1}, but ${expected.rule} requires ${formatDuration(expected.delay)}`,
    published,
    attempt,
  )
}

interface Expected {
  readonly delay: number
  readonly rule: string
}

function expectedDelay(
  expression: string | undefined,
  retried: number,
  { headers, at }: AttemptOutcome,
  { policy, retryDelay }: CheckedSandbox,
): Expected {
  const asked = askedDelay(headers, at)
  if (asked !== undefined && (expression === undefined || policy.retryHeadersOverrideExpression)) {
    return asked.delay <= policy.maxRetryDelay ? asked : backoff(retried, policy)
  }
  const value = expression === undefined ? Number.NaN : retryDelay(expression, retried)
  if (!Number.isFinite(value)) return backoff(retried, policy)
  return {
    delay: Math.round(Math.min(Math.max(value, 0), policy.maxRetryDelay)),
    rule: `the retry delay ${expression}`,
  }
}

/** Returns e^(f·n) seconds for retry number n, limited by the maximum retry delay. [queue.md 5.2] */
function backoff(retried: number, { backoffFactor, maxRetryDelay, roundBackoff }: ResolvedPolicy): Expected {
  const seconds = Math.min(exp(backoffFactor * (retried + 1)), maxRetryDelay / 1000)
  return { delay: roundBackoff ? Math.floor(seconds) * 1000 : Math.round(seconds * 1000), rule: 'the default backoff' }
}

const askingHeaders = [
  'retry-after',
  'x-ratelimit-reset',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
] as const

function askedDelay(headers: AttemptOutcome['headers'], now: number): Expected | undefined {
  for (const name of askingHeaders) {
    const value = headers.find(([given]) => given.toLowerCase() === name)?.[1]
    const delay = value === undefined ? undefined : waitOf(value.trim(), now)
    if (delay !== undefined) return { delay, rule: `${name}: ${value}` }
  }
  return undefined
}

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 3.6e6,
}

/**
 * Maximum length in characters of a header value that asks for a delay. A longer value is ignored. The limit belongs to
 * this package, not to the service.
 */
const maxWait = 1000

/** Parses `12`, `6m5s` or an HTTP date to milliseconds from now. */
function waitOf(value: string, now: number): number | undefined {
  if (value.length > maxWait) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000)
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h)/g)]
  if (parts.length > 0 && parts.map(([part]) => part).join('') === value) {
    return Math.round(parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit!]!, 0))
  }
  const date = /^[A-Z][a-z]{2}, (\d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2}) (GMT|UTC|[+-]\d{4})$/.exec(value)
  if (date === null) return undefined
  try {
    return Math.max(0, instant(value) - now)
  } catch {
    return undefined
  }
}
