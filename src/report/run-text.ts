import { compactJson } from '../kernel/compact-json.js'
import { counted } from '../kernel/counted.js'
import type { EntryOf } from '../kernel/traffic.js'
import { urlText } from './describe.js'
import { type Redaction, standardRedaction } from './redaction.js'
import type { RunStory, StepStory } from './runs.js'
import { excerpt, plainText, quoted } from './safe-text.js'
import { timeSeenFrom } from './shown-times.js'

const longestName = 60
const longestResult = 80
const longestError = 240
const mostAttempts = 5

/**
 * A run step by step, with the reason of each wait.
 * @example
 * run wfr_8a… of https://app.test/order, failed at 09:01:12.000, cost 4
 *   1 "reserve"  Run, done → {"ok":true}
 *   2 "nap"      SleepFor, done; slept 1m until 09:01:00.000
 *   – "charge"   failed, 2 attempts
 *       09:01:00.000  500 card declined; waits 12s until 09:01:12.000: default back-off
 *       09:01:12.000  500 card declined
 */
export function runText(run: RunStory, redaction: Redaction = standardRedaction): string {
  const { start, end, steps, cost } = run
  const from = start.at
  const ended = end === undefined ? 'still running' : `${run.state} at ${timeSeenFrom(end.at, from)}`
  const head = `run ${plainText(run.id)} of ${urlText(run.url, redaction)}, ${ended}, cost ${counted(cost, 'message')}`
  const lines = steps.flatMap((step) => stepLines(step, from, redaction))
  return [head, ...lines, ...failingLines(run, from, redaction)].join('\n')
}

function stepLines(step: StepStory, from: number, redaction: Redaction): string[] {
  const facts = [`${step.type}${step.plan === undefined ? '' : ' beside others'}, ${step.state}`]
  const result = resultText(step, redaction)
  const told = result === undefined ? '' : ` → ${result}`
  const { wait, invoked, plan, done } = step
  if (wait !== undefined) facts.push(waitText(step, from, redaction))
  if (invoked !== undefined)
    facts.push(`invoked run ${plainText(invoked.invokedRunId)} of ${urlText(invoked.url, redaction)}`)
  const sleeper = plan ?? done
  const published = sleeper === undefined ? undefined : step.run.publishedOf(sleeper.messageId)
  if (published !== undefined && published.notBefore > published.at)
    facts.push(`sleeps until ${timeSeenFrom(published.notBefore, from)}`)
  const lines = [`  ${step.id} ${name(step.name, redaction)}  ${facts.join('; ')}${told}`]
  const { attempts } = step
  const failures = attempts.filter(({ outcome }) => outcome?.error !== undefined)
  return [...lines, ...attemptLines(failures, from, redaction)]
}

function name(given: string, redaction: Redaction): string {
  return quoted(given, longestName, (text) => redaction.text(text))
}

function resultText(step: StepStory, redaction: Redaction): string | undefined {
  if (step.isHidden) return 'hidden by its publisher'
  const { result } = step
  return result === undefined ? undefined : excerpt(redaction.text(compactJson(result)), longestResult)
}

function waitText({ wait, timedOut, state }: StepStory, from: number, redaction: Redaction): string {
  const { entry, notified } = wait!
  const event = `event ${name(entry.eventId, redaction)}`
  if (timedOut) return `waited for ${event}, which did not come`
  if (notified !== undefined) return `${event} came at ${timeSeenFrom(notified.at, from)}`
  if (state === 'done') return `waited for ${event}`
  return `waits for ${event} until ${timeSeenFrom(entry.until, from)}`
}

/** Deliveries that no step has come of. */
function failingLines(run: RunStory, from: number, redaction: Redaction): string[] {
  const { failing } = run
  if (failing === undefined) return []
  const { attempt, step } = failing
  if (run.steps.some(({ carrier }) => carrier === attempt.messageId)) return []
  const attempts = run.attemptsOf(attempt.messageId)
  const what = step === undefined ? 'the next step' : name(step, redaction)
  const state = attempt.outcome?.state === 'FAILED' ? 'failed' : 'failing'
  return [`  – ${what}  ${state}, ${counted(attempts.length, 'attempt')}`, ...attemptLines(attempts, from, redaction)]
}

function attemptLines(attempts: readonly EntryOf<'attempt'>[], from: number, redaction: Redaction): string[] {
  const lines = attempts.slice(0, mostAttempts).map(({ at, outcome }) => {
    const { status = 0, error = '', body = '', next, note } = outcome ?? {}
    const thrown = messageIn(body as string)
    const answer = status === 0 || thrown === undefined ? error : `${status} ${thrown}`
    const waits = next === undefined ? '' : `; waits until ${timeSeenFrom(next.at, from)}: ${next.reason}`
    const told = note === undefined ? '' : ` (${note})`
    return `      ${timeSeenFrom(at, from)}  ${excerpt(redaction.text(`${answer}${waits}${told}`), longestError)}`
  })
  const more = attempts.length - mostAttempts
  return more > 0 ? [...lines, `      … and ${more} more`] : lines
}

function messageIn(body: string): string | undefined {
  return /"message":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1]
}
