import { bindMethods } from '../kernel/bind-methods.js'
import { text } from '../kernel/bytes.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { internals } from '../kernel/internals.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { fieldsOf, ReadonlyView } from '../kernel/views.js'
import { shownUrl } from '../secrets/urls.js'
import { advanceUntil, ended, endStates, type RunAdvancer, reached, type WorkflowRunEnd } from './advance-run.js'
import { explainRun } from './explain-run.js'
import { historyOfRun, type RunHistory, type RunHistoryOptions } from './run-history.js'
import { type EventStub, eventBytes, jsonOf, quoted, type StubError } from './stubs.js'
import type { WorkflowEngine } from './workflow-engine.js'
import type { VendorRunState, WorkflowRunState } from './workflow-run.js'

interface WorkflowInternals {
  readonly engine: WorkflowEngine
  readonly course: RunAdvancer
}

const { attach, of } = internals<Workflow, WorkflowInternals>('workflows')

/** The engine behind the face, for the rest of the house. */
export const workflowsOf = (workflow: Workflow): WorkflowEngine => of(workflow).engine

export type WorkflowsEffects = MethodEffects<
  Workflow,
  {
    getRun: 'reads'
    notify: 'changes'
    stubStep: 'reads'
    stubEvent: 'changes'
    skipSleeps: 'changes'
    skipRetryDelays: 'changes'
  }
>

/** Whom an event is for. */
export interface NotifyOptions {
  /** Only this run. Default: every run that waits for the event. */
  readonly runId?: string | undefined
}

const notifyOptionNames: Readonly<Record<keyof NotifyOptions, true>> = { runId: true }

/** @throws TypeError for anything but an object with these names */
function checkNotify(options: NotifyOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `workflow.notify() takes an event, its data and { runId }: workflow.notify('approved', data, { runId }), got ${shown(options)}.`,
    )
  }
  checkOptionNames('workflow.notify()', options, Object.keys(notifyOptionNames))
}

/** The runs of workflows, spoken to directly by a test: no HTTP and no token. */
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

  /** Every run that is remembered, oldest first; those that ended are forgotten with the log. */
  get runs(): readonly WorkflowRun[] {
    return of(this)
      .engine.records.select({})
      .items.map((run) => this.#handOut(run))
  }

  /**
   * A run by its id.
   * @throws TypeError when there is none, with the runs that there are
   * @example
   * const { workflowRunId } = await client.trigger({ url: 'https://shop.test/api/order' })
   * sandbox.workflow.getRun(workflowRunId).state // 'RUN_STARTED'
   */
  getRun(id: string): WorkflowRun {
    const run = of(this).engine.get(id)
    if (run !== undefined) return this.#handOut(run)
    const known = this.runs.map((one) => `${one.id} of ${shownUrl(one.url)}`)
    throw new TypeError(
      `There is no run ${JSON.stringify(id)}. ${known.length === 0 ? 'No run has begun: trigger one first.' : `Runs: ${known.slice(0, 5).join(', ')}.`}`,
    )
  }

  #handOut(run: WorkflowRunState): WorkflowRun {
    const { engine, course } = of(this)
    return new WorkflowRun(run, engine, course, this.#inputs.below(['getRun', run.id]))
  }

  /**
   * Tells an event to the runs that wait for it, as `client.notify()` does.
   * @param options.runId tells it to this run only, and keeps it for the run's next wait if it does not wait yet
   * @returns how many waits it ended
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
   * Says what becomes of a step, in every run, without a change of the app: its body does not run.
   * @param name the step's name
   * @param nth which of the steps of this name in a run, from 1; all of them by default
   * @example sandbox.workflow.stubStep('charge').returns({ id: 'ch_1' })
   */
  stubStep(name: string, nth?: number): StepStubBuilder {
    const called = 'workflow.stubStep()'
    if (typeof name !== 'string' || name === '')
      throw new TypeError(`${called} needs the name of a step, got ${shown(name)}.`)
    if (nth !== undefined && !(Number.isSafeInteger(nth) && nth > 0)) {
      throw new TypeError(`${called} takes which of the steps called ${quoted(name)} it is, from 1; got ${shown(nth)}.`)
    }
    return new StepStubBuilder(of(this).engine, name, nth, this.#inputs.below(['stubStep', name, nth]))
  }

  /**
   * Promises an event: it comes, once, as soon as somebody waits for it.
   * @param data as for `client.notify()`; none by default
   * @example sandbox.workflow.stubEvent('approved', { by: 'Ada' })
   * @example sandbox.workflow.stubEvent('approved').timesOut()
   */
  stubEvent(eventId: string, data?: unknown): EventStubBuilder {
    const [, given] = this.#inputs.record('stubEvent', eventId, data)
    if (typeof eventId !== 'string' || eventId === '') {
      throw new TypeError(`workflow.stubEvent() needs the id of an event, got ${shown(eventId)}.`)
    }
    if (!(given instanceof Uint8Array)) jsonOf(given, `workflow.stubEvent(${quoted(eventId)}, …)`)
    const { engine } = of(this)
    const verb = engine.script.verbs.addEvent(eventId, { does: 'arrives', data: eventBytes(given) })
    // `timesOut()` may follow: who waits already is told when the present code is done, or time moves.
    engine.script.soon(eventId)
    return this.promised(verb.number)
  }

  /** A promise that was made before, by its number: `timesOut()` of it is played again on it. */
  protected promised(number: number): EventStubBuilder {
    const { engine } = of(this)
    return new EventStubBuilder(engine, engine.script.verbs.event(number), this.#inputs.below(['promised', number]))
  }

  /**
   * Sleeps take no time: those to come and those under way.
   * @example
   * sandbox.workflow.skipSleeps()
   * await run.advanceToStep('approval')
   */
  skipSleeps(): void {
    this.#inputs.record('skipSleeps')
    of(this).engine.script.skipSleeps()
  }

  /**
   * Failed deliveries of runs are retried at once, whatever their back-off, those to come and those that wait now.
   * @example
   * sandbox.workflow.skipRetryDelays()
   * sandbox.workflow.stubStep('charge').throws('card declined', { times: 2 })
   * await run.advanceToStep('approval')
   */
  skipRetryDelays(): void {
    this.#inputs.record('skipRetryDelays')
    of(this).engine.script.skipRetryDelays()
  }

  /** A sentence for each verb that nothing has met: a misspelt name, an event that nobody waited for. */
  get unused(): readonly string[] {
    return of(this).engine.script.unused
  }
}

export type StepEffects = MethodEffects<StepStubBuilder, { returns: 'changes'; throws: 'changes'; timesOut: 'changes' }>

/** What may become of a step. */
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
   * Its result is this, and its body never runs. Of a call: `{ status, body, header }`, or the body of a 200; of a wait:
   * the event's data; of an invocation: `{ body, isFailed, isCanceled }`, or the body; a sleep ends at once.
   * @throws TypeError for a value that JSON cannot hold
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
   * Its body throws this, as its endpoint would tell the queue, whose retries follow: so many times, or always.
   * A `WorkflowNonRetryableError` fails the run at once.
   * @example sandbox.workflow.stubStep('charge').throws(new Error('card declined'), { times: 2 })
   */
  throws(error: Error | string | StubError = 'the step failed', options: { readonly times?: number } = {}): this {
    const called = `${this.#called}.throws()`
    checkOptionNames(called, options, { times: true })
    const [given, { times }] = this.#inputs.record('throws', error, options)
    const told = typeof given === 'string' ? { message: given } : given
    if (typeof told !== 'object' || told === null || typeof told.message !== 'string') {
      throw new TypeError(`${called} needs an Error, its message, or { name, message }; got ${shown(given)}.`)
    }
    if (!(told instanceof Error))
      checkOptionNames(`The error of ${called}`, told, { name: true, message: true, stack: true, retryAfter: true })
    const { name, message, stack, retryAfter } = told as StubError
    const fate = { does: 'throws', error: { name, message, stack, retryAfter } } as const
    this.#engine.script.verbs.addStep(this.#name, this.#nth, fate, timesOf(called, times))
    return this
  }

  /**
   * Its endpoint does not answer, until the time-out of the attempt; a wait for an event times out at once.
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

/** What may become of the next wait for an event. */
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
   * It never comes: the wait for it ends at once, as when its time is over.
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
  throw new TypeError(`${called} takes { times } as a number from 1; got ${shown(times)}. Leave it out for always.`)
}

function shown(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : String(value)
}

/** What is said about a run of a workflow, here and by a remote sandbox. Times are virtual milliseconds since the Unix epoch. */
export interface RunView {
  readonly id: string
  readonly url: string
  readonly state: VendorRunState
  readonly createdAt: number
  /** `undefined` while it lasts. */
  readonly completedAt?: number | undefined
  /** What it returned, out of its JSON; `undefined` while it lasts, and when it returned nothing. */
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

/** One run, as it stands whenever it is asked. */
export class WorkflowRun extends ReadonlyView implements RunView {
  declare readonly id: string
  declare readonly url: string
  declare readonly state: VendorRunState
  /** Virtual milliseconds. */
  declare readonly createdAt: number
  /** Virtual milliseconds; `undefined` while it lasts. */
  declare readonly completedAt: number | undefined
  /** What it returned, out of its JSON; `undefined` while it lasts, and when it returned nothing. */
  declare readonly result: unknown
  declare toJSON: () => RunView

  static {
    // biome-ignore lint/complexity/noThisInStatic: the bundler renames a class that names itself, and a diff shows the name
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
   * Why it is where it is, in sentences: what each of its open steps waits for.
   * @example console.log(run.explain())
   */
  explain(): string {
    return explainRun(this.#run, this.#engine)
  }

  /**
   * What it has done so far, as plain JSON: to be kept in a file and replayed against later code.
   * @param options.secrets also what looks like a secret among the headers, and what the trigger redacts
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
   * @throws Error when it has ended
   * @example
   * run.cancel()
   * expect(run.state).toBe('RUN_CANCELED')
   */
  cancel(): void {
    this.#inputs.record('cancel')
    this.#engine.completion.cancel(this.#run.id)
  }

  /**
   * Moves the clock as far as it takes for the run to come to a step: until it is submitted or planned, waits, sleeps,
   * calls, or fails.
   * @param nth which of the steps of this name
   * @throws Error with the story of the run, when it cannot come there
   * @example
   * await run.advanceToStep('approval')
   * sandbox.workflow.notify('approved', { by: 'Ada' })
   * await run.advanceToEnd('success')
   */
  async advanceToStep(step: string, nth = 1): Promise<void> {
    await advanceUntil(this.#engine, this.#course, this.#run, reached(this.#run, step, nth))
  }

  /**
   * Moves the clock as far as it takes for the run to end, with everything of that moment.
   * @param state how it must end; any end by default
   * @throws Error with the story of the run, when it ends otherwise or not at all
   * @example
   * sandbox.workflow.stubEvent('approved', { by: 'Ada' })
   * await run.advanceToEnd('success')
   * expect(run.state).toBe('RUN_SUCCESS')
   */
  async advanceToEnd(state?: WorkflowRunEnd): Promise<void> {
    if (state !== undefined && !Object.hasOwn(endStates, state)) {
      throw new TypeError(`A run ends as ${Object.keys(endStates).map(quoted).join(', ')}; got ${shown(state)}.`)
    }
    await advanceUntil(this.#engine, this.#course, this.#run, ended(this.#run, state))
  }
}
