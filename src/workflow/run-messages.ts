import { type Bytes, text, toBase64, utf8 } from '../kernel/bytes.js'
import { type HeaderList, headerMap, headerOf } from '../kernel/http.js'
import type { StepSettings } from '../kernel/traffic-log.js'
import type { Message, RawOutcome, RunMessage, RunReply, StubbableDelivery } from '../queue/message/message.js'
import type { FieldRedaction } from '../queue/settings/redacted-fields.js'
import { type ListUpTo, RunList } from './run-list.js'
import { failureFunctionState } from './run-log.js'
import { readStep, type StepBody } from './step.js'
import { headerNamesIn, type RunDialect, respondedIn } from './workflow-protocol.js'
import type { StepRecord, WorkflowRunState } from './workflow-run.js'

/**
 * What the messages of a run need from the engine: functions that they call when their state changes, and policies for
 * deliveries.
 */
export interface RunHooks {
  /**
   * If the list of a run has more bytes than this, deliveries have an empty body. The SDK then fetches the list.
   * `undefined`: no limit.
   */
  readonly workflowLazyBodyAbove: number | undefined
  began(run: WorkflowRunState, message: Message): void
  ended(run: WorkflowRunState, message: Message): void
  answered(run: WorkflowRunState, message: Message, reply: RunReply): void
  failed(run: WorkflowRunState, message: Message, reply: RunReply, dlqId: string): void
  stage(run: WorkflowRunState, index: number, delivery: StubbableDelivery): Promise<RawOutcome> | undefined
  /**
   * Called when an attempt has ended. If a retry follows and the test skips retry delays, the engine removes the delay.
   */
  retries(message: Message): void
}

type RunStep = Pick<StepBody, 'stepName' | 'stepType'>

abstract class RunMessageBase implements RunMessage {
  constructor(
    readonly run: WorkflowRunState,
    protected readonly keeper: RunHooks,
  ) {}

  get isCall(): boolean {
    return false
  }

  get runId(): string {
    return this.run.id
  }

  get runUrl(): string {
    return this.run.url
  }

  get runCreatedAt(): number {
    return this.run.createdAt
  }

  get redact(): FieldRedaction | undefined {
    return this.run.configuration.settings.redact
  }

  get isOver(): boolean {
    return !this.run.isStarted
  }

  abstract step(message: Message): RunStep | undefined

  abstract headers(message: Message): HeaderList

  body(message: Message): Bytes {
    return message.body
  }

  bodyHash(_message: Message): Bytes | undefined {
    return undefined
  }

  wrongWith(_message: Message, _reply: RunReply): string | undefined {
    return undefined
  }

  reporter(_kind: 'callback' | 'failure-callback'): RunMessage | undefined {
    return undefined
  }

  reported(body: Record<string, unknown>): Record<string, unknown> {
    return body
  }

  get failureFunctionState(): string | undefined {
    return failureFunctionState(this.run)
  }

  deadLetter(): Record<string, unknown> {
    const { id, url, createdAt: time, labels, failureFunction, failureReply: reply } = this.run
    const state = this.failureFunctionState
    return {
      workflowRunId: id,
      workflowCreatedAt: time,
      workflowUrl: url,
      failureFunctionState: state,
      // A dead letter has all labels of its run, as the run's log has. [workflow.md 10]
      ...(labels !== undefined && { label: labels.join(','), labels }),
      ...(failureFunction !== undefined && {
        failureCallbackInfo: {
          state,
          responseStatus: reply?.status,
          responseBody: reply && text(reply.body),
          responseHeaders: reply && headerMap(reply.headers),
        },
      }),
    }
  }

  accepted(_message: Message): void {}

  begins(message: Message): void {
    this.keeper.began(this.run, message)
  }

  ends(message: Message, _reply: RunReply, _error: string | undefined): void {
    this.keeper.ended(this.run, message)
    this.keeper.retries(message)
  }

  left(message: Message): void {
    this.keeper.ended(this.run, message)
  }

  failed(message: Message, reply: RunReply, dlqId: string): void {
    this.keeper.failed(this.run, message, reply, dlqId)
  }

  /** Returns the headers with which a delivery describes its run. [workflow.md 3.1] */
  protected runHeaders(message: Message, init: boolean, callType?: string): [string, string][] {
    return headerNamesIn(message.settings.words).flatMap((words) => this.#headersIn(words, message, init, callType))
  }

  #headersIn(words: RunDialect, message: Message, init: boolean, callType: string | undefined): [string, string][] {
    const { id, url, createdAt: time, labels, configuration } = this.run
    const headers: [string, string][] = [
      [words.runId, id],
      [words.url, onWire(url)],
      [words.init, String(init)],
      [words.createdAt, String(time)],
    ]
    if (callType !== undefined) headers.push([words.callType, callType])
    // If the SDK already forwards a label header, no second one is added.
    const label = words.label.toLowerCase()
    const own = message.settings.labels ?? (configuration.applies ? labels : undefined)
    if (own !== undefined && headerOf(message.headers, label) === undefined)
      headers.push([words.label, onWire(own.join(','))])
    return headers
  }
}

/** Returns the run to which a message belongs, even if the run was removed. */
export function runOf({ part }: Message): WorkflowRunState | undefined {
  return part instanceof RunMessageBase ? part.run : undefined
}

/** Encodes a text as the value of a header: without line breaks, and with one character per byte. */
function onWire(given: string): string {
  if (!/[\0\r\n\u0100-\uffff]/.test(given)) return given
  const line = given.replaceAll(/[\0\r\n]/g, ' ')
  return /[^\0-\xff]/.test(line) ? utf8(line) : line
}

/** What is special about a delivery. */
export interface StepMessageOptions {
  /** Whether this delivery only announces the run. The SDK then begins the run itself. [workflow.md 2.4] */
  readonly announces?: boolean | undefined
  /** Settings of the step that this delivery runs. Absent if the message was sent without such settings. */
  readonly stepSettings?: StepSettings | undefined
  /** Whether the delivery exceeds a limit of the run. The service then responds itself. [workflow.md 12] */
  readonly overflows?: boolean | undefined
}

/**
 * Message that delivers one entry of the run's list, together with all entries before it. The entry is the payload, a
 * finished step, a planned step or a request for step settings.
 */
export class StepMessage extends RunMessageBase {
  readonly announces: boolean
  readonly stepSettings: StepSettings | undefined
  readonly overflows: boolean

  constructor(
    run: WorkflowRunState,
    keeper: RunHooks,
    /** Position in the list of the run. */
    readonly index: number,
    { announces = false, stepSettings, overflows = false }: StepMessageOptions = {},
  ) {
    super(run, keeper)
    this.announces = announces
    this.stepSettings = stepSettings
    this.overflows = overflows
  }

  step({ body }: Message): RunStep | undefined {
    return this.index === 0 ? { stepName: 'init', stepType: 'Initial' } : readStep(body)
  }

  headers(message: Message): HeaderList {
    const headers = this.runHeaders(message, this.index === 0)
    for (const { unknownSdk, stepConfig } of headerNamesIn(message.settings.words)) {
      if (this.announces) headers.push([unknownSdk, 'true'])
      if (this.stepSettings !== undefined) headers.push([stepConfig, 'true'])
    }
    return headers
  }

  stage(delivery: StubbableDelivery): Promise<RawOutcome> | undefined {
    if (this.overflows) return Promise.resolve({ status: 429, headers: [], body: utf8('{"error":"-1 EXCEEDS_LIMIT"}') })
    return this.announces ? undefined : this.keeper.stage(this.run, this.index, delivery)
  }

  override body(message: Message): Bytes {
    const list = this.#list(message)
    return this.#isLazy(list) ? ('' as Bytes) : list.text
  }

  override bodyHash(message: Message): Bytes | undefined {
    const list = this.#list(message)
    return this.#isLazy(list) ? undefined : list.hash
  }

  /**
   * Returns the list that the delivery contains. An announcement contains only its own entry, even after the SDK has
   * begun the run with another payload. So does a delivery that exceeds a limit: no endpoint reads it, and the list may
   * be very long.
   */
  #list(message: Message): ListUpTo {
    if (!this.announces && !this.overflows) return this.run.list(this.index)
    return new RunList(message).upTo([{ message, callType: 'step' }], 0)
  }

  #isLazy({ size }: ListUpTo): boolean {
    const { workflowLazyBodyAbove } = this.keeper
    return workflowLazyBodyAbove !== undefined && size > workflowLazyBodyAbove && this.run.features.has('LazyFetch')
  }

  /**
   * Returns an error text if the run exceeds a limit, or if the first delivery reached an endpoint that is not a
   * workflow. Otherwise, returns `undefined`. [workflow.md 2.5]
   */
  override wrongWith(message: Message, { status, headers }: RunReply): string | undefined {
    if (this.overflows) return this.run.exceeded
    if (this.index > 0 || status < 200 || status > 299) return undefined
    const { run } = this
    if (respondedIn(headers, message, ({ sdkVersion }) => sdkVersion) === undefined)
      return run.features.has('WF_DetectTrigger') ? noWorkflow : undefined
    return run.byRest && respondedIn(headers, message, ({ sdk }) => sdk) === undefined ? tooOld : undefined
  }

  override ends(message: Message, reply: RunReply, error: string | undefined): void {
    this.keeper.answered(this.run, message, reply)
    this.run.failingStep = respondedIn(reply.headers, message, ({ errorStepName }) => errorStepName)
    super.ends(message, reply, error)
  }

  override reporter(kind: 'callback' | 'failure-callback'): RunMessage | undefined {
    return kind === 'failure-callback' ? new FailurePart(this.run, this.keeper) : undefined
  }

  override reported(body: Record<string, unknown>): Record<string, unknown> {
    return failureOf(this.run, body)
  }
}

/** Error text of the service. [workflow.md 0] */
const noWorkflow =
  'detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint'
/** Error text of the service. [workflow.md 2.5] */
const tooOld = 'trigger rest api is only usable with sdk versions after v1.0.0 major version'

/** Message that calls a third party. The third party gets no headers about the run. [workflow.md 6] */
export class CallMessage extends RunMessageBase {
  constructor(
    run: WorkflowRunState,
    keeper: RunHooks,
    readonly record: StepRecord | undefined,
  ) {
    super(run, keeper)
  }

  override get isCall(): boolean {
    return true
  }

  step(): RunStep | undefined {
    return this.record
  }

  headers(): HeaderList {
    return []
  }

  override begins(): void {}

  override ends(message: Message, { status, headers, body }: RunReply, error: string | undefined): void {
    this.keeper.retries(message)
    const call = this.record?.call
    if (call !== undefined) call.reply = { status, headers, body, error }
  }

  override reporter(): RunMessage {
    return new CallbackMessage(this.run, this.keeper, this.record)
  }

  override failed(): void {}
}

/** Message that reports the result of a call to the endpoint of the run. */
export class CallbackMessage extends RunMessageBase {
  constructor(
    run: WorkflowRunState,
    keeper: RunHooks,
    readonly record?: StepRecord | undefined,
  ) {
    super(run, keeper)
  }

  step(): RunStep | undefined {
    return this.record
  }

  headers(message: Message): HeaderList {
    return this.runHeaders(message, false, 'fromCallback')
  }

  override accepted(message: Message): void {
    this.run.callbacks ??= new Set()
    this.run.callbacks.add(message)
  }

  override ends(message: Message, reply: RunReply, error: string | undefined): void {
    if (message.isEnded) this.run.callbacks?.delete(message)
    super.ends(message, reply, error)
  }

  override left(message: Message): void {
    this.run.callbacks?.delete(message)
    super.left(message)
  }

  override reporter(kind: 'callback' | 'failure-callback'): RunMessage | undefined {
    return kind === 'failure-callback' ? new FailurePart(this.run, this.keeper) : undefined
  }

  override reported(body: Record<string, unknown>): Record<string, unknown> {
    return failureOf(this.run, body)
  }
}

export function isCallbackOf({ part }: Message, record: StepRecord): boolean {
  return part instanceof CallbackMessage && part.record === record
}

/**
 * Message that calls the failure function of a failed run. If the failure function fails, too, only the dead letter of
 * the run shows this failure. [workflow.md 11]
 */
export class FailurePart extends RunMessageBase {
  override get isCall(): boolean {
    return true
  }

  /** Always `false`: the message must be delivered, although the run has ended. */
  override get isOver(): boolean {
    return false
  }

  step(): undefined {}

  headers(message: Message): HeaderList {
    const headers = this.runHeaders(message, false, 'failureCall')
    // The SDK adds these headers to its triggers. A run that was triggered by the REST API may lack them. [queue.md
    // 14.7]
    for (const name of headerNamesIn(message.settings.words).flatMap(({ failure }) => failure))
      if (headerOf(message.headers, name.toLowerCase()) === undefined) headers.push([name, 'true'])
    return headers
  }

  override accepted(message: Message): void {
    this.run.failureFunction = message
  }

  override begins(): void {}

  override ends(message: Message, { status, headers, body }: RunReply, error: string | undefined): void {
    this.keeper.retries(message)
    const { run } = this
    run.failureReply = { status, headers, body, error }
  }

  override failed(): void {}
}

/**
 * Returns the report about a failed run. In place of the failed step's body, it contains the payload of the run.
 * [workflow.md 11]
 */
function failureOf(run: WorkflowRunState, body: Record<string, unknown>): Record<string, unknown> {
  const { sourceBody: _, ...others } = body
  return {
    ...others,
    ...(run.payload !== '' && { sourceBody: toBase64(run.payload) }),
    workflowRunId: run.id,
    workflowCreatedAt: run.createdAt,
  }
}

/** Returns the part of a message that delivers an entry of a run's list, or `undefined` for other messages. */
export function stepMessageOf({ part }: Message): StepMessage | undefined {
  return part instanceof StepMessage ? part : undefined
}
