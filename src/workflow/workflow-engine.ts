import type { Bytes } from '../kernel/bytes.js'
import type { ServiceClock } from '../kernel/clock.js'
import type { Records } from '../kernel/indexed-records.js'
import type { Random } from '../kernel/random.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import { type BulkTarget, matchesOf } from '../queue/bulk-actions.js'
import type { DumpedRun, RunsOfDump, RunsToLoad } from '../queue/dump/dumped-run-rows.js'
import type { Message, RawOutcome, RunReply, StubbableDelivery } from '../queue/message/message.js'
import type { AcceptedPublish, PublishCall, WorkflowPublisher } from '../queue/publisher.js'
import type { QueueEngine } from '../queue/queue-engine.js'
import type { PublishSettings, RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import { QueueRejection, refusals } from '../queue/settings/queue-rejections.js'
import { checkReach, checkTarget, type PublishTarget } from '../queue/settings/url.js'
import { dumpOf } from './dumped-runs.js'
import { loading } from './loaded-runs.js'
import { RunCompletion } from './run-completion.js'
import type { RunEngine } from './run-engine.js'
import { readRunCancel } from './run-filters.js'
import { exceededBy } from './run-limits.js'
import { RunRegistry } from './run-registry.js'
import { RunRestarts } from './run-restarts.js'
import { RunSettings } from './run-settings.js'
import { readStep, type StepBody } from './step.js'
import { StubRunner } from './stub-runner.js'
import { Submissions } from './submissions.js'
import { Triggers } from './triggers.js'
import { Events } from './workflow-events.js'
import { respondedIn, runSettingsOf } from './workflow-protocol.js'
import type { HeaderLists, VendorRunState, WorkflowRunState } from './workflow-run.js'
import { type ResolvedWait, Waits } from './workflow-waits.js'

export interface WorkflowOptions {
  readonly queue: QueueEngine
  readonly clock: ServiceClock
  readonly random: Random
  readonly traffic: TrafficLog
}

/** The workflow engine. A run is a list of entries, each of which is a message of the queue. */
export class WorkflowEngine implements WorkflowPublisher, RunEngine {
  readonly queue: QueueEngine
  register: RunRegistry
  waits: Waits
  /** The stubs of a test for steps and events. */
  readonly script: StubRunner
  readonly #clock: ServiceClock
  readonly #random: Random
  readonly #traffic: TrafficLog
  readonly #settings: RunSettings
  readonly triggers: Triggers
  readonly #submissions: Submissions
  readonly restarts: RunRestarts
  readonly events: Events
  readonly completion: RunCompletion
  /**
   * The run whose delivery ended last. Parallel branches of a run often end one after the other, so the caches of this
   * run are kept. They are freed when a delivery of another run ends.
   */
  #quick: WorkflowRunState | undefined

  constructor({ queue, clock, random, traffic }: WorkflowOptions) {
    this.queue = queue
    this.#clock = clock
    this.#random = random
    this.#traffic = traffic
    this.#settings = new RunSettings(queue)
    this.triggers = new Triggers(this, this.#settings, traffic)
    this.#submissions = new Submissions(this, this.#settings, traffic)
    this.restarts = new RunRestarts(this, this.#settings, this.triggers)
    this.events = new Events(this, traffic)
    this.completion = new RunCompletion(this)
    this.register = this.#freshRegister()
    this.waits = this.#freshWaits()
    this.script = new StubRunner(this, clock)
    queue.workflows = this
  }

  get workflowLazyBodyAbove(): number | undefined {
    return this.queue.policy.workflowLazyBodyAbove
  }

  readonly bulkTarget: BulkTarget = {
    matching: (query) =>
      matchesOf<WorkflowRunState>(
        readRunCancel(query, this.queue.policy),
        (wanted) => this.records.select(wanted).items,
        (run, cause) => {
          if (run.isStarted) this.completion.cancel(run.id, cause)
        },
      ),
    seqOf: (id) => this.get(id)?.seq,
  }

  reset(): void {
    this.renew().end()
  }

  renew(): { takeBack(): void; end(): void } {
    const { waits, register } = this
    this.waits = this.#freshWaits()
    this.register = this.#freshRegister()
    this.#quick = undefined
    return {
      end: () => waits.reset(),
      takeBack: () => {
        this.waits.reset()
        this.waits = waits
        this.register = register
      },
    }
  }

  dump(known: Iterable<Message>): RunsOfDump {
    return dumpOf(this.records.select({}).items, known, this.waits, [...this.register.proven])
  }

  load(runs: readonly DumpedRun[], urls: readonly string[]): RunsToLoad {
    for (const url of urls) this.register.proven.add(url)
    const loaded = loading(this, runs, (run) => this.register.add(run))
    this.register.loaded()
    return loaded
  }

  #freshWaits(): Waits {
    return new Waits(this.#clock, this.queue.policy, (wait, event) => this.events.wake(wait, event))
  }

  #freshRegister(): RunRegistry {
    return new RunRegistry(this.queue, this.#clock, this.#random)
  }

  now(): number {
    return this.#clock.now()
  }

  get(id: string): WorkflowRunState | undefined {
    return this.register.get(id)
  }

  get records(): Records<WorkflowRunState> {
    return this.register.records
  }

  started(id: string, createdAt?: string): WorkflowRunState {
    return this.register.started(id, createdAt)
  }

  running(id: string, createdAt?: string): WorkflowRunState {
    return this.register.running(id, createdAt)
  }

  /**
   * Validates a publish that belongs to a workflow. The returned function then publishes it. Returns `undefined` for
   * any other publish. [workflow.md 2, 5, 6, 9]
   */
  prepare(call: PublishCall, raw: RawSettings): (() => AcceptedPublish) | undefined {
    const asked = runSettingsOf(raw)
    if (asked === undefined) return undefined
    this.checkRunId(asked.runId, call.words)
    if (asked.init) return this.triggers.prepare(call, this.urlOf(call.target), raw, asked)
    const run = this.started(asked.runId!, asked.createdAt)
    return this.submitting(run, () => {
      const url = this.urlOf(call.target)
      if (asked.callType === 'toCallback') return this.#submissions.call(run, call, url, raw)
      if (asked.callType === 'stepConfig' && this.queue.policy.workflowStepConfiguration)
        return this.#submissions.configuration(run, call, url, raw)
      return this.#submissions.step(run, call, url, raw)
    })
  }

  /**
   * Runs a submission. If the submission is rejected, the run stores the reason. The SDK would take the 400 for a
   * cancellation and not report the reason.
   */
  submitting<T>(run: WorkflowRunState | undefined, submission: () => T): T {
    try {
      return submission()
    } catch (error) {
      if (run !== undefined && error instanceof QueueRejection) run.refused = error.message
      throw error
    }
  }

  /**
   * Validates the URL of a message of a run and returns it. Deliveries contain the URL in a header.
   * @throws Refusal 400 when it is invalid
   */
  urlOf(target: PublishTarget): string {
    if (target.group === '') throw refusals.noDestination()
    const { url } = target
    if (url === undefined) throw refusals.invalidScheme()
    checkTarget(target)
    if (/[\0-\x20\x7f]/.test(url)) throw refusals.invalidUrl('destination', 'endpoint is not a valid url')
    checkReach(url, this.queue.policy)
    return this.#settings.url(url)
  }

  /** Checks that an ID can be sent as a header. @throws Refusal 400 when it cannot */
  checkRunId(id: string | undefined, words: QueueDialect): void {
    if (id !== undefined && !/^[!-~]+$/.test(id))
      throw refusals.invalid(words.header('Workflow-RunId'), `${JSON.stringify(id)} is not an id`)
  }

  checkRoom(run: WorkflowRunState, step: StepBody | undefined, cause: number | undefined): void {
    if (run.exceeded !== undefined) throw refusals.exceedsLimit()
    const exceeded = exceededBy(run, step, this.queue.policy)
    if (exceeded === undefined) return
    this.#submissions.overflow(run, step, exceeded, cause)
    throw refusals.exceedsLimit()
  }

  append(run: WorkflowRunState, url: string, body: Bytes, given: PublishSettings, cause: number | undefined): Message {
    // The service itself submits this result, for example at the end of a wait. So the limits are checked here.
    const step = readStep(body)
    const exceeded = exceededBy(run, step, this.queue.policy)
    if (exceeded !== undefined) return this.#submissions.overflow(run, step, exceeded, cause)
    return this.#submissions.append(run, url, body, given, cause)
  }

  /**
   * If the trigger of a run redacts bodies, hides the body of a request in the traffic log. Returns whether it hides
   * the body.
   */
  hide(run: WorkflowRunState, cause: number | undefined): boolean {
    const hides = run.configuration.settings.redact?.body === true
    if (hides && cause !== undefined) this.#traffic.hide(cause)
    return hides
  }

  settingsOf(run: WorkflowRunState, headers: HeaderLists): PublishSettings {
    return this.#settings.ofHeaders(run, headers)
  }

  stepSettings(run: WorkflowRunState, raw: RawSettings, words: QueueDialect): PublishSettings {
    return this.#settings.ofStep(run, raw, words)
  }

  notify(eventId: string, event: Bytes, runId: string | undefined, cause?: number): readonly ResolvedWait[] {
    return this.events.notify(eventId, event, runId, cause)
  }

  note(run: WorkflowRunState, state: VendorRunState, cause?: number): number {
    return this.#traffic.append({ type: 'workflow', runId: run.id, url: run.url, state }, cause).seq
  }

  /** Calls the failure function of a run again. [workflow.md 1] */
  retryFailureFunction(run: WorkflowRunState, cause?: number): void {
    const { kind, url, body, settings, origin, part } = run.failureFunction!
    run.failureReply = undefined
    this.queue.courier.accept({ kind, url, body, settings, origin: { ...origin, cause }, part })
  }

  stage(run: WorkflowRunState, index: number, delivery: StubbableDelivery): Promise<RawOutcome> | undefined {
    return this.script.stage(run, index, delivery)
  }

  retries(message: Message): void {
    this.script.retries(message)
  }

  began(run: WorkflowRunState, message: Message): void {
    run.began(message)
  }

  ended(run: WorkflowRunState, message: Message): void {
    const free = run.ended(message)
    for (const one of free) this.queue.courier.letGo(one)
    const now = this.now()
    if (!run.isStarted) run.rest()
    else if (run !== this.#quick && !free.some(({ nextAttemptAt: due }) => due <= now)) {
      this.#quick?.rest()
      this.#quick = run
    }
  }

  answered({ url }: WorkflowRunState, message: Message, { headers }: RunReply): void {
    const { proven } = this.register
    if (proven.has(url) || proven.size >= 1000) return
    if (respondedIn(headers, message, ({ sdk }) => sdk) !== undefined) proven.add(url)
  }

  failed(run: WorkflowRunState, message: Message, reply: RunReply, dlqId: string): void {
    this.completion.fail(run, message, reply, dlqId)
  }
}
