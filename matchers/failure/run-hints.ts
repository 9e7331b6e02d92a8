import { text } from '../../src/kernel/bytes.js'
import { editDistance, nearestName } from '../../src/kernel/nearest-name.js'
import { parsedJson } from '../../src/kernel/parsed-json.js'
import { plural } from '../../src/kernel/plural.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { urlText } from '../../src/report/describe.js'
import type { RunLifecycle, StepLifecycle } from '../../src/report/run-lifecycles.js'
import { outcomeText, sleepEnd } from '../../src/report/run-text.js'
import { excerpt, plainText } from '../../src/report/safe-text.js'
import { dateOf, timeOf, timeSeenFrom } from '../../src/report/shown-times.js'
import { literal } from '../literal.js'
import type { Text } from '../patterns.js'
import type { MatcherInput } from '../received.js'
import { wasUnhandled } from './sandbox-facts.js'

// Hints about a missing workflow run, step or wait. They state why the log contains no run, step or wait like the
// expected one.

const maxNames = 5
const maxAnswer = 320

export function noRunHints(evidence: MatcherInput): string[] {
  const { redaction } = evidence
  const asked = evidence.ofType('request').filter(isTrigger)
  const refused = asked.filter(
    ({ response: answer }) => answer !== undefined && (answer.status === 0 || answer.status >= 400),
  )
  const last = refused.at(-1)
  if (last !== undefined) {
    const { status, body } = last.response!
    const error = parsedJson(text(body ?? ('' as never))) as { error?: unknown } | undefined
    const why = typeof error?.error === 'string' ? ` ${redaction.text(error.error)}` : ''
    const answer = status === 0 ? 'got no response' : `was rejected with ${status}${excerpt(why, maxAnswer)}`
    return [`No workflow run started: ${last.method} ${urlText(last.url, redaction)} ${answer}.`]
  }
  const published = evidence.ofType('published').length
  if (published > 0)
    return [
      `No workflow run started: ${plural(published, 'message')} ${published === 1 ? 'was' : 'were'} published, but none triggered a workflow. Call client.trigger(), or advance the clock if a message goes to a workflow endpoint.`,
    ]
  return [
    'No workflow run started: the queue received no request. Trigger a run, and check that the client of the app uses the URL of the sandbox.',
  ]
}

const triggers = /\/v2\/(?:trigger|batch|publish|enqueue|schedules)(?:\/|\?|$)/

function isTrigger({ service, method, url }: EntryOf<'request'>): boolean {
  return service === 'queue' && method === 'POST' && triggers.test(url)
}

/** Returns why a run is in its state, and what to do next. Returns `undefined` for a successful run. */
export function causeOf(run: RunLifecycle, evidence: MatcherInput): string | undefined {
  const { state, failing, steps } = run
  const name = `run ${plainText(run.id)}`
  const at = (time: number): string => timeSeenFrom(time, evidence.entries[0]?.at ?? 0)
  if (state === 'success') return undefined
  if (state === 'canceled') return `${name} was canceled at ${at(run.end!.at)}`
  if (failing !== undefined) {
    const { attempt, step } = failing
    const where = step === undefined ? 'before its next step' : `at step ${plainText(literal(step))}`
    const { next, note } = attempt.outcome!
    // The failure already lists an unhandled delivery as a cause of its own, so leave its note out here.
    const told = note === undefined || wasUnhandled.test(note) ? '' : ` (${note})`
    const answer = excerpt(evidence.redaction.text(outcomeText(attempt) + told), maxAnswer)
    const tries = plural(attempt.retried + 1, 'attempt')
    if (state === 'failed' || next === undefined) return `${name} failed ${where} after ${tries}: ${answer}`
    return `${name} waits until ${at(next.at)} for its next attempt ${where}: ${tries} failed, ${answer}`
  }
  if (state === 'failed') return `${name} failed`
  const waiting = steps.find((step) => step.state === 'waiting')
  if (waiting?.wait !== undefined)
    return `${name} waits for event ${eventText(waiting)} until ${at(waiting.wait.entry.until)}. ${sendOrDrain(eventText(waiting))}`
  const sleeping = steps.findLast((step) => sleepEnd(step) !== undefined)
  if (sleeping !== undefined)
    return `${name} sleeps until ${at(sleepEnd(sleeping)!)}. Advance the clock, or call workflow.skipSleeps()`
  return `${name} has not ended. Advance the clock`
}

/** Returns hints if no step of the runs has this name. */
export function missingStep(
  name: Text,
  runs: readonly RunLifecycle[],
  names: readonly string[],
  evidence: MatcherInput,
): string[] {
  if (typeof name !== 'string' || names.includes(name)) return []
  const called = `No step is named ${literal(name)}`
  const near = nearest(name, names)
  if (near !== undefined) return [`${called}. Did you mean ${plainText(literal(near))}?`]
  const causes = runs.flatMap((run) => causeOf(run, evidence) ?? []).slice(0, 3)
  if (causes.length > 0) return causes.map((cause) => `${called}: ${cause}.`)
  return names.length === 0 ? [] : [`${called}. The steps are ${listed(names)}.`]
}

/** Returns a hint if no run belongs to this workflow URL. */
export function missingWorkflow(url: unknown, runs: readonly RunLifecycle[], { redaction }: MatcherInput): string[] {
  if (typeof url !== 'string' || url.includes('*')) return []
  const urls = [...new Set(runs.map((run) => run.url))]
  if (urls.length === 0 || urls.includes(url)) return []
  return [
    `No run belongs to workflow ${literal(url)}. There are runs of ${urls
      .slice(0, maxNames)
      .map((one) => urlText(one, redaction))
      .join(', ')}.`,
  ]
}

/** Returns hints about an event: no step waits for it, it was never sent, or it was sent under another name. */
export function eventHints(event: Text, waits: readonly StepLifecycle[], evidence: MatcherInput): string[] {
  if (typeof event !== 'string') return []
  const own = waits.filter(({ wait }) => wait!.entry.eventId === event)
  if (own.length === 0) {
    const ids = waits.map(({ wait }) => wait!.entry.eventId)
    const near = nearest(event, ids) ?? ids[0]
    return near === undefined
      ? []
      : [`No step waits for event ${literal(event)}. A step waits for event ${plainText(literal(near))}.`]
  }
  if (own.some(({ wait }) => wait!.notified !== undefined)) return []
  const sent = evidence.ofType('notify').filter(({ runIds }) => runIds.length === 0)
  const ids = sent.map(({ eventId }) => eventId)
  const near = nearest(event, ids) ?? ids.at(-1)
  const same = sent.findLast(({ eventId }) => eventId === near)
  const at = same === undefined ? '' : timeSeenFrom(same.at, evidence.entries[0]?.at ?? 0)
  if (same?.eventId === event) {
    return same.kept
      ? []
      : [
          `Event ${literal(event)} was sent at ${at}, when no step waited for it. Send it while a step waits for it. Or send it to the run by the ID of the run: the queue then keeps the event for the run's next wait.`,
        ]
  }
  const other =
    same === undefined ? '' : `; ${plainText(literal(same.eventId))} was sent at ${at}, and no step waited for it`
  return [`Event ${literal(event)} was never sent${other}.${stillWaiting(event, own)}`]
}

/** Returns until when the first of the waiting steps waits, and which calls end that wait. */
function stillWaiting(event: string, waits: readonly StepLifecycle[]): string {
  const open = waits.filter(({ run, state }) => run.state === 'started' && state === 'waiting')
  const [first] = open
  if (first === undefined) return ''
  const others = open.length === 1 ? '' : ` (and ${plural(open.length - 1, 'other step')})`
  const { until } = first.wait!.entry
  const end = `${dateOf(until)} ${timeOf(until).replace(/(:00)?\.000$/, '')}`
  return ` Step ${plainText(literal(first.name))}${others} waits for it until ${end}. ${sendOrDrain(literal(event))}.`
}

function sendOrDrain(event: string): string {
  return `Send it with sandbox.workflow.notify(${event}, data), or await sandbox.clock.drain() for the timeout of the wait`
}

function eventText({ wait }: StepLifecycle): string {
  return plainText(literal(wait!.entry.eventId))
}

function listed(names: readonly string[]): string {
  const all = [...new Set(names)]
  const more = all.length > maxNames ? ` and ${all.length - maxNames} more` : ''
  return `${all
    .slice(0, maxNames)
    .map((one) => plainText(literal(one)))
    .join(', ')}${more}`
}

/** Returns the most similar name, or `undefined` if that name has no character in common with `name`. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const near = nearestName(name, names)
  return near === undefined || editDistance(name, near) >= Math.max(name.length, near.length) ? undefined : near
}
