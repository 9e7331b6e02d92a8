import { text } from '../kernel/bytes.js'
import { type Clock, waitingTimers } from '../kernel/clock.js'
import { formatDuration } from '../kernel/duration.js'
import { iso } from '../kernel/instant.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { Timer } from '../kernel/time.js'
import { shownText } from '../secrets/urls.js'
import { refusal } from './explain-run.js'
import { near, quoted } from './stubs.js'
import type { WorkflowEngine } from './workflow-engine.js'
import type { VendorRunState, Wait, WorkflowRunState } from './workflow-run.js'

/** How a workflow run ends: the argument of `advanceToEnd()`. */
export type WorkflowRunEnd = 'success' | 'failed' | 'canceled'

export const endStates: Readonly<Record<WorkflowRunEnd, VendorRunState>> = {
  success: 'RUN_SUCCESS',
  failed: 'RUN_FAILED',
  canceled: 'RUN_CANCELED',
}

/** What moves a run on, and tells of it. */
export interface RunAdvancer {
  readonly clock: Clock
  /** The run step by step, as a text. */
  story(runId: string): string
}

/** Where a run is to come. */
interface AdvanceGoal {
  /** `reach step 'charge'`. */
  readonly what: string
  isReached(): boolean
  /** Whether time stops at once, or when the present moment is over. */
  readonly stopsAtOnce: boolean
  /** More about why it was not reached. */
  hint(): string
}

/** @throws TypeError */
export function reached(run: WorkflowRunState, step: string, nth: number): AdvanceGoal {
  if (typeof step !== 'string' || step === '') throw new TypeError('advanceToStep() needs the name of a step.')
  if (!(Number.isSafeInteger(nth) && nth > 0)) {
    throw new TypeError(
      `advanceToStep() takes which of the steps called ${quoted(step)} it is, from 1; got ${String(nth)}.`,
    )
  }
  const count = (): number =>
    run.steps.filter((one) => one.stepName === step).length + (run.failingStep === step ? 1 : 0)
  return {
    what: `reach step ${quoted(step)}${nth === 1 ? '' : ` number ${nth}`}`,
    isReached: () => count() >= nth,
    stopsAtOnce: true,
    hint: () => {
      const names = new Set(run.steps.map(({ stepName }) => stepName))
      if (names.has(step)) return ` It came to ${quoted(step)} ${count()} times.`
      return ` There was no step ${quoted(step)}${near(step, names)}.`
    },
  }
}

export function ended(run: WorkflowRunState, state: WorkflowRunEnd | undefined): AdvanceGoal {
  return {
    what: state === undefined ? 'end' : `end with ${quoted(state)}`,
    isReached: () => (state === undefined ? !run.isStarted : run.state === endStates[state]),
    stopsAtOnce: false,
    hint: () => {
      if (run.failure === undefined) return ''
      const { status, body, error } = run.failure
      const told = parsedJson(text(body)) as { message?: unknown } | undefined
      const why = typeof told?.message === 'string' ? told.message : (error ?? `status ${status}`)
      return ` It failed with: ${shownText(why)}`
    },
  }
}

/** How often a watcher looks where time moves by itself, in milliseconds. */
const pollIntervalMs = 5

/** Moves time until a run has come where it should. */
export async function advanceUntil(
  engine: WorkflowEngine,
  course: RunAdvancer,
  run: WorkflowRunState,
  goal: AdvanceGoal,
): Promise<void> {
  const { clock } = course
  const fail = (why: string): Error => {
    const error = new Error(`Run ${run.id} did not ${goal.what}: ${why}${goal.hint()}\n\n${course.story(run.id)}`)
    error.name = 'RunNotThere'
    return error
  }
  const isDecided = (): boolean => goal.isReached() || !run.isStarted
  await clock.settle()
  while (!isDecided()) {
    if (engine.get(run.id) !== run) throw fail('it has been forgotten.')
    const next = nextTimer(clock, run)
    if (next === undefined) throw fail(nothingLeft(run))
    const wait = waitsOf(run).find(({ timer }) => timer === next)
    if (wait !== undefined) throw fail(unsent(wait, clock.now()))
    if (clock.mode === 'real') await pause(clock)
    else await clock.advanceTo(Math.max(next.at, clock.now()), goal.stopsAtOnce ? { until: isDecided } : {})
  }
  if (!goal.isReached()) throw fail(`it has ended, ${run.state} at ${iso(run.completedAt ?? clock.now())}.`)
}

/** The next thing that happens, but for what renews itself for ever: unless the run itself waits for that. */
function nextTimer(clock: Clock, run: WorkflowRunState): Timer | undefined {
  const timers = waitingTimers(clock)
  const own = new Set<Timer | undefined>(run.entries.map(({ message }) => message.timer))
  return timers.find((timer) => !timer.background || own.has(timer))
}

function nothingLeft({ refused }: WorkflowRunState): string {
  return `nothing is left to happen${refused === undefined ? '.' : `: ${refusal(refused)}`}`
}

/** The waits of a run, and of those that it has invoked. */
function waitsOf(run: WorkflowRunState): Wait[] {
  const invoked = run.steps.flatMap((step) => (step.invoked?.isStarted === true ? [step.invoked] : []))
  return [...(run.waits ?? []), ...invoked.flatMap(waitsOf)]
}

function unsent({ eventId, step, deadline }: Wait, now: number): string {
  const event = quoted(eventId)
  return (
    `step ${quoted(step.stepName)} waits for event ${event}, which nobody sends, and would time out in ${formatDuration(deadline - now)}. ` +
    `Promise it: workflow.stubEvent(${event}, data), or workflow.stubEvent(${event}).timesOut(); or let the time pass with clock.advance().`
  )
}

/** Where time is the host's. */
function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(clock.now() + pollIntervalMs, 'a look at a run', () => resolve(), { background: true })
  })
}
