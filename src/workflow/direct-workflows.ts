import { bindMethods } from '../kernel/bind-methods.js'
import { text } from '../kernel/bytes.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { fieldsOf, ReadonlyView } from '../kernel/views.js'
import type { BulkAction } from '../queue/bulk-actions.js'
import { type CommonFilter, commonFilterNames, type FilterValue, filterQuery } from '../queue/direct-filters.js'
import { shownUrl } from '../secrets/urls.js'
import { advanceUntil, ended, endStates, type RunAdvancer, reached, type WorkflowRunEnd } from './advance-run.js'
import { explainRun } from './explain-run.js'
import { historyOfRun, type RunHistory, type RunHistoryOptions } from './run-history.js'
import { type EventStub, eventBytes, jsonOf, quoted, type StubError } from './stubs.js'
import type { WorkflowEngine } from './workflow-engine.js'
import { workflowInternals } from './workflow-internals.js'
import type { VendorRunState, WorkflowRunState } from './workflow-run.js'

const { attach, of } = workflowInternals

export type WorkflowsEffects = MethodEffects<
  Workflow,
  {
    getRun: 'reads'
    cancelRuns: 'changes'
    notify: 'changes'
    stubStep: 'reads'
    stubEvent: 'changes'
    skipSleeps: 'changes'
    skipRetryDelays: 'changes'
  }
>

/** Options of `workflow.notify()`. */
export interface NotifyOptions {
  /** ID of the only run that receives the event. Default: every run that waits for the event. */
  readonly runId?: string | undefined
}

/** Filters of `workflow.cancelRuns()`. A run must match all filters. Without a filter, every run matches. */
export interface WorkflowRunFilter extends CommonFilter {
  /** URL of the workflow. */
  readonly workflowUrl?: FilterValue
  /** Beginning of the URL of the workflow. */
  readonly workflowUrlStartingWith?: FilterValue
}

const runFilterNames: Readonly<Record<keyof WorkflowRunFilter, true>> = {
  ...commonFilterNames,
  workflowUrl: true,
  workflowUrlStartingWith: true,
}

const notifyOptionNames: Readonly<Record<keyof NotifyOptions, true>> = { runId: true }

/** Checks the options of `notify()`. @throws TypeError when `options` is not an object with these names */
function checkNotify(options: NotifyOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`workflow.notify(): the third argument must be { runId } (got ${shown(options)}).`)
  }
  checkOptionNames('workflow.notify()', options, Object.keys(notifyOptionNames))
}

/** The workflow runs of a sandbox. A test uses them directly, without HTTP and without a token. */
export class Workflow {
  static {
    bindMethods(Workflow)
  }

  readonly #inputs: InputRecorder<Changes<WorkflowsEffects>>

  /** @internal */
  constructor(engine: WorkflowEngine, course: RunAdvancer, inputs: InputRecorder = unrecorded) {
    attach(this, { engine, course })
    this.#inputs = inputs
  }

  /** All runs in memory, oldest first. A run that has ended stays in memory for the retention time of logs. */
  get runs(): readonly WorkflowRun[] {
    return of(this)
      .engine.records.select({})
      .items.map((run) => this.#handOut(run))
  }

  /**
   * Returns a run by its ID.
   * @throws TypeError when there is no such run; the message lists the known runs
   * @example
   * const { workflowRunId } = await client.trigger({ url: 'https://shop.test/api/order' })
   * sandbox.workflow.getRun(workflowRunId).state // 'RUN_STARTED'
   */
  getRun(id: string): WorkflowRun {
    const run = of(this).engine.get(id)
    if (run !== undefined) return this.#handOut(run)
    const known = this.runs.map((one) => `${one.id} of ${shownUrl(one.url)}`)
    throw new TypeError(
      `workflow.getRun(${JSON.stringify(id)}): no such run. ${known.length === 0 ? 'Trigger a run first.' : `Use one of these runs: ${known.slice(0, 5).join(', ')}.`}`,
    )
  }

  /**
   * Cancels all runs that match the filters and have not ended, as one bulk action. Without filters, cancels all. With
   * the policy `bulkActionTime`, the action is in progress until that time has passed.
   * @throws TypeError when a filter is unknown or has no value
   * @throws Error when the API would reject the cancel, with the text of its response
   * @example
   * await client.trigger({ url: 'https://shop.test/api/order' })
   * const { total } = sandbox.workflow.cancelRuns({ workflowUrl: 'https://shop.test/api/order' })
   */
  cancelRuns(filter: WorkflowRunFilter = {}): BulkAction {
    const called = 'workflow.cancelRuns()'
    const [given] = this.#inputs.record('cancelRuns', filter)
    const query = filterQuery(called, given, runFilterNames)
    const start = query.get('workflowUrlStartingWith')
    if (start !== undefined) {
      if (query.has('workflowUrl'))
        throw new TypeError(`${called}: workflowUrl and workflowUrlStartingWith exclude each other. Use one of them.`)
      query.delete('workflowUrlStartingWith')
      query.set('workflowUrl', start)
    } else if (query.has('workflowUrl')) query.set('workflowUrlExactMatch', ['true'])
    return of(this).engine.queue.bulkActions.begin('runs', query)
  }

  /** Bulk actions that cancel runs, of the last seven days, oldest first. */
  get bulkActions(): readonly BulkAction[] {
    return of(this).engine.queue.bulkActions.select('runs', {}).items
  }

  #handOut(run: WorkflowRunState): WorkflowRun {
    const { engine, course } = of(this)
    return new WorkflowRun(run, engine, course, this.#inputs.below(['getRun', run.id]))
  }

  /**
   * Sends an event to the runs that wait for it, as `client.notify()` does.
   * @param options.runId ID of the only run that receives the event. If this run does not wait yet, its next wait
   * receives the event
   * @returns the number of waits that the event ended
   * @example
   * await run.advanceToStep('approval')
   * expect(sandbox.workflow.notify('approved', { by: 'Ada' })).toBe(1)
   */
  notify(eventId: string, data?: unknown, options: NotifyOptions = {}): number {
    checkNotify(options)
    const [id, given, { runId }] = this.#inputs.record('notify', eventId, data, options)
    return of(this).engine.notify(id, eventBytes(given), runId).length
  }

  /**
   * Stubs a step in every run. The body of the step does not run, and the app needs no change.
   * @param name name of the step
   * @param nth which of the steps with this name in a run, counted from 1. Default: all of them
   * @throws TypeError when the name or the number is invalid
   * @example sandbox.workflow.stubStep('charge').returns({ id: 'ch_1' })
   */
  stubStep(name: string, nth?: number): StepStubBuilder {
    const called = 'workflow.stubStep()'
    if (typeof name !== 'string' || name === '')
      throw new TypeError(`${called}: the first argument must be the name of a step (got ${shown(name)}).`)
    if (nth !== undefined && !(Number.isSafeInteger(nth) && nth > 0)) {
      throw new TypeError(
        `${called}: nth must be a whole number from 1 (got ${shown(nth)}). It selects one of the steps named ${quoted(name)}.`,
      )
    }
    return new StepStubBuilder(of(this).engine, name, nth, this.#inputs.below(['stubStep', name, nth]))
  }

  /**
   * Stubs an event. The first run that waits for the event receives it immediately. The stub is used once.
   * @param data data of the event, as for `client.notify()`; default: none
   * @throws TypeError when the ID is empty or JSON cannot represent the data
   * @example sandbox.workflow.stubEvent('approved', { by: 'Ada' })
   * @example sandbox.workflow.stubEvent('approved').timesOut()
   */
  stubEvent(eventId: string, data?: unknown): EventStubBuilder {
    const [, given] = this.#inputs.record('stubEvent', eventId, data)
    if (typeof eventId !== 'string' || eventId === '') {
      throw new TypeError(
        `workflow.stubEvent(): the first argument must be the ID of an event (got ${shown(eventId)}).`,
      )
    }
    if (!(given instanceof Uint8Array)) jsonOf(given, `workflow.stubEvent(${quoted(eventId)}, …)`)
    const { engine } = of(this)
    const verb = engine.script.verbs.addEvent(eventId, { does: 'arrives', data: eventBytes(given) })
    // The test may still call `timesOut()` on the stub that this method returns. So runs that already wait get the
    // event only after the current code has finished, or when time moves.
    engine.script.soon(eventId)
    return this.promised(verb.number)
  }

  /**
   * Returns the stub of an event by its number. With the number, a replay of the journal finds the stub on which
   * `timesOut()` was called.
   */
  protected promised(number: number): EventStubBuilder {
    const { engine } = of(this)
    return new EventStubBuilder(engine, engine.script.verbs.event(number), this.#inputs.below(['promised', number]))
  }

  /**
   * Ends all present and future sleeps of runs immediately.
   * @example
   * sandbox.workflow.skipSleeps()
   * await run.advanceToStep('approval')
   */
  skipSleeps(): void {
    this.#inputs.record('skipSleeps')
    of(this).engine.script.skipSleeps()
  }

  /**
   * Makes failed deliveries of runs retry immediately, without their backoff. This includes retries that are already
   * waiting.
   * @example
   * sandbox.workflow.skipRetryDelays()
   * sandbox.workflow.stubStep('charge').throws('card declined', { times: 2 })
   * await run.advanceToStep('approval')
   */
  skipRetryDelays(): void {
    this.#inputs.record('skipRetryDelays')
    of(this).engine.script.skipRetryDelays()
  }

  /**
   * One message per unused stub. A stub is unused if, for example, its name is misspelled or no run waited for its
   * event.
   */
  get unused(): readonly string[] {
    return of(this).engine.script.unused
  }
}

export type StepEffects = MethodEffects<StepStubBuilder, { returns: 'changes'; throws: 'changes'; timesOut: 'changes' }>

/** Stub of a step. Its methods set how the step ends. */
export class StepStubBuilder {
  static {
    bindMethods(StepStubBuilder)
  }

  readonly #engine: WorkflowEngine
  readonly #name: string
  readonly #nth: number | undefined
  readonly #inputs: InputRecorder<Changes<StepEffects>>

  /** @internal */
  constructor(engine: WorkflowEngine, name: string, nth: number | undefined, inputs: InputRecorder) {
    this.#engine = engine
    this.#name = name
    this.#nth = nth
    this.#inputs = inputs
  }

  get #called(): string {
    return `workflow.stubStep(${quoted(this.#name)})`
  }

  /**
   * Makes the step return this value without running its body. For a call, the value is `{ status, body, header }`, or
   * only the body of a response with status 200. For a wait, it is the data of the event. For an invocation, it is
   * `{ body, isFailed, isCanceled }`, or only the body. A sleep ends immediately.
   * @throws TypeError when JSON cannot represent the value
   * @example sandbox.workflow.stubStep('charge').returns({ id: 'ch_1' })
   */
  returns(value?: unknown): this {
    const [given] = this.#inputs.record('returns', value)
    const json = jsonOf(given, `${this.#called}.returns()`)
    const kept: unknown = json === undefined ? undefined : JSON.parse(json)
    this.#engine.script.verbs.addStep(this.#name, this.#nth, { does: 'returns', value: kept })
    return this
  }

  /**
   * Makes the step throw this error instead of running its body. The queue handles the error like an error response of
   * the endpoint, and retries the delivery. A `WorkflowNonRetryableError` fails the run immediately.
   * @param options.times number of attempts that throw; default: all of them
   * @throws TypeError when an argument is invalid
   * @example sandbox.workflow.stubStep('charge').throws(new Error('card declined'), { times: 2 })
   */
  throws(error: Error | string | StubError = 'the step failed', options: { readonly times?: number } = {}): this {
    const called = `${this.#called}.throws()`
    checkOptionNames(called, options, { times: true })
    const [given, { times }] = this.#inputs.record('throws', error, options)
    const told = typeof given === 'string' ? { message: given } : given
    if (typeof told !== 'object' || told === null || typeof told.message !== 'string') {
      throw new TypeError(
        `${called}: the argument must be an Error, a message, or { name, message } (got ${shown(given)}).`,
      )
    }
    if (!(told instanceof Error))
      checkOptionNames(`The error of ${called}`, told, { name: true, message: true, stack: true, retryAfter: true })
    const { name, message, stack, retryAfter } = told as StubError
    const fate = { does: 'throws', error: { name, message, stack, retryAfter } } as const
    this.#engine.script.verbs.addStep(this.#name, this.#nth, fate, timesOf(called, times))
    return this
  }

  /**
   * Makes the endpoint of the step never respond, so that the attempt times out. If the step waits for an event, the
   * wait times out immediately.
   * @example sandbox.workflow.stubStep('charge').timesOut({ times: 1 })
   */
  timesOut(options: { readonly times?: number } = {}): this {
    checkOptionNames(`${this.#called}.timesOut()`, options, { times: true })
    const [{ times }] = this.#inputs.record('timesOut', options)
    const count = timesOf(`${this.#called}.timesOut()`, times)
    this.#engine.script.verbs.addStep(this.#name, this.#nth, { does: 'timesOut' }, count)
    return this
  }
}

export type EventEffects = MethodEffects<EventStubBuilder, { timesOut: 'changes' }>

/** Stub of the next wait for an event. By default, the event arrives. */
export class EventStubBuilder {
  static {
    bindMethods(EventStubBuilder)
  }

  readonly #engine: WorkflowEngine
  readonly #verb: EventStub
  readonly #inputs: InputRecorder<Changes<EventEffects>>

  /** @internal */
  constructor(engine: WorkflowEngine, verb: EventStub, inputs: InputRecorder) {
    this.#engine = engine
    this.#verb = verb
    this.#inputs = inputs
  }

  /**
   * Makes the wait for the event end immediately with a timeout, as if the event had never arrived.
   * @example sandbox.workflow.stubEvent('approved').timesOut()
   */
  timesOut(): this {
    this.#inputs.record('timesOut')
    this.#verb.fate = { does: 'timesOut' }
    this.#engine.script.soon(this.#verb.eventId)
    return this
  }
}

function timesOf(called: string, times: unknown): number | undefined {
  if (times === undefined || (Number.isSafeInteger(times) && (times as number) > 0)) return times as number | undefined
  throw new TypeError(
    `${called}: times must be a whole number from 1 (got ${shown(times)}). Omit it for every attempt.`,
  )
}

function shown(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : String(value)
}

/** State of a workflow run. */
export interface RunView {
  /** ID of the workflow run, `wfr_…`. */
  readonly id: string
  /** URL of the workflow, to which the steps of the run are delivered. */
  readonly url: string
  /** State of the run, in the spelling of the service: `RUN_STARTED`, `RUN_SUCCESS`, `RUN_FAILED` or `RUN_CANCELED`. */
  readonly state: VendorRunState
  /** Virtual time of the creation, in milliseconds since the epoch. */
  readonly createdAt: number
  /** Virtual time of the end, in milliseconds since the epoch; `undefined` until the run ends. */
  readonly completedAt?: number | undefined
  /** Value that the run returned, as parsed JSON. `undefined` until the run ends, or if the run returned nothing. */
  readonly result?: unknown
}

const runReaders: { readonly [Name in keyof RunView]-?: (run: WorkflowRunState) => RunView[Name] } = {
  id: (run) => run.id,
  url: (run) => run.url,
  state: (run) => run.state,
  createdAt: (run) => run.createdAt,
  completedAt: (run) => run.completedAt,
  result: ({ result }) => {
    if (result === undefined || result === '') return undefined
    try {
      return JSON.parse(text(result))
    } catch {
      return text(result)
    }
  },
}

let runFields: PropertyDescriptorMap

export type RunEffects = MethodEffects<
  WorkflowRun,
  {
    explain: 'reads'
    history: 'reads'
    cancel: 'changes'
    advanceToStep: 'reads'
    advanceToEnd: 'reads'
    toJSON: 'reads'
  }
>

/** One workflow run. Reading a field always returns its current value. */
export class WorkflowRun extends ReadonlyView implements RunView {
  /** ID of the workflow run, `wfr_…`. */
  declare readonly id: string
  /** URL of the workflow, to which the steps of the run are delivered. */
  declare readonly url: string
  /** State of the run, in the spelling of the service: `RUN_STARTED`, `RUN_SUCCESS`, `RUN_FAILED` or `RUN_CANCELED`. */
  declare readonly state: VendorRunState
  /** Virtual time of the creation, in milliseconds since the epoch. */
  declare readonly createdAt: number
  /** Virtual time of the end, in milliseconds since the epoch; `undefined` until the run ends. */
  declare readonly completedAt: number | undefined
  /** Value that the run returned, as parsed JSON. `undefined` until the run ends, or if the run returned nothing. */
  declare readonly result: unknown
  /** Returns the current fields of the run as a plain object. */
  declare toJSON: () => RunView

  static {
    // biome-ignore lint/complexity/noThisInStatic: the bundler would rename `WorkflowRun` if it were used here, and diffs show the class name
    bindMethods(this)
    runFields = fieldsOf(runReaders, (run: WorkflowRun) => run.#run)
  }

  readonly #run: WorkflowRunState
  readonly #engine: WorkflowEngine
  readonly #course: RunAdvancer
  readonly #inputs: InputRecorder<Changes<RunEffects>>

  /** @internal */
  constructor(run: WorkflowRunState, engine: WorkflowEngine, course: RunAdvancer, inputs: InputRecorder) {
    super()
    this.#run = run
    this.#engine = engine
    this.#course = course
    this.#inputs = inputs
    Object.defineProperties(this, runFields)
  }

  /**
   * Explains why the run is in its current state. For example, it states what each unfinished step waits for.
   * @example console.log(run.explain())
   */
  explain(): string {
    return explainRun(this.#run, this.#engine)
  }

  /**
   * Returns the run history as plain JSON. You can save it and later replay it against a newer version of your code.
   * @param options.secrets whether to include headers that look like secrets and texts that the trigger redacts;
   * default: false
   * @example
   * await run.advanceToStep('charge')
   * writeFileSync('run.json', JSON.stringify(run.history()))
   */
  history(options: RunHistoryOptions = {}): RunHistory {
    checkOptionNames('history()', options, { secrets: true })
    return historyOfRun(this.#run, options)
  }

  /**
   * Cancels the run.
   * @throws Error when the run has already ended
   * @example
   * run.cancel()
   * expect(run.state).toBe('RUN_CANCELED')
   */
  cancel(): void {
    const { id, createdAt } = this.#run
    const named = String(createdAt)
    // A later run may have this ID, and the recorded call names only the ID. So a call that throws is not recorded.
    this.#engine.running(id, named)
    this.#inputs.record('cancel')
    this.#engine.completion.cancel(id, undefined, named)
  }

  /**
   * Advances the clock until the run reaches a step. A step is reached when the run submits or plans it, when it waits,
   * sleeps or makes a call, or when it fails.
   * @param nth which of the steps with this name, counted from 1. Default: 1
   * @throws Error with the lifecycle of the run when the run cannot reach the step
   * @example
   * await run.advanceToStep('approval')
   * sandbox.workflow.notify('approved', { by: 'Ada' })
   * await run.advanceToEnd('success')
   */
  async advanceToStep(step: string, nth = 1): Promise<void> {
    await advanceUntil(this.#engine, this.#course, this.#run, reached(this.#run, step, nth))
  }

  /**
   * Advances the clock until the run has ended and everything that is due at that instant has happened.
   * @param state state in which the run must end; default: any
   * @throws Error with the lifecycle of the run when the run ends in another state or does not end
   * @example
   * sandbox.workflow.stubEvent('approved', { by: 'Ada' })
   * await run.advanceToEnd('success')
   * expect(run.state).toBe('RUN_SUCCESS')
   */
  async advanceToEnd(state?: WorkflowRunEnd): Promise<void> {
    if (state !== undefined && !Object.hasOwn(endStates, state)) {
      throw new TypeError(
        `advanceToEnd(): the state must be ${Object.keys(endStates).map(quoted).join(', ')} (got ${shown(state)}).`,
      )
    }
    await advanceUntil(this.#engine, this.#course, this.#run, ended(this.#run, state))
  }
}
