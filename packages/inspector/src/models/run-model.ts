import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { isOf } from '../entry-kinds.js'
import type { StoreInstant } from './store-model.js'

// Computes the state of workflow runs at any instant from the entries of the log.

type ShownRunState = 'started' | 'success' | 'failed' | 'canceled'
type ShownStepState = 'done' | 'planned' | 'waiting' | 'running' | 'failed'

export interface StepAt {
  readonly id: number
  readonly name: string
  /** Type of the step: `Run`, `SleepFor`, `Call`, `Wait` … */
  readonly type: string
  readonly state: ShownStepState
  /** `seq` of the first entry about the step. */
  readonly seq: number
  /** Number of deliveries of the step. */
  readonly attempts: number
  readonly wait?: { readonly eventId: string; readonly until: number; readonly notifiedBy?: number }
  readonly invokedRunId?: string
}

export interface RunAt {
  readonly id: string
  readonly url: string
  readonly region?: string | undefined
  readonly state: ShownRunState
  readonly start: EntryOf<'workflow'>
  readonly end?: EntryOf<'workflow'>
  readonly steps: readonly StepAt[]
}

type Attempt = EntryOf<'attempt'>
type Writable<T> = { -readonly [K in keyof T]: T[K] }

interface Step extends Writable<StepAt> {
  carrier: string | undefined
}

class Run {
  end: EntryOf<'workflow'> | undefined
  readonly steps: Step[] = []
  readonly attempts = new Map<string, Attempt[]>()
  readonly #messages = new Set<string>()
  /** ID of the message that carried the last step of the run. */
  latest: string | undefined

  constructor(readonly start: EntryOf<'workflow'>) {}

  carries(messageId: string): void {
    if (this.#messages.has(messageId)) return
    this.#messages.add(messageId)
    this.latest = messageId
  }

  step(id: number, name: string, type: string, seq: number): Step {
    let step = this.steps.find((known) => known.id === id)
    if (step === undefined) {
      step = { id, name, type, seq, state: 'running', attempts: 0, carrier: this.latest }
      this.steps.push(step)
    }
    return step
  }

  told(point: StoreInstant): RunAt {
    const { start, end } = this
    const state = end === undefined ? 'started' : (end.state.slice('RUN_'.length).toLowerCase() as ShownRunState)
    const steps = this.steps.map(({ carrier, ...step }): StepAt => {
      const attempts = this.attempts.get(carrier ?? '') ?? []
      const hasFailed = state === 'failed' && step.state !== 'done' && endOf(attempts.at(-1), point) === 'FAILED'
      return { ...step, attempts: attempts.length, ...(hasFailed && { state: 'failed' }) }
    })
    return { id: start.runId, url: start.url, region: start.region, state, start, ...(end && { end }), steps }
  }
}

function endOf(attempt: Attempt | undefined, { seq, at }: StoreInstant): string | undefined {
  const { outcome, endedAfterSeq = 0 } = attempt ?? {}
  return outcome !== undefined && outcome.at <= at && endedAfterSeq <= seq ? outcome.state : undefined
}

/** Changes that an entry makes to a workflow run, by entry type. */
const effects: Readonly<Record<string, (run: Run, entry: never) => void>> = {
  workflow(run, entry: EntryOf<'workflow'>) {
    if (entry.state !== 'RUN_STARTED') run.end = entry
  },
  attempt(run, entry: Attempt) {
    const known = run.attempts.get(entry.messageId)
    if (known === undefined) run.attempts.set(entry.messageId, [entry])
    else known.push(entry)
    // The first delivery, and a delivery with the settings of the next step, have no entry of a step.
    if (entry.kind === 'message' && entry.url === run.start.url) run.carries(entry.messageId)
  },
  step(run, { stepId, stepName, stepType, messageId, planned, seq }: EntryOf<'step'>) {
    const step = run.step(stepId, stepName, stepType, seq)
    if (planned) {
      if (step.state === 'running') step.state = 'planned'
      step.carrier = messageId
    } else Object.assign(step, { state: 'done', type: stepType })
    run.carries(messageId)
  },
  wait(run, { stepId, stepName, eventId, until, seq }: EntryOf<'wait'>) {
    Object.assign(run.step(stepId, stepName, 'Wait', seq), { state: 'waiting', wait: { eventId, until } })
  },
  invoke(run, { stepId, stepName, invokedRunId, seq }: EntryOf<'invoke'>) {
    run.step(stepId, stepName, 'Invoke', seq).invokedRunId = invokedRunId
  },
  notify(run, { eventId, seq }: EntryOf<'notify'>) {
    for (const step of run.steps) {
      if (step.wait?.eventId === eventId && step.wait.notifiedBy === undefined)
        step.wait = { ...step.wait, notifiedBy: seq }
    }
  },
}

/** Returns the workflow runs at this point of the log, oldest first. */
export function runsAt(entries: readonly TraceEntry[], point: StoreInstant): readonly RunAt[] {
  const all: Run[] = []
  /** The latest run with each ID. An ID can be used again when its run has ended. */
  const runs = new Map<string, Run>()
  for (const entry of entries) {
    const effect = effects[entry.type]
    if (effect === undefined || entry.seq > point.seq || entry.at > point.at) continue
    if (isOf(entry, 'workflow') && entry.state === 'RUN_STARTED') {
      const run = new Run(entry)
      all.push(run)
      runs.set(entry.runId, run)
    }
    for (const id of idsOf(entry)) {
      const run = runs.get(id)
      if (run !== undefined) effect(run, entry as never)
    }
  }
  return all.map((run) => run.told(point))
}

function idsOf({ type, runId, runIds, workflowRunId }: TraceEntry): readonly string[] {
  if (type === 'notify') return runIds as readonly string[]
  const id = type === 'attempt' ? workflowRunId : runId
  return id === undefined ? [] : [String(id)]
}
