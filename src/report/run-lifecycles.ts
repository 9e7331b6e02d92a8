import { type Bytes, fromBase64, text } from '../kernel/bytes.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { Entry, EntryOf, StepSettings } from '../kernel/traffic-log.js'

// Reconstructs workflow runs from the traffic log, step by step. Each step has the reason why it waited.

export type RunLifecycleState = 'started' | 'success' | 'failed' | 'canceled'

export type StepState = 'done' | 'planned' | 'waiting' | 'running' | 'failed'

export interface LifecycleWait {
  readonly entry: EntryOf<'wait'>
  /** Event that ended the wait. `undefined` while the wait lasts, and after a timeout. */
  notified?: EntryOf<'notify'>
}

export class StepLifecycle {
  plan: EntryOf<'step'> | undefined
  done: EntryOf<'step'> | undefined
  wait: LifecycleWait | undefined
  invoked: EntryOf<'invoke'> | undefined
  /**
   * ID of the message whose deliveries run the step. It is the message of the previous step, of the step's plan, or of
   * its call.
   */
  carrier: string | undefined

  constructor(
    readonly run: RunLifecycle,
    readonly id: number,
    readonly name: string,
    /** First entry about the step. */
    readonly pointer: Entry,
    public type: string,
  ) {}

  get state(): StepState {
    if (this.done !== undefined) return 'done'
    if (this.run.state === 'failed' && this.attempts.at(-1)?.outcome?.state === 'FAILED') return 'failed'
    if (this.wait !== undefined) return 'waiting'
    return this.plan === undefined ? 'running' : 'planned'
  }

  get attempts(): readonly EntryOf<'attempt'>[] {
    return this.carrier === undefined ? [] : this.run.attemptsOf(this.carrier)
  }

  /** Settings of the step itself. `undefined` if all of its settings come from the trigger. */
  get settings(): StepSettings | undefined {
    return this.carrier === undefined ? undefined : this.run.publishedOf(this.carrier)?.stepSettings
  }

  get timedOut(): boolean {
    return this.submitted?.waitTimeout === true
  }

  /** The step as its endpoint submitted it, parsed. */
  get submitted(): Readonly<Record<string, unknown>> | undefined {
    const message = (this.done ?? this.plan)?.messageId
    const parsed = message === undefined ? undefined : parsedJson(text(this.run.bodyOf(message)))
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined
  }

  /**
   * The value that the workflow's code gets from the step: the data of the event, the response of the call, or the
   * step's return value. `undefined` if the log does not contain it.
   */
  get result(): unknown {
    const out = this.done === undefined ? undefined : this.submitted?.out
    if (typeof out !== 'string') return undefined
    const isEvent = this.type === 'Wait' || this.type === 'WaitForWebhook'
    const told = isEvent ? text(fromBase64(out) ?? ('' as Bytes)) : out
    const value = parsedJson(told) ?? (told === 'null' ? null : told)
    return this.type === 'Call' || this.type === 'Invoke' ? withParsedBody(value) : value
  }

  /** Whether the publisher redacts the result of the step. */
  get isHidden(): boolean {
    const message = this.done?.messageId
    return message !== undefined && this.run.publishedOf(message)?.redact?.body === true
  }
}

function withParsedBody(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('body' in value) || typeof value.body !== 'string') return value
  return { ...value, body: parsedJson(value.body) ?? value.body }
}

export class RunLifecycle {
  readonly steps: StepLifecycle[] = []
  /** IDs of the messages of the run, in the order of the run's list. */
  readonly messages: string[] = []
  end: EntryOf<'workflow'> | undefined
  readonly #published: ReadonlyMap<string, EntryOf<'published'>>
  readonly #attempts = new Map<string, EntryOf<'attempt'>[]>()

  constructor(
    readonly start: EntryOf<'workflow'>,
    published: ReadonlyMap<string, EntryOf<'published'>>,
  ) {
    this.#published = published
  }

  get id(): string {
    return this.start.runId
  }

  get url(): string {
    return this.start.url
  }

  get state(): RunLifecycleState {
    const { end } = this
    return end === undefined ? 'started' : (end.state.slice('RUN_'.length).toLowerCase() as RunLifecycleState)
  }

  attempted(attempt: EntryOf<'attempt'>): void {
    const { messageId, kind, url } = attempt
    const known = this.#attempts.get(messageId)
    if (known !== undefined) {
      known.push(attempt)
      return
    }
    this.#attempts.set(messageId, [attempt])
    // No other entry shows that this message belongs to the run: it has the settings of the next step, or it exceeds a
    // limit.
    if (kind === 'message' && url === this.url && !this.messages.includes(messageId)) this.messages.push(messageId)
  }

  attemptsOf(messageId: string): readonly EntryOf<'attempt'>[] {
    return this.#attempts.get(messageId) ?? []
  }

  get attempts(): readonly EntryOf<'attempt'>[] {
    return [...this.#attempts.values()].flat()
  }

  publishedOf(messageId: string): EntryOf<'published'> | undefined {
    return this.#published.get(messageId)
  }

  bodyOf(messageId: string): Bytes {
    return this.publishedOf(messageId)?.body ?? ('' as Bytes)
  }

  step(id: number, name: string, type: string, pointer: Entry): StepLifecycle {
    let step = this.steps.find((one) => one.id === id)
    if (step === undefined) {
      step = new StepLifecycle(this, id, name, pointer, type)
      step.carrier = this.messages.at(-1)
      this.steps.push(step)
    }
    return step
  }

  /** The failed attempt that holds up the run, with the name of the step that it ran. */
  get failing(): { readonly attempt: EntryOf<'attempt'>; readonly step: string | undefined } | undefined {
    // When a run fails, its later messages are canceled. So the last message that failed is the cause.
    const failed = this.messages.findLast((one) => this.attemptsOf(one).at(-1)?.outcome?.state === 'FAILED')
    const last = this.attemptsOf((this.state === 'failed' ? failed : undefined) ?? this.messages.at(-1) ?? '').at(-1)
    if (last?.outcome === undefined || last.outcome.state === 'DELIVERED') return undefined
    const header = last.outcome.headers.find(([name]) => /-error-step-name$/i.test(name))
    return { attempt: last, step: header?.[1] }
  }

  get cost(): number {
    return costOf(this)
  }

  /** Number of finished steps. */
  get finishedSteps(): number {
    return this.steps.filter(({ done }) => done !== undefined).length
  }

  /** Bytes of the payload and of the results of all finished steps. */
  get contextBytes(): number {
    const known = this.steps.map(({ done }) => done?.contextBytes ?? 0)
    return Math.max(this.bodyOf(this.messages[0] ?? '').length, ...known)
  }
}

/** Number of billed messages of a step, by type of step. For all other types, it is 1. [workflow.md 11] */
const prices: Readonly<Record<string, number>> = { Call: 2 }

/**
 * Returns the number of billed messages of a run. A step counts 1, a call 2, a parallel step 1 more, and each retry 1.
 * [workflow.md 11]
 */
function costOf({ steps, attempts }: RunLifecycle): number {
  let cost = attempts.filter(({ retried }) => retried > 0).length
  for (const { plan, done, wait, invoked, type } of steps) {
    if (plan !== undefined) cost++
    if (done !== undefined || wait !== undefined || invoked !== undefined) cost += prices[type] ?? 1
  }
  return cost
}

const stepIdHeader = /-workflow-stepid$/i

/** Returns the runs of a log, oldest first. */
export function runsOf(entries: readonly Entry[]): readonly RunLifecycle[] {
  const all: RunLifecycle[] = []
  /** The latest run with each ID. An ID can be used again when its run has ended. */
  const runs = new Map<string, RunLifecycle>()
  const published = new Map<string, EntryOf<'published'>>()
  const beginnings = new Map<number, RunLifecycle>()
  const runOf = (id: string): RunLifecycle | undefined => runs.get(id)
  for (const entry of entries) {
    if (entry.type === 'workflow') {
      if (entry.state === 'RUN_STARTED') {
        const run = new RunLifecycle(entry, published)
        all.push(run)
        runs.set(entry.runId, run)
        beginnings.set(entry.seq, run)
      } else {
        const run = runOf(entry.runId)
        if (run !== undefined) run.end = entry
      }
    } else if (entry.type === 'published') {
      if (entry.deduplicated) continue
      published.set(entry.messageId, entry)
      beginnings.get(entry.cause ?? 0)?.messages.push(entry.messageId)
      if (entry.kind === 'callback') called(entry, runs, published)
    } else if (entry.type === 'attempt') {
      if (entry.workflowRunId !== undefined) runOf(entry.workflowRunId)?.attempted(entry)
    } else if (entry.type === 'step') stepped(entry, runOf(entry.runId))
    else if (entry.type === 'wait') {
      const step = runOf(entry.runId)?.step(entry.stepId, entry.stepName, 'Wait', entry)
      if (step !== undefined) step.wait = { entry }
    } else if (entry.type === 'notify') {
      for (const id of entry.runIds) notified(entry, runOf(id))
    } else if (entry.type === 'invoke') {
      const step = runOf(entry.runId)?.step(entry.stepId, entry.stepName, 'Invoke', entry)
      if (step !== undefined) step.invoked = entry
    }
  }
  return all
}

function stepped(entry: EntryOf<'step'>, run: RunLifecycle | undefined): void {
  if (run === undefined) return
  const { stepId, stepName, stepType, messageId, planned } = entry
  const step = run.step(stepId, stepName, stepType, entry)
  if (planned) {
    step.plan ??= entry
    step.carrier = messageId
  } else {
    step.done ??= entry
    step.type = stepType
  }
  run.messages.push(messageId)
}

function notified(entry: EntryOf<'notify'>, run: RunLifecycle | undefined): void {
  for (const { wait } of run?.steps ?? []) {
    if (wait?.entry.eventId === entry.eventId) wait.notified ??= entry
  }
}

/** Processes the callback of a call to a third party. Its entry contains the name of the step. */
function called(
  callback: EntryOf<'published'>,
  runs: ReadonlyMap<string, RunLifecycle>,
  published: ReadonlyMap<string, EntryOf<'published'>>,
): void {
  const id = Number(callback.headers.find(([name]) => stepIdHeader.test(name))?.[1] ?? Number.NaN)
  const { sourceMessageId } = callback
  if (!Number.isInteger(id) || sourceMessageId === undefined || !published.has(sourceMessageId)) return
  for (const run of runs.values()) {
    if (run.attemptsOf(sourceMessageId).length === 0) continue
    const name = callback.headers.find(([header]) => /-workflow-stepname$/i.test(header))?.[1] ?? ''
    run.step(id, name, 'Call', callback).carrier = sourceMessageId
    return
  }
}
