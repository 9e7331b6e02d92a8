import { utf8 } from '../../kernel/bytes.js'
import { defaultPolicy } from '../../policy/policy.js'
import { retryWait } from '../../queue/delivery/retry.js'
import { parseRetryExpression, type RetryExpression } from '../../queue/settings/retry-expression.js'
import {
  type AttemptFact,
  type Fact,
  ImportError,
  type LogLine,
  type MessageFacts,
  maxAttempts,
} from './imported-records.js'

/** One attempt. `startedAt` and the duration `took` are in milliseconds. Both values are recorded or estimated. */
export type TimedAttempt = AttemptFact & { readonly retried: number; readonly startedAt: number; readonly took: number }

/** One message, with all facts that its records contain. */
export interface ImportedMessage {
  readonly id: string
  readonly facts: MessageFacts
  readonly createdAt: number
  readonly attempts: readonly TimedAttempt[]
  /** State of the message in its latest record. `OPEN`: the message had not ended. */
  readonly state: 'DELIVERED' | 'FAILED' | 'CANCELLED' | 'OPEN'
  readonly cancelledAt: number | undefined
  readonly lastSeenAt: number
}

export function joined(facts: readonly Fact[], notes: string[]): readonly ImportedMessage[] {
  const byId = new Map<string, Fact[]>()
  for (const fact of facts) byId.set(fact.messageId, [...(byId.get(fact.messageId) ?? []), fact])
  const messages = [...byId].map(([id, records]) => joinedMessage(id, records, notes))
  return messages.sort((a, b) => a.createdAt - b.createdAt)
}

function joinedMessage(id: string, records: readonly Fact[], notes: string[]): ImportedMessage {
  const facts = mergedFacts(records)
  if (facts.url === undefined)
    throw new ImportError(
      `The records of ${id} contain no URL that begins with https:// or http://. Add the url of the destination.`,
    )
  const log = inOrder(records.flatMap((record) => record.log ?? []))
  const dead = records.find((record) => record.dead !== undefined)?.dead
  const stateIn = (state: string): boolean => log.some((line) => line.state === state)
  const raw = rawAttempts(records, log)
  const failed = dead !== undefined || stateIn('FAILED')
  const allRetries = Math.min((facts.maxRetries ?? defaultPolicy.retries) + 1, maxAttempts)
  if (failed) completed(raw, dead, allRetries, id, notes)
  else filled(raw, id, notes)
  const state = failed
    ? 'FAILED'
    : stateIn('DELIVERED') ||
        raw.some((attempt) => attempt !== undefined && attempt.status >= 200 && attempt.status < 300)
      ? 'DELIVERED'
      : stateIn('CANCELLED') || stateIn('CANCEL_REQUESTED')
        ? 'CANCELLED'
        : 'OPEN'
  const known = raw.flatMap((attempt) => attempt ?? [])
  const createdAt =
    facts.createdAt ??
    log[0]?.time ??
    known.find(({ startedAt }) => startedAt !== undefined)?.startedAt ??
    earliestOf(dead, known, facts)
  const attempts = timed(known, facts, createdAt)
  const cancel = log.find((line) => line.state === 'CANCEL_REQUESTED')
  return {
    id,
    facts,
    createdAt,
    attempts,
    state,
    cancelledAt: cancel && Math.max(createdAt, cancel.time),
    lastSeenAt: Math.max(
      createdAt,
      log.at(-1)?.time ?? 0,
      attempts.at(-1) === undefined ? 0 : attempts.at(-1)!.startedAt + attempts.at(-1)!.took,
    ),
  }
}

/**
 * Returns the log entries oldest first. Their order in the file is unknown, because a request to the API can ask for
 * either order.
 */
function inOrder(lines: readonly LogLine[]): readonly LogLine[] {
  const [first, last] = [lines[0], lines.at(-1)]
  if (first === undefined || last === undefined) return []
  const isReversed = first.time > last.time || (first.time === last.time && order(first.state) > order(last.state))
  // `sort()` is stable, so entries with equal times keep their order.
  return [...(isReversed ? [...lines].reverse() : lines)].sort((a, b) => a.time - b.time)
}

/** Returns a number that orders log entries of the same time. The service writes them in this order. [queue.md 4.2] */
function order(state: string): number {
  return ['CREATED', 'ACTIVE', 'CANCEL_REQUESTED', 'DELIVERED', 'ERROR', 'RETRY', 'FAILED', 'CANCELLED'].indexOf(state)
}

/** Merges the facts from all records of a message. If several records contain a fact, the first one is used. */
function mergedFacts(records: readonly Fact[]): MessageFacts {
  const merged: Record<string, unknown> = {}
  for (const { message } of records) {
    for (const [name, value] of Object.entries(message)) if (value !== undefined) merged[name] ??= value
  }
  return merged
}

type Raw = (AttemptFact | undefined)[]

/**
 * Returns the recorded attempts by their numbers. A callback contains the number of its attempt. Log entries do not, so
 * their attempts are counted.
 */
function rawAttempts(records: readonly Fact[], log: readonly LogLine[]): Raw {
  const attempts: Raw = []
  let startedAt: number | undefined
  const starts = log.filter((line) => line.state === 'ACTIVE').map((line) => line.time)
  for (const line of log) {
    if (line.attempt === undefined) continue
    startedAt = starts[attempts.length]
    attempts.push({ ...line.attempt, retried: attempts.length, startedAt })
  }
  for (const { reported } of records) {
    if (reported?.retried === undefined) continue
    const known = attempts[reported.retried]
    // Add headers and body of the response from the callback, because a log entry about a successful attempt does not
    // contain them.
    attempts[reported.retried] =
      known === undefined
        ? reported
        : {
            ...known,
            headers: known.headers.length > 0 ? known.headers : reported.headers,
            body: known.body === '' ? reported.body : known.body,
            status: reported.status,
          }
  }
  return attempts
}

/**
 * Adds the attempts that are missing for a failed message. A dead letter contains only the last attempt. The earlier
 * attempts are assumed to have failed in the same way.
 */
function completed(
  attempts: Raw,
  dead: AttemptFact | undefined,
  allRetries: number,
  id: string,
  notes: string[],
): void {
  const last = dead ?? attempts.findLast((attempt) => attempt !== undefined)
  if (last === undefined) return
  const count = isNonRetryable(last) ? Math.max(attempts.length, 1) : Math.max(allRetries, attempts.length)
  let assumed = 0
  for (let retried = 0; retried < count; retried++) {
    const known = attempts[retried]
    if (known !== undefined) {
      if (retried === count - 1 && dead !== undefined && known.body === '')
        attempts[retried] = {
          ...known,
          body: dead.body,
          headers: known.headers.length > 0 ? known.headers : dead.headers,
        }
      continue
    }
    if (retried < count - 1) assumed++
    attempts[retried] = { status: last.status, error: last.error, headers: last.headers, body: last.body, retried }
  }
  if (assumed > 0) {
    notes.push(
      `${id}: the records contain ${count - assumed} of ${count} attempts; the ${assumed === 1 ? 'other one is' : 'others are'} assumed to have failed like the last one.`,
    )
  }
}

/**
 * Adds the attempts that are missing before the attempt of a callback. They have failed, but the callback does not
 * contain the reason.
 */
function filled(attempts: Raw, id: string, notes: string[]): void {
  for (let retried = 0; retried < attempts.length; retried++) {
    if (attempts[retried] !== undefined) continue
    attempts[retried] = { status: 500, headers: [], body: utf8(''), retried }
    notes.push(
      `${id}: attempt ${retried + 1} is not in the records, so the import assumes that it failed with status 500.`,
    )
  }
}

/**
 * Estimates when a message was created, if no record contains this time. All retries fit between this time and the last
 * attempt.
 */
function earliestOf(dead: AttemptFact | undefined, attempts: readonly AttemptFact[], facts: MessageFacts): number {
  const waits = attempts
    .slice(0, -1)
    .reduce((sum, attempt, retried) => sum + waitAfter(attempt, retried, facts.retryDelay, 0), 0)
  return dead?.endedAt === undefined ? 1_893_456_000_000 : dead.endedAt - waits
}

function timed(attempts: readonly AttemptFact[], facts: MessageFacts, createdAt: number): TimedAttempt[] {
  const timed: TimedAttempt[] = []
  let due = Math.max(createdAt, facts.notBefore ?? 0)
  for (const [retried, attempt] of attempts.entries()) {
    const startedAt = attempt.startedAt ?? due
    const took =
      attempt.startedAt !== undefined && attempt.endedAt !== undefined
        ? Math.max(0, attempt.endedAt - attempt.startedAt)
        : 0
    timed.push({ ...attempt, retried, startedAt, took })
    due = startedAt + took + waitAfter(attempt, retried, facts.retryDelay, startedAt + took)
  }
  return timed
}

export function isNonRetryable({ status, headers }: AttemptFact): boolean {
  return (
    status === 489 && headers.some(([name, value]) => /^[\w-]*NonRetryable-Error$/i.test(name) && /^true$/i.test(value))
  )
}

/** Estimates the delay before the next attempt in milliseconds, as the service computes it. */
function waitAfter(attempt: AttemptFact, retried: number, expression: string | undefined, at: number): number {
  const headers = attempt.headers.map(([name, value]): [string, string] => [name, value])
  return retryWait(
    retried,
    expression === undefined ? undefined : parsedExpression(expression),
    headers,
    at,
    defaultPolicy,
    '',
  ).delay
}

export function parsedExpression(expression: string): RetryExpression | undefined {
  try {
    return parseRetryExpression(expression)
  } catch {
    return undefined
  }
}
