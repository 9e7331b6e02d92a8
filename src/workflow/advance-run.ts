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

/** What advancing a run needs: the clock, and a function that describes the run in error messages. */
export interface RunAdvancer {
  readonly clock: Clock
  /** Returns the lifecycle of a run as text, step by step. */
  story(runId: string): string
}

/** The goal of an advance. Time stops when the goal is reached. */
interface AdvanceGoal {
  /** The goal as part of an error message, such as `reach step 'charge'`. */
  readonly what: string
  isReached(): boolean
  /**
   * `true`: time stops as soon as the goal is reached. `false`: first, everything that is due at the same instant
   * happens.
   */
  readonly stopsAtOnce: boolean
  /** Returns a text that helps to explain why the goal was not reached, or `''`. */
  hint(): string
}

/**
 * Returns the goal to reach a step.
 * @throws TypeError when the name or the number is invalid
 */
export function reached(run: WorkflowRunState, step: string, nth: number): AdvanceGoal {
  if (typeof step !== 'string' || step === '')
    throw new TypeError('advanceToStep(): the first argument must be the name of a step.')
  if (!(Number.isSafeInteger(nth) && nth > 0)) {
    throw new TypeError(`advanceToStep(${quoted(step)}, nth): nth must be a whole number from 1 (got ${String(nth)}).`)
  }
  const count = (): number =>
    run.steps.filter((one) => one.stepName === step).length + (run.failingStep === step ? 1 : 0)
  return {
    what: `reach step ${quoted(step)}${nth === 1 ? '' : ` number ${nth}`}`,
    isReached: () => count() >= nth,
    stopsAtOnce: true,
    hint: () => {
      const names = new Set(run.steps.map(({ stepName }) => stepName))
      if (names.has(step)) return ` ${quoted(step)} was reached ${count()} times.`
      return ` No step ${quoted(step)} was reached${near(step, names)}.`
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

/** Interval between two checks of a run if the clock is in mode `real`, in milliseconds of host time. */
const pollIntervalMs = 5

/**
 * Advances the clock until a run reaches a goal.
 * @throws Error with the lifecycle of the run when the run cannot reach the goal
 */
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
    if (engine.get(run.id) !== run) throw fail('the run was removed together with its log.')
    const next = nextTimer(clock, run)
    if (next === undefined) throw fail(nothingLeft(run))
    const wait = waitsOf(run).find(({ timer }) => timer === next)
    if (wait !== undefined) throw fail(unsent(wait, clock.now()))
    if (clock.mode === 'real') await pause(clock)
    else await clock.advanceTo(Math.max(next.at, clock.now()), goal.stopsAtOnce ? { until: isDecided } : {})
  }
  if (!goal.isReached()) throw fail(`the run ended with ${run.state} at ${iso(run.completedAt ?? clock.now())}.`)
}

/**
 * Returns the next timer that can move the run forward. A background timer recurs forever, so it counts only if it
 * belongs to the run.
 */
function nextTimer(clock: Clock, run: WorkflowRunState): Timer | undefined {
  const timers = waitingTimers(clock)
  const own = new Set<Timer | undefined>(run.entries.map(({ message }) => message.timer))
  return timers.find((timer) => !timer.background || own.has(timer))
}

function nothingLeft({ refused }: WorkflowRunState): string {
  return `no timer is left that could move the run${refused === undefined ? '.' : `: ${refusal(refused)}`}`
}

/** Returns the waits of a run and of the runs that it invoked. */
function waitsOf(run: WorkflowRunState): Wait[] {
  const invoked = run.steps.flatMap((step) => (step.invoked?.isStarted === true ? [step.invoked] : []))
  return [...(run.waits ?? []), ...invoked.flatMap(waitsOf)]
}

function unsent({ eventId, step, deadline }: Wait, now: number): string {
  const event = quoted(eventId)
  return (
    `step ${quoted(step.stepName)} waits for event ${event}, which was not sent. The wait would time out in ${formatDuration(deadline - now)}. ` +
    `Stub it with workflow.stubEvent(${event}, data) or workflow.stubEvent(${event}).timesOut(), or move time with clock.advance().`
  )
}

/** Waits until the next check of a run on a clock in mode `real`. */
function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(clock.now() + pollIntervalMs, 'next check of a run', () => resolve(), { background: true })
  })
}
