import { type Bytes, utf8 } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import type { Message, MessageOrigin } from '../queue/message/message.js'
import { Published } from '../queue/message/message-entries.js'
import { deduplicationKey } from '../queue/publish/deduplication.js'
import type { AcceptedPublish, PublishCall } from '../queue/publisher.js'
import type { PublishSettings, RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import { refusals } from '../queue/settings/queue-rejections.js'
import { checkUrl } from '../queue/settings/url.js'
import { type InvokeBody, readInvoke } from './invoke.js'
import type { RunEngine } from './run-engine.js'
import { runOf, StepMessage } from './run-messages.js'
import type { RunSettings } from './run-settings.js'
import { forwardedIn, type RunRequests, respondedIn } from './workflow-protocol.js'
import { WorkflowRunState } from './workflow-run.js'

/** A trigger that has been parsed and validated. */
export interface Trigger {
  readonly runId: string | undefined
  readonly url: string
  readonly body: Bytes
  readonly settings: PublishSettings
  readonly features: ReadonlySet<string>
  readonly origin: MessageOrigin
  /** `false` if a schedule began the run while the clock was draining. Then `drain()` does not wait for the run. */
  readonly awaited?: boolean | undefined
  /** Whether an SDK sends this trigger for a run that was announced to it. */
  readonly bySdk?: boolean
  readonly byRest?: boolean
  /** Whether the first delivery only announces the run. The SDK then begins the run itself. [workflow.md 2.4] */
  readonly announce?: boolean
  readonly invoke?: InvokeBody | undefined
  /** Creation time of the run, if an SDK that begins an announced run sends it. */
  readonly createdAt?: string | undefined
}

/** Result of a trigger: the run, and whether it existed before. */
export interface TriggeredRun {
  readonly run: WorkflowRunState
  readonly message: Message
  readonly deduplicated: boolean
}

/** Maximum depth of invocations. [workflow.md 9] */
export const deepestInvocation = 100

/** Begins runs. [workflow.md 2, 9] */
export class Triggers {
  readonly #engine: RunEngine
  readonly #settings: RunSettings
  readonly #traffic: TrafficLog
  /** Triggers of the latest request. Two items of one batch cannot begin different runs with the same ID. */
  #checking: { readonly cause: number; readonly triggers: Map<string, Pick<Trigger, 'url' | 'body'>> } = {
    cause: 0,
    triggers: new Map(),
  }

  constructor(engine: RunEngine, settings: RunSettings, traffic: TrafficLog) {
    this.#engine = engine
    this.#settings = settings
    this.#traffic = traffic
  }

  /**
   * Validates a trigger that an SDK sends. The returned function then begins the run.
   * @throws Refusal when the trigger is invalid
   */
  prepare(call: PublishCall, url: string, raw: RawSettings, asked: RunRequests): () => AcceptedPublish {
    const invoke = asked.invoke ? readInvoke(call.body) : undefined
    if (invoke !== undefined) {
      this.#checkDepth(raw, call.words)
      // The result of the invoked run will be submitted later, with this data. Check the data now, so that an invalid
      // invocation is rejected early.
      const parent = this.#engine.started(invoke.workflowRunId, String(invoke.workflowRunCreatedAt))
      this.#settings.ofHeaders(parent, invoke.headers)
      this.#engine.checkRoom(parent, invoke.step, call.cause)
      checkUrl(invoke.workflowUrl, 'workflowUrl')
    }
    const trigger: Trigger = {
      ...this.read(call, url, raw),
      runId: asked.runId,
      body: invoke === undefined ? call.body : utf8(invoke.body ?? ''),
      features: asked.features,
      bySdk: asked.bySdk,
      announce: forwardedIn(raw, 'Workflow-Unknown-Sdk', call.words) !== undefined,
      invoke,
      createdAt: asked.createdAt,
    }
    this.check(trigger)
    return () => (invoke === undefined ? undefined : this.#engine.script.invokes(invoke)) ?? this.begin(trigger)
  }

  /**
   * Reads the settings and the origin of a run from its trigger.
   * @throws Refusal when a setting is invalid
   */
  read(call: PublishCall, url: string, raw: RawSettings): Omit<Trigger, 'runId' | 'features'> {
    const settings = this.#settings.ofTrigger(call, raw)
    const { callerIp, region, cause, schedule } = call
    const origin = { callerIp, region, cause, scheduleId: schedule?.id }
    return { url, body: call.body, settings, origin, awaited: schedule?.awaited }
  }

  #checkDepth(raw: RawSettings, words: QueueDialect): void {
    const depth = Number(forwardedIn(raw, 'Workflow-Invoke-Count', words) ?? 0)
    if (depth < deepestInvocation) return
    throw refusals.quota('maxInvokeCount', deepestInvocation, this.#engine.queue.policy.quotaStatus)
  }

  /**
   * Checks that the ID of a trigger is free. A batch is rejected as a whole before any of its items begins a run.
   * @throws Refusal 400 when another run with this ID is in progress
   */
  check(trigger: Trigger): void {
    this.#begun(trigger)
    const { runId, url, body, origin } = trigger
    if (runId === undefined || !origin.cause) return
    if (this.#checking.cause !== origin.cause) this.#checking = { cause: origin.cause, triggers: new Map() }
    const { triggers } = this.#checking
    const before = triggers.get(runId)
    if (before !== undefined && (before.url !== url || before.body !== body) && !this.#isNeverAgain)
      throw refusals.runExists()
    triggers.set(runId, { url, body })
  }

  get #isNeverAgain(): boolean {
    return this.#engine.queue.policy.workflowSingletonRuns === 'never-again'
  }

  /**
   * Begins a run. If an earlier request was the same trigger, returns the run that it began. [workflow.md 2.2]
   * @throws Refusal 400 when another run with the same ID is in progress
   */
  begin(trigger: Trigger): TriggeredRun {
    const { announce = false, origin } = trigger
    const known = this.#begun(trigger)
    if (known !== undefined) return this.#beginAgain(known, trigger)
    const run = this.newRun(trigger)
    run.announced = announce
    const entry = this.#engine.note(run, 'RUN_STARTED', origin.cause)
    if (trigger.invoke !== undefined) this.#invoked(run, trigger.invoke)
    const message = this.#first(run, trigger, entry)
    const key = deduplicationKey(trigger.settings, trigger.url, trigger.body)
    if (key !== undefined) this.#engine.queue.publisher.published.remember(key, message, this.#engine.now())
    return { run, message, deduplicated: false }
  }

  /**
   * Returns the run that an earlier request of the same trigger began. Returns `undefined` if the trigger begins a run.
   * @throws Refusal 400 when another run with the same ID is in progress
   */
  #begun(trigger: Trigger): WorkflowRunState | undefined {
    const { runId, url, body, settings, invoke, bySdk = false } = trigger
    const key = deduplicationKey(settings, url, body)
    const first = key === undefined ? undefined : this.#engine.queue.publisher.published.find(key, this.#engine.now())
    const same = first && runOf(first)
    if (same !== undefined) return same
    const known = runId === undefined ? undefined : this.#engine.get(runId)
    const { workflowSingletonRuns: singleton, deduplicationWindow } = this.#engine.queue.policy
    if (known === undefined || this.#isNeverAgain) return known
    // An SDK only begins the run that was announced to it. If that run has ended, no other run begins.
    if (bySdk) return known
    const isAgain = known.url === url && known.payload === body && isInvokedBy(known, invoke)
    const isRecent = this.#engine.now() < known.createdAt + deduplicationWindow
    if (isAgain && (singleton === 'window' ? isRecent : known.isStarted)) return known
    if (!known.isStarted) return undefined
    this.#rejected(known, invoke)
    throw refusals.runExists()
  }

  /** Records in the invoking run why it does not continue. The SDK takes the 400 for a cancellation of that run. */
  #rejected({ id }: WorkflowRunState, invoke: InvokeBody | undefined): void {
    const parent = invoke && this.#engine.get(invoke.workflowRunId)
    if (parent !== undefined) parent.refused = `the invoked run ${id} already exists`
  }

  newRun({
    runId = this.#engine.register.nextId(),
    url,
    settings,
    features,
    origin,
    byRest = false,
  }: Trigger): WorkflowRunState {
    const { callerIp, region } = origin
    const run = new WorkflowRunState(
      runId,
      this.#engine.register.nextSequence,
      this.#engine.register.createdAt(runId),
      url,
      features,
      this.#settings.configuration(settings, features),
      callerIp,
      region,
    )
    run.byRest = byRest
    this.#engine.register.add(run)
    return run
  }

  #first(
    run: WorkflowRunState,
    { url, body, settings, origin, announce = false, awaited }: Trigger,
    cause: number,
  ): Message {
    const asks = respondedIn(settings.headers, { settings }, (words) => words.unknownSdk.toLowerCase()) !== undefined
    const isAnnounced = announce && !asks
    const part = new StepMessage(run, this.#engine, 0, { announces: isAnnounced })
    const { callerIp, region, scheduleId } = origin
    const from = { callerIp, region, scheduleId, cause: cause || origin.cause }
    const draft = { kind: 'message' as const, url, body, settings, origin: from, part }
    const message = this.#engine.queue.courier.accept(awaited === undefined ? draft : { ...draft, awaited })
    run.entries[0] = { message, callType: 'step' }
    return message
  }

  /**
   * Returns an existing run for a second trigger. If the run was announced to the SDK, the SDK's trigger begins the
   * run. [workflow.md 2.4]
   */
  #beginAgain(run: WorkflowRunState, trigger: Trigger): TriggeredRun {
    const first = run.entries[0]!.message
    if (!trigger.bySdk || !run.announced || !run.isStarted || !run.isOf(trigger.createdAt)) {
      const { url, body, settings, origin, invoke } = trigger
      if (!isInvokedBy(run, invoke)) this.#rejected(run, invoke)
      const draft = { kind: 'message' as const, url, body, settings, origin }
      this.#traffic.adopt(new Published(first, true, draft), origin.cause ?? 0)
      return { run, message: first, deduplicated: true }
    }
    run.announced = false
    run.features = trigger.features
    // From now on, deliveries use the dialect of the SDK that the app uses.
    const { words } = trigger.settings
    const settings = { ...run.configuration.settings, words }
    const headers = withoutEcho(trigger.settings.headers, run.configuration.settings.words, words)
    run.configuration = this.#settings.configuration({ ...settings, headers }, trigger.features)
    const given = { ...settings, headers: run.configuration.settings.headers, delay: 0, notBefore: undefined }
    const message = this.#first(run, { ...trigger, settings: given, announce: false }, 0)
    return { run, message, deduplicated: false }
  }

  #invoked(run: WorkflowRunState, invoke: InvokeBody): void {
    const { workflowRunId, workflowUrl, workflowRunCreatedAt, headers, step } = invoke
    run.invoker = { runId: workflowRunId, url: workflowUrl, createdAt: workflowRunCreatedAt, headers, step }
    const parent = this.#engine.get(workflowRunId)
    if (parent === undefined || !parent.isOf(workflowRunCreatedAt)) return
    const record = parent.record(step, this.#engine.now())
    record.invoked = run
    this.#traffic.append({
      type: 'invoke',
      runId: parent.id,
      stepId: record.stepId,
      stepName: record.stepName,
      invokedRunId: run.id,
      url: run.url,
    })
  }

  /**
   * Returns whether `/v2/trigger` only announces a run to the SDK at a URL. The SDK then begins the run itself.
   * [workflow.md 2.4]
   */
  announcesTo(url: string, isAsked: boolean): boolean {
    const { workflowTwoPhaseTrigger } = this.#engine.queue.policy
    if (workflowTwoPhaseTrigger === 'always') return true
    return isAsked || (workflowTwoPhaseTrigger === 'unknown-url' && !this.#engine.register.proven.has(url))
  }
}

/** Returns whether a step invoked a run. Without an invocation, returns whether no step invoked it. */
function isInvokedBy({ invoker }: WorkflowRunState, invoke: InvokeBody | undefined): boolean {
  if (invoker === undefined || invoke === undefined) return invoker === undefined && invoke === undefined
  return (
    invoker.runId === invoke.workflowRunId &&
    invoker.createdAt === invoke.workflowRunCreatedAt &&
    invoker.step.stepId === invoke.step.stepId
  )
}

/**
 * Removes service headers in other dialects than the SDK's. The SDK forwards all headers that it received, so they
 * would be sent again.
 */
function withoutEcho(headers: HeaderList, said: QueueDialect, words: QueueDialect): HeaderList {
  const foreign = said.prefixes.filter((prefix) => !words.prefixes.includes(prefix))
  if (foreign.length === 0) return headers
  return headers.filter(([name]) => !foreign.some((prefix) => name.toLowerCase().startsWith(prefix)))
}
