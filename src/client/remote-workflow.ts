import { bindMethods } from '../kernel/bind-methods.js'
import { fromArray, toBase64 } from '../kernel/bytes.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { WorkflowRunEnd } from '../workflow/advance-run.js'
import type { NotifyOptions, Workflow, WorkflowRun, WorkflowRunFilter } from '../workflow/direct-workflows.js'
import type { RunHistory, RunHistoryOptions } from '../workflow/run-history.js'
import type { StubError } from '../workflow/stubs.js'
import type { ControlClient } from './control-client.js'
import type { Remote } from './remote-type.js'
import type { BulkActionView, RunView } from './remote-views.js'
import { sentFilter } from './sent-filter.js'

/** The workflows of a tenant: `sandbox.workflow`. */
export class RemoteWorkflows implements Remote<Workflow, 'notify' | 'skipSleeps' | 'skipRetryDelays' | 'unused'> {
  static {
    bindMethods(RemoteWorkflows)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  /** Every known workflow run, oldest first, with its present state. */
  get runs(): Promise<readonly RunView[]> {
    return this.#wire.list('/workflow/runs') as Promise<RunView[]>
  }

  /**
   * Returns a workflow run by ID. If the ID is unknown, all promises of the returned object reject with an error that
   * lists the known runs.
   * @example
   * const { workflowRunId } = await client.trigger({ url: 'https://shop.test/api/order' })
   * await sandbox.workflow.getRun(workflowRunId).state
   */
  getRun(id: string): RemoteWorkflowRun {
    return new RemoteWorkflowRun(this.#wire, id)
  }

  /**
   * Cancels all runs that match the filters and have not ended, as one bulk action. Without filters, cancels all.
   * @example await sandbox.workflow.cancelRuns({ workflowUrl: 'https://shop.test/api/order' })
   */
  async cancelRuns(filter: WorkflowRunFilter = {}): Promise<BulkActionView> {
    const body = sentFilter('workflow.cancelRuns()', filter)
    return (await this.#wire.post('/workflow/runs/cancel', body)) as BulkActionView
  }

  /** Bulk actions that cancel runs, of the last seven days, oldest first. */
  get bulkActions(): Promise<readonly BulkActionView[]> {
    return this.#wire.list('/workflow/bulk-actions') as Promise<readonly BulkActionView[]>
  }

  /**
   * Sends an event to all runs that wait for it, or to one run.
   * @returns the number of waits that the event ended
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
   * Creates a stub for the step with this name in every run, or only for its nth occurrence.
   * @example await sandbox.workflow.stubStep('charge').returns({ id: 'ch_1' })
   */
  stubStep(name: string, nth?: number): RemoteStepStub {
    return new RemoteStepStub(this.#wire, { name, ...(nth !== undefined && { nth }) })
  }

  /**
   * Creates a stub for an event: the next wait for this event receives it immediately. With `.timesOut()`, that wait
   * times out instead.
   * @example await sandbox.workflow.stubEvent('approved', { by: 'Ada' })
   */
  stubEvent(eventId: string, data?: unknown): Promise<void> & { timesOut(): Promise<void> } {
    const given = data instanceof Uint8Array ? { bytes: { base64: toBase64(fromArray(data)) } } : { data }
    let order: Readonly<Record<string, unknown>> = { eventId, ...given }
    // The caller may call `.timesOut()` on the result, which changes the request. So the request is sent one microtask
    // later.
    const sent = Promise.resolve().then(async () => void (await this.#wire.post('/workflow/stubs/event', order)))
    const timesOut = (): Promise<void> => {
      order = { eventId, timesOut: true }
      return sent
    }
    return Object.assign(sent, { timesOut })
  }

  /**
   * Makes all present and future sleeps end immediately.
   * @example await sandbox.workflow.skipSleeps()
   */
  async skipSleeps(): Promise<void> {
    await this.#wire.post('/workflow/skip-sleeps')
  }

  /**
   * Makes failed deliveries of workflow runs retry immediately.
   * @example await sandbox.workflow.skipRetryDelays()
   */
  async skipRetryDelays(): Promise<void> {
    await this.#wire.post('/workflow/skip-retry-delays')
  }

  /** Messages about unused stubs. */
  get unused(): Promise<readonly string[]> {
    return this.#wire.get('/workflow/stubs/unused').then((facts) => (facts as { unused: readonly string[] }).unused)
  }
}

/** Stub of a step of a tenant's workflow runs. */
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
   * Makes the step return this value without running its body.
   * @example await sandbox.workflow.stubStep('charge').returns({ id: 'ch_1' })
   */
  async returns(value?: unknown): Promise<void> {
    await this.#wire.post('/workflow/stubs/returns', { ...this.#step, value })
  }

  /**
   * Makes the body of the step throw this error, the first `times` times or always.
   * @example await sandbox.workflow.stubStep('charge').throws('card declined', { times: 2 })
   */
  async throws(
    error: Error | string | StubError = 'the step failed',
    given: { readonly times?: number } = {},
  ): Promise<void> {
    checkOptionNames('throws()', given, { times: true })
    if (typeof error === 'object' && !(error instanceof Error))
      checkOptionNames('throws(): the error', error, { name: true, message: true, stack: true, retryAfter: true })
    const { name, message, stack, retryAfter } = (typeof error === 'string' ? { message: error } : error) as StubError
    await this.#wire.post('/workflow/stubs/throws', {
      ...this.#step,
      error: { name, message, stack, retryAfter },
      ...given,
    })
  }

  /**
   * Makes the endpoint of the step not respond, the first `times` times or always.
   * @example await sandbox.workflow.stubStep('charge').timesOut({ times: 1 })
   */
  async timesOut(given: { readonly times?: number } = {}): Promise<void> {
    checkOptionNames('timesOut()', given, { times: true })
    await this.#wire.post('/workflow/stubs/times-out', { ...this.#step, ...given })
  }
}

/** A workflow run of a tenant. Each member reads the present state. */
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

  /** ID of the workflow run, `wfr_…`. */
  readonly id: string
  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient, id: string) {
    this.#wire = wire
    this.id = id
  }

  /** URL of the workflow, to which the steps of the run are delivered. */
  get url(): Promise<string> {
    return this.#asked('url')
  }

  /** State of the run, in the spelling of the service: `RUN_STARTED`, `RUN_SUCCESS`, `RUN_FAILED` or `RUN_CANCELED`. */
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
   * Explains the present state of the run.
   * @example console.log(await sandbox.workflow.getRun(run.id).explain())
   */
  async explain(): Promise<string> {
    return ((await this.#wire.get(`${this.#path}/explain`)) as { explanation: string }).explanation
  }

  /**
   * Returns the run history as plain JSON, which can be replayed against later code.
   * @example const history = await sandbox.workflow.getRun(run.id).history()
   */
  async history(options: RunHistoryOptions = {}): Promise<RunHistory> {
    checkOptionNames('history()', options, { secrets: true })
    const { secrets = false } = options
    return (await this.#wire.get(`${this.#path}/history${secrets ? '?secrets=true' : ''}`)) as RunHistory
  }

  /**
   * Cancels the run.
   * @throws Error when the run has already ended
   * @example await sandbox.workflow.getRun(run.id).cancel()
   */
  async cancel(): Promise<void> {
    await this.#wire.post(`${this.#path}/cancel`)
  }

  /**
   * Advances the clock until the run reaches a step. If the run cannot reach it, rejects with an error that contains
   * the lifecycle of the run.
   * @example await sandbox.workflow.getRun(run.id).advanceToStep('charge')
   */
  async advanceToStep(step: string, nth?: number): Promise<void> {
    await this.#wire.post(`${this.#path}/advance-to-step`, { step, ...(nth !== undefined && { nth }) })
  }

  /**
   * Advances the clock until the run ends. If the run ends in another state or does not end, rejects with an error that
   * contains the lifecycle of the run.
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
