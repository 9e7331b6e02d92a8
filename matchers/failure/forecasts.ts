import { formatDuration } from '../../src/kernel/duration.js'
import { plural } from '../../src/kernel/plural.js'
import type { Queue } from '../../src/queue/direct-queue.js'
import type { Forecast, ForecastBlocker } from '../../src/queue/explain/forecast.js'
import { plainText } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import { blockOf, MessageLifecycle, stateOf, waitOf } from '../message-lifecycle.js'
import type { MatcherInput } from '../received.js'

// Determines until when messages wait: from the queue's forecast if a queue is available, and otherwise from the log.

type Forecaster = Partial<Pick<Queue, 'forecast' | 'explain'>>

/** Returns the queues of the sandbox, one per region. For a log, returns an empty list. */
function facesOf({ received, role }: MatcherInput): readonly (Forecaster | undefined)[] {
  if (role === 'traffic') return []
  const { queue, queues = [queue] } = received as { queue?: Forecaster; queues?: readonly Forecaster[] }
  return role === 'sandbox' ? queues : [received as Forecaster]
}

/** Calls `ask` with one queue after another, until `ask` returns a result for the message. */
function askedOf<T>(evidence: MatcherInput, ask: (face: Forecaster) => T | undefined): T | undefined {
  for (const face of facesOf(evidence)) {
    if (typeof face?.forecast !== 'function') continue
    try {
      const answer = ask(face)
      if (answer !== undefined) return answer
    } catch {
      // The message belongs to another region, or the sandbox was reset and only the log has it.
    }
  }
  return undefined
}

/**
 * Returns a hint about a pending message. It states until when and why the message waits, and the call that delivers
 * it.
 */
export function waitHint(evidence: MatcherInput, story: MessageLifecycle): string {
  const name = evidence.name(story.id)
  if (stateOf(story) === 'ACTIVE') return `${name} is being delivered now. Await sandbox.clock.drain() first.`
  const now = evidence.context.now?.() ?? evidence.entries.at(-1)?.at ?? 0
  const forecast = askedOf(evidence, (queue) => queue.forecast?.(story.id))
  if (forecast === undefined) return loggedHint(name, story, now)
  if ('notBefore' in forecast) return `${name} waits${placeOf(story)}${causeText(evidence, forecast, now)}`
  if (forecast.at <= now) return notMoved(name)
  const reason = reasonOf(story, forecast.at)
  const place = waitOf(story)?.until === forecast.at ? '' : placeIn(evidence, story.id)
  return untilHint(story, name, forecast.at, now, reason === '' ? place.slice(2) : reason + place)
}

const placed = / (?:flow-control key|in queue) [^:]+(: .*)\. Its next attempt /s

/** Returns the part of `queue.explain()` that states what holds a message: a limit, messages before it, or a pause. */
function placeIn(evidence: MatcherInput, messageId: string): string {
  const place = askedOf(evidence, (queue) => placed.exec(queue.explain?.(messageId) ?? '')?.[1]) ?? ''
  const named = place.replace(/\bmsg_\w{8,}/g, (id) => evidence.name(id)).replace(/, which ends at [-\d]+ [:.\d]+/, '')
  return evidence.redaction.text(named)
}

/** Returns the hint of `waitHint()` if no forecast is available. It uses only the log. */
function loggedHint(name: string, story: MessageLifecycle, now: number): string {
  const block = blockOf(story)
  if (block !== undefined) return `${name} waits: ${plainText(block)}.`
  const wait = waitOf(story)
  return wait === undefined || wait.until <= now ? notMoved(name) : untilHint(story, name, wait.until, now, wait.reason)
}

function notMoved(name: string): string {
  return `${name} is due, but the clock has not moved. Await sandbox.clock.drain() first.`
}

function untilHint(story: MessageLifecycle, name: string, until: number, now: number, reason: string): string {
  const left = formatDuration(until - now)
  const isTurn = reason.startsWith(turn)
  const why = reason === '' ? '' : isTurn ? `, for ${plainText(reason)}` : ` (${plainText(reason)})`
  const failed = failedText(story)
  const lead = reason.startsWith(`${turn} flow-control key`) ? 'Raise the limit, or await' : 'Await'
  const otherwise = failed === '' ? lead : `So far, ${failed}: fix the cause, or await`
  return `${name} waits ${left}, until ${timeSeenFrom(until, now)}${why}. ${otherwise} sandbox.clock.advance('${left}') or clock.drain() for its next attempt.`
}

/**
 * Returns the number of failed attempts: `4 of 6 attempts failed`. If many attempts have failed, the handler may need a
 * fix instead of more time.
 */
function failedText({ attempts, last }: MessageLifecycle): string {
  const failed = attempts.filter(({ outcome }) => outcome?.state === 'RETRY').length
  return last === undefined || failed === 0 ? '' : `${failed} of ${plural(last.maxRetries + 1, 'attempt')} failed`
}

/** Beginning of the text that states why a message waits for earlier messages. */
const turn = 'its turn in'

/** Returns the reason of a wait whose end is known. */
function reasonOf(story: MessageLifecycle, until: number): string {
  const wait = waitOf(story)
  if (wait?.until === until) return wait.reason
  const { flow, published } = story
  const key = flow?.flowControlKey ?? published?.flowControlKey
  if (key !== undefined) return `${turn} flow-control key ${key}`
  return published?.queue === undefined ? '' : `${turn} queue ${published.queue}`
}

/**
 * Returns the limit that holds a message: `: flow-control key k holds it, rate 5 of 5; `. Values that have changed
 * since the entry was logged are removed.
 */
function placeOf(story: MessageLifecycle): string {
  const block = blockOf(story)?.replace(/, for [\w.]+ more|, \d+ before it/g, '')
  if (block !== undefined) return `: ${plainText(block)}; `
  const { published } = story
  return published?.queue === undefined ? ': ' : ` in queue ${plainText(published.queue)}: `
}

function causeText(
  evidence: MatcherInput,
  { notBefore, blockedBy: because }: Extract<Forecast, { readonly notBefore: number }>,
  now: number,
): string {
  if (because.kind === 'pause') {
    const what = 'queue' in because ? `queue ${because.queue}` : `flow-control key ${because.flowControlKey}`
    return `${plainText(what)} is paused, so it starts no delivery. Resume it first.`
  }
  const earliest = notBefore > now ? ` The next attempt starts no earlier than ${timeSeenFrom(notBefore, now)}.` : ''
  return `${answersText(evidence, because)}.${earliest} Await sandbox.clock.drain() to make all attempts.`
}

const maxNamed = 3

function answersText(
  evidence: MatcherInput,
  { messageIds, scheduleIds = [], holdsSlot: first }: Extract<ForecastBlocker, { readonly kind: 'response' }>,
): string {
  const names = [
    ...messageIds.map((id) => evidence.name(id)),
    ...scheduleIds.map((id) => `the message of schedule ${plainText(id)}`),
  ]
  if (names.length === 0) return 'a fault holds it until a later delivery has ended'
  const more = names.length - maxNamed
  const listed = `${names.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} others` : ''}`
  if (!first) return `it depends on the response to ${listed}`
  if (names.length > 1) return `one of ${listed} must finish first`
  const [id] = messageIds
  const failed = id === undefined ? '' : failedText(new MessageLifecycle(id, evidence.forMessage(id)))
  return `${listed} must finish first${failed === '' ? '' : `, and ${failed}`}`
}
