import { compactJson } from '../kernel/compact-json.js'
import { plural } from '../kernel/plural.js'
import type { EntryOf, StepSettings } from '../kernel/traffic-log.js'
import { urlText } from './describe.js'
import { type Redaction, standardRedaction } from './redaction.js'
import type { RunLifecycle, StepLifecycle } from './run-lifecycles.js'
import { excerpt, plainText, quoted } from './safe-text.js'
import { timeSeenFrom } from './shown-times.js'

const maxName = 60
const maxResult = 80
const maxError = 240
const maxAttempts = 5
/**
 * Maximum number of steps of a run that is shown in full. In a longer run, some steps in the middle are only counted.
 */
const maxSteps = 40
/**
 * Number of steps that are shown at the start and at the end of a long run. `around` is the number of steps before and
 * after the focused step.
 */
const atTheEnds = 8
const around = 3
/** Maximum number of other steps that are shown, because they failed or have not ended. */
const maxTelling = 20

/**
 * Returns a run as text, step by step, with the reason of each wait.
 * @param focus `seq` of the first entry about the focused step
 * @example
 * run wfr_8a… of https://app.test/order, failed at 09:01:12.000, cost 4
 *   1 "reserve"  Run, done → {"ok":true}
 *   2 "nap"      SleepFor, done; slept 1m until 09:01:00.000
 *   – "charge"   failed, 2 attempts
 *       09:01:00.000  500 card declined; waits 12s until 09:01:12.000: default back-off
 *       09:01:12.000  500 card declined
 */
export function runText(run: RunLifecycle, redaction: Redaction = standardRedaction, focus?: number): string {
  const { start, end, steps, cost } = run
  const from = start.at
  const ended = end === undefined ? 'still running' : `${run.state} at ${timeSeenFrom(end.at, from)}`
  const head = `run ${plainText(run.id)} of ${urlText(run.url, redaction)}, ${ended}, cost ${plural(cost, 'message')}`
  const lines = folded(steps, focus).flatMap((step) =>
    typeof step === 'number' ? [`  … ${plural(step, 'more step')}`] : stepLines(step, from, redaction),
  )
  return [head, ...lines, ...failingLines(run, from, redaction)].join('\n')
}

/** Returns the steps to show. A number in the list is the number of steps that are omitted there. */
function folded(steps: readonly StepLifecycle[], focus: number | undefined): readonly (StepLifecycle | number)[] {
  if (steps.length <= maxSteps) return steps
  const at = focus === undefined ? -1 : steps.findIndex(({ pointer }) => pointer.seq === focus)
  const rows: (StepLifecycle | number)[] = []
  let telling = 0
  for (const [index, step] of steps.entries()) {
    const isNear = index < atTheEnds || index >= steps.length - atTheEnds || (at >= 0 && Math.abs(index - at) <= around)
    const isShown = isNear || (!isQuiet(step) && ++telling <= maxTelling)
    const before = rows.at(-1)
    if (isShown) rows.push(step)
    else if (typeof before === 'number') rows[rows.length - 1] = before + 1
    else rows.push(1)
  }
  return rows
}

function isQuiet({ state, attempts }: StepLifecycle): boolean {
  return state === 'done' && attempts.every(({ outcome }) => outcome?.error === undefined)
}

/**
 * Returns the instant at which a sleeping step wakes up. Returns `undefined` if the step does not sleep or the run has
 * ended.
 */
export function sleepEnd(step: StepLifecycle): number | undefined {
  const sleeper = step.type.startsWith('Sleep') ? (step.done ?? step.plan) : undefined
  if (sleeper === undefined || step.run.state !== 'started') return undefined
  const published = step.run.publishedOf(sleeper.messageId)
  const isOver = published === undefined || published.notBefore <= published.at
  return isOver || step.run.attemptsOf(sleeper.messageId).length > 0 ? undefined : published.notBefore
}

function stepLines(step: StepLifecycle, from: number, redaction: Redaction): string[] {
  const beside = step.plan === undefined ? '' : ' in parallel'
  const end = sleepEnd(step)
  const facts = [`${step.type}${beside}, ${end === undefined ? step.state : `sleeps until ${timeSeenFrom(end, from)}`}`]
  const result = resultText(step, redaction)
  const told = result === undefined ? '' : ` → ${result}`
  const { wait, invoked, plan, done } = step
  if (wait !== undefined) facts.push(waitText(step, from, redaction))
  if (invoked !== undefined)
    facts.push(`invoked run ${plainText(invoked.invokedRunId)} of ${urlText(invoked.url, redaction)}`)
  const sleeper = plan ?? done
  const published = sleeper === undefined ? undefined : step.run.publishedOf(sleeper.messageId)
  if (end === undefined && published !== undefined && published.notBefore > published.at)
    facts.push(`sleeps until ${timeSeenFrom(published.notBefore, from)}`)
  if (step.settings !== undefined) facts.push(...settingsText(step.settings, redaction))
  const lines = [`  ${step.id} ${name(step.name, redaction)}  ${facts.join('; ')}${told}`]
  const { attempts } = step
  const failures = attempts.filter(({ outcome }) => outcome?.error !== undefined)
  return [...lines, ...attemptLines(failures, from, redaction)]
}

/** Describes the settings that a step sets itself. */
function settingsText({ retries, retryDelay, flowControl }: StepSettings, redaction: Redaction): string[] {
  const texts = [
    ...(retries === undefined ? [] : [`retries ${retries}`]),
    ...(retryDelay === undefined ? [] : [`retry delay ${excerpt(retryDelay, maxName)}`]),
    ...(flowControl === undefined ? [] : [`flow control ${flowControlText(flowControl, redaction)}`]),
  ]
  return texts.length === 0 ? [] : [`own settings: ${texts.join(', ')}`]
}

function flowControlText({ key, ...limits }: NonNullable<StepSettings['flowControl']>, redaction: Redaction): string {
  const told = Object.entries(limits).filter(([, value]) => value !== undefined)
  return [name(key, redaction), ...told.map(([limit, value]) => `${limit} ${value}`)].join(' ')
}

function name(given: string, redaction: Redaction): string {
  return quoted(given, maxName, (text) => redaction.text(text))
}

function resultText(step: StepLifecycle, redaction: Redaction): string | undefined {
  if (step.isHidden) return 'redacted by its publisher'
  const { result } = step
  return result === undefined ? undefined : excerpt(redaction.text(compactJson(result)), maxResult)
}

function waitText({ wait, timedOut, state }: StepLifecycle, from: number, redaction: Redaction): string {
  const { entry, notified } = wait!
  const event = `event ${name(entry.eventId, redaction)}`
  if (timedOut) return `timed out waiting for ${event}`
  if (notified !== undefined) return `${event} received at ${timeSeenFrom(notified.at, from)}`
  if (state === 'done') return `waited for ${event}`
  return `waits for ${event} until ${timeSeenFrom(entry.until, from)}`
}

/** Returns lines about failed deliveries that belong to no known step. */
function failingLines(run: RunLifecycle, from: number, redaction: Redaction): string[] {
  const { failing } = run
  if (failing === undefined) return []
  const { attempt, step } = failing
  if (run.steps.some(({ carrier }) => carrier === attempt.messageId)) return []
  const attempts = run.attemptsOf(attempt.messageId)
  const what = step === undefined ? 'the next step' : name(step, redaction)
  const state = attempt.outcome?.state === 'FAILED' ? 'failed' : 'failing'
  return [`  – ${what}  ${state}, ${plural(attempts.length, 'attempt')}`, ...attemptLines(attempts, from, redaction)]
}

function attemptLines(attempts: readonly EntryOf<'attempt'>[], from: number, redaction: Redaction): string[] {
  const lines = attempts.slice(0, maxAttempts).map(({ at, outcome }) => {
    const { next, note } = outcome ?? {}
    const answer = outcomeText({ outcome })
    const waits = next === undefined ? '' : `; waits until ${timeSeenFrom(next.at, from)}: ${next.reason}`
    const told = note === undefined ? '' : ` (${note})`
    return `      ${timeSeenFrom(at, from)}  ${excerpt(redaction.text(`${answer}${waits}${told}`), maxError)}`
  })
  const more = attempts.length - maxAttempts
  return more > 0 ? [...lines, `      … and ${more} more`] : lines
}

/** Formats the outcome of an attempt: the status with the message of the error, or the error that the queue logged. */
export function outcomeText({ outcome }: Pick<EntryOf<'attempt'>, 'outcome'>): string {
  const { status = 0, error = '', body = '' } = outcome ?? {}
  const thrown = messageIn(body as string)
  return status === 0 || thrown === undefined ? error : `${status} ${thrown}`
}

function messageIn(body: string): string | undefined {
  return /"message":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1]
}
