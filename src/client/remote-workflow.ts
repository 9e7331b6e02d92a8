import { bindMethods } from '../kernel/bind-methods.js'
import { fromArray, toBase64 } from '../kernel/bytes.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { WorkflowRunEnd } from '../workflow/advance-run.js'
import type { NotifyOptions, Workflow, WorkflowRun } from '../workflow/direct-workflows.js'
import type { RunHistory, RunHistoryOptions } from '../workflow/run-history.js'
import type { StubError } from '../workflow/stubs.js'
import type { ControlClient } from './control-client.js'
import type { Remote } from './remote-type.js'
import type { RunView } from './remote-views.js'

/** `sandbox.workflow` of a tenant on a server. */
export class RemoteWorkflows implements Remote<Workflow, 'notify' | 'skipSleeps' | 'skipRetryDelays' | 'unused'> {
  static {
    bindMethods(RemoteWorkflows)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  /** Every run that is remembered, oldest first, as each stands now. */
  get runs(): Promise<readonly RunView[]> {
    return this.#wire.list('/workflow/runs') as Promise<RunView[]>
  }

  /**
   * A run by its id. Where there is none, what is asked of it rejects, with the runs that there are.
   * @example
   * const { workflowRunId } = await client.trigger({ url: 'https://shop.test/api/order' })
   * await sandbox.workflow.getRun(workflowRunId).state
   */
  getRun(id: string): RemoteWorkflowRun {
    return new RemoteWorkflowRun(this.#wire, id)
  }

  /**
   * Tells an event to the runs that wait for it, or to one. @returns how many waits it ended
   * @example await sandbox.workflow.notify('approved', { by: 'Ada' })
   */
  async notify(eventId: string, data?: unknown, options: NotifyOptions = {}): Promise<number> {
    checkOptionNames('workflow.notify()', options, { runId: true })
    const { runId } = options
    const given = data instanceof Uint8Array ? { bytes: { base64: toBase64(fromArray(data)) } } : { data }
    const answer = await this.#wire.post('/workflow/notify', {
      eventId,
      ...given,
      ...(runId !== undefined && { runId }),
    })
    return (answer as { ended: number }).ended
  }

  /**
   * Says what becomes of a step, in every run, or of the nth of this name.
   * @example await sandbox.workflow.stubStep('charge').returns({ id: 'ch_1' })
   */
  stubStep(name: string, nth?: number): RemoteStepStub {
    return new RemoteStepStub(this.#wire, { name, ...(nth !== undefined && { nth }) })
  }

  /**
   * Promises an event: it comes, once, as soon as somebody waits for it; or with `.timesOut()` that it does not.
   * @example await sandbox.workflow.stubEvent('approved', { by: 'Ada' })
   */
  stubEvent(eventId: string, data?: unknown): Promise<void> & { timesOut(): Promise<void> } {
    const given = data instanceof Uint8Array ? { bytes: { base64: toBase64(fromArray(data)) } } : { data }
    let order: Readonly<Record<string, unknown>> = { eventId, ...given }
    // Sent when the statement is over: `.timesOut()` may follow.
    const sent = Promise.resolve().then(async () => void (await this.#wire.post('/workflow/stubs/event', order)))
    const timesOut = (): Promise<void> => {
      order = { eventId, timesOut: true }
      return sent
    }
    return Object.assign(sent, { timesOut })
  }

  /**
   * Sleeps take no time: those to come and those under way.
   * @example await sandbox.workflow.skipSleeps()
   */
  async skipSleeps(): Promise<void> {
    await this.#wire.post('/workflow/skip-sleeps')
  }

  /**
   * Failed deliveries of runs are retried at once.
   * @example await sandbox.workflow.skipRetryDelays()
   */
  async skipRetryDelays(): Promise<void> {
    await this.#wire.post('/workflow/skip-retry-delays')
  }

  /** A sentence for each verb that nothing has met. */
  get unused(): Promise<readonly string[]> {
    return this.#wire.get('/workflow/stubs/unused').then((facts) => (facts as { unused: readonly string[] }).unused)
  }
}

/** What may become of a step of runs on a server. */
export class RemoteStepStub {
  static {
    bindMethods(RemoteStepStub)
  }

  readonly #wire: ControlClient
  readonly #step: { readonly name: string; readonly nth?: number }

  /** @internal */
  constructor(wire: ControlClient, step: { readonly name: string; readonly nth?: number }) {
    this.#wire = wire
    this.#step = step
  }

  /**
   * Its result is this, and its body never runs.
   * @example await sandbox.workflow.stubStep('charge').returns({ id: 'ch_1' })
   */
  async returns(value?: unknown): Promise<void> {
    await this.#wire.post('/workflow/stubs/returns', { ...this.#step, value })
  }

  /**
   * Its body throws this: so many times, or always.
   * @example await sandbox.workflow.stubStep('charge').throws('card declined', { times: 2 })
   */
  async throws(
    error: Error | string | StubError = 'the step failed',
    given: { readonly times?: number } = {},
  ): Promise<void> {
    checkOptionNames('throws()', given, { times: true })
    if (typeof error === 'object' && !(error instanceof Error))
      checkOptionNames('The error of throws()', error, { name: true, message: true, stack: true, retryAfter: true })
    const { name, message, stack, retryAfter } = (typeof error === 'string' ? { message: error } : error) as StubError
    await this.#wire.post('/workflow/stubs/throws', {
      ...this.#step,
      error: { name, message, stack, retryAfter },
      ...given,
    })
  }

  /**
   * Its endpoint does not answer: so many times, or never.
   * @example await sandbox.workflow.stubStep('charge').timesOut({ times: 1 })
   */
  async timesOut(given: { readonly times?: number } = {}): Promise<void> {
    checkOptionNames('timesOut()', given, { times: true })
    await this.#wire.post('/workflow/stubs/times-out', { ...this.#step, ...given })
  }
}

/** One run on a server, as it stands whenever it is asked. */
export class RemoteWorkflowRun
  implements
    Remote<
      WorkflowRun,
      | 'url'
      | 'state'
      | 'createdAt'
      | 'completedAt'
      | 'result'
      | 'explain'
      | 'history'
      | 'cancel'
      | 'advanceToStep'
      | 'advanceToEnd'
    >
{
  static {
    bindMethods(RemoteWorkflowRun)
  }

  readonly id: string
  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient, id: string) {
    this.#wire = wire
    this.id = id
  }

  get url(): Promise<string> {
    return this.#asked('url')
  }

  get state(): Promise<RunView['state']> {
    return this.#asked('state')
  }

  get createdAt(): Promise<number> {
    return this.#asked('createdAt')
  }

  get completedAt(): Promise<number | undefined> {
    return this.#asked('completedAt')
  }

  get result(): Promise<unknown> {
    return this.#asked('result')
  }

  /**
   * Why it is where it is, in sentences.
   * @example console.log(await sandbox.workflow.getRun(run.id).explain())
   */
  async explain(): Promise<string> {
    return ((await this.#wire.get(`${this.#path}/explain`)) as { explanation: string }).explanation
  }

  /**
   * What it has done so far, as plain JSON: to be kept in a file and replayed against later code.
   * @example const history = await sandbox.workflow.getRun(run.id).history()
   */
  async history(options: RunHistoryOptions = {}): Promise<RunHistory> {
    checkOptionNames('history()', options, { secrets: true })
    const { secrets = false } = options
    return (await this.#wire.get(`${this.#path}/history${secrets ? '?secrets=true' : ''}`)) as RunHistory
  }

  /**
   * Rejects when it has ended.
   * @throws Error when it has ended
   * @example await sandbox.workflow.getRun(run.id).cancel()
   */
  async cancel(): Promise<void> {
    await this.#wire.post(`${this.#path}/cancel`)
  }

  /**
   * Moves the clock as far as it takes for the run to come to a step. Rejects with its story, when it cannot.
   * @example await sandbox.workflow.getRun(run.id).advanceToStep('charge')
   */
  async advanceToStep(step: string, nth?: number): Promise<void> {
    await this.#wire.post(`${this.#path}/advance-to-step`, { step, ...(nth !== undefined && { nth }) })
  }

  /**
   * Moves the clock as far as it takes for the run to end. Rejects with its story, when it ends otherwise or not at all.
   * @example
   * await sandbox.workflow.stubEvent('approved')
   * await sandbox.workflow.getRun(run.id).advanceToEnd('success')
   */
  async advanceToEnd(state?: WorkflowRunEnd): Promise<void> {
    await this.#wire.post(`${this.#path}/advance-to-end`, { ...(state !== undefined && { state }) })
  }

  get #path(): string {
    return `/workflow/runs/${encodeURIComponent(this.id)}`
  }

  async #asked<Name extends keyof RunView>(name: Name): Promise<RunView[Name]> {
    return ((await this.#wire.get(this.#path)) as RunView)[name]
  }
}
