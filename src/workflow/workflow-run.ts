import type { Bytes } from '../kernel/bytes.js'
import type { IndexedRecord } from '../kernel/indexed-records.js'
import type { Timer } from '../kernel/time.js'
import type { StepSettings } from '../kernel/traffic-log.js'
import type { Message, MessageOrigin } from '../queue/message/message.js'
import type { PublishSettings } from '../queue/settings/message-settings.js'
import { RunIndex } from './run-index.js'
import { type ListUpTo, type RunEntry, RunList } from './run-list.js'
import { readStep, resultSize, type StepBody } from './step.js'

/** State of a run, in the spelling of the service. [workflow.md 10] */
export type VendorRunState = 'RUN_STARTED' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'

/** Response of a third party, or of a failure function, that the queue stored. */
export interface StoredReply {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Bytes
  readonly error?: string | undefined
}

/** Headers as JSON: a list of values for each name. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>

/** State of one step of a run. */
export interface StepRecord {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  readonly concurrent: number
  readonly createdAt: number
  /** Latest message of the step. It delivers the plan, the call or the result. */
  message: Message | undefined
  /** The finished step as it was submitted. `undefined` until the step has finished. */
  result: StepBody | undefined
  plan?: StepBody
  planMessage?: Message
  call?: { readonly message: Message; reply?: StoredReply } | undefined
  wait?: Wait | undefined
  invoked?: WorkflowRunState | undefined
}

/** A wait of a step for an event. [workflow.md 7] */
export interface Wait {
  readonly run: WorkflowRunState
  readonly eventId: string
  readonly step: StepBody
  readonly url: string
  readonly timeout: string
  /** Virtual time of the timeout, in milliseconds since the epoch. */
  readonly deadline: number
  readonly timeoutUrl: string
  readonly timeoutHeaders: HeaderLists
  readonly record: StepRecord
  timer?: Timer
  state: 'waiting' | 'notified' | 'timed-out' | 'dropped'
}

/** The step of another run that invoked this run. It waits for the end of this run. [workflow.md 9] */
export interface Invoker {
  readonly runId: string
  readonly url: string
  readonly createdAt: number
  readonly headers: HeaderLists
  readonly step: StepBody
}

/** Settings for all later messages of a run. [workflow.md 4] */
export interface RunConfiguration {
  readonly settings: PublishSettings
  /** Whether steps inherit these settings. If not, each message has only its own settings. */
  readonly applies: boolean
}

/** A run with this many steps or more uses an index, which is then faster than a linear search. */
const many = 20

/**
 * Empty collections that all runs share. They are never modified. Most runs only wait most of the time. If each had its
 * own empty collections, it would need about twice as much memory.
 */
const none: Set<Message> = new Set()
const nothingHeld: Map<Message, Set<Message>> = new Map()

/** State of one workflow run: its list, its steps, its waits and its messages. */
export class WorkflowRunState implements IndexedRecord {
  gone = false
  state: VendorRunState = 'RUN_STARTED'
  completedAt: number | undefined
  result: Bytes | undefined
  entries: RunEntry[] = []
  steps: StepRecord[] = []
  /** Messages with an attempt in flight. */
  running: Set<Message> = none
  /**
   * Messages that must not be delivered yet, because they were submitted during attempts that have not ended. The value
   * of a message is the set of messages whose attempts must end first.
   */
  held: Map<Message, Set<Message>> = nothingHeld
  declare waits?: Set<Wait>
  /** Data of events that arrived before the run waited for them. The keys are event IDs. */
  declare early?: Map<string, Bytes[]>
  declare invoker?: Invoker
  /** Callbacks of this run's calls that have not been delivered yet. */
  declare callbacks?: Set<Message>
  /**
   * Messages of requests for step settings, by the content of the request. A repeated request is recognized.
   * [workflow.md 5.1]
   */
  declare requestedSettings?: Map<string, Message>
  declare failureFunction?: Message
  declare failureReply?: StoredReply | undefined
  /** The failed delivery that made the run fail: its response, its message and its dead letter. */
  declare failure?: (StoredReply & { readonly message: Message; readonly dlqId: string }) | undefined
  /**
   * Whether the SDK must still begin the run with a trigger of its own. Until then, the run is only announced to the
   * SDK. [workflow.md 2.4]
   */
  announced = false
  /**
   * Set while a probe asks the endpoint for its next step. During a probe, all submissions are rejected. `refused`: the
   * endpoint has tried to submit something.
   */
  declare probe?: { refused: boolean } | undefined
  /** Reason why the queue rejected a submission during the latest delivery. */
  declare refused?: string | undefined
  /** Message about a limit that the run exceeds. No further submission is accepted, and the run fails at once. */
  declare exceeded?: string | undefined
  /** Name of the step that failed in the last attempt. */
  failingStep: string | undefined
  /**
   * Whether a request to `/v2/trigger` began the run. Then the SDK at the endpoint must be new enough to support such
   * requests. [workflow.md 2.5]
   */
  byRest = false

  constructor(
    readonly id: string,
    readonly seq: number,
    /** Virtual time of the creation, in milliseconds since the epoch. */
    readonly createdAt: number,
    readonly url: string,
    public features: ReadonlySet<string>,
    public configuration: RunConfiguration,
    /** IP address of the client that triggered the run. */
    readonly callerIp: string,
    /** Region of the queue that received the trigger. */
    readonly region: string,
  ) {}

  /**
   * Returns whether a request names this run by its creation time. Several runs may have had the same ID. Older SDKs
   * send no time, and newer ones only if they know it. [workflow.md 3.6]
   */
  isOf(createdAt: string | number | undefined): boolean {
    const named = Number(createdAt ?? 0)
    return Number.isNaN(named) || named === 0 || named === this.createdAt
  }

  /** Returns the origin of a message of the run. @param cause `seq` of the entry that caused the message */
  originFor(cause: number | undefined): MessageOrigin {
    const { callerIp, region } = this
    return { callerIp, region, cause }
  }

  get isStarted(): boolean {
    return this.state === 'RUN_STARTED'
  }

  get labels(): readonly string[] | undefined {
    return this.configuration.settings.labels
  }

  /** Payload of the run, which is the body of its first entry. */
  get payload(): Bytes {
    return this.entries[0]?.message.body ?? ('' as Bytes)
  }

  began(message: Message): void {
    if (this.running === none) this.running = new Set()
    this.running.add(message)
    if (this.refused !== undefined) this.refused = undefined
  }

  /**
   * Records that a delivery attempt has ended.
   * @returns the messages that can now be delivered, because they waited only for this attempt
   */
  ended(message: Message): readonly Message[] {
    const { held } = this
    this.running.delete(message)
    if (this.running.size === 0) this.running = none
    for (const behind of held.values()) behind.delete(message)
    const free = [...held].filter(([, { size }]) => size === 0).map(([one]) => one)
    if (free.length === held.size) this.held = nothingHeld
    else for (const one of free) held.delete(one)
    return free
  }

  hold(message: Message, behind: Set<Message>): void {
    if (this.held === nothingHeld) this.held = new Map()
    this.held.set(message, behind)
  }

  /** Frees caches and unused array capacity. Call it only while no delivery of the run is in flight. */
  rest(): void {
    this.#list = undefined
    this.#index = undefined
    this.entries = this.entries.slice()
    this.steps = this.steps.slice()
  }

  letAllGo(): void {
    this.held = nothingHeld
  }

  #list: RunList | undefined

  /**
   * Returns the list from its beginning up to an entry. The delivery of this entry contains exactly this part of the
   * list. [workflow.md 3.1]
   */
  listUpTo(index: number): Bytes {
    return this.list(index).text
  }

  /** Returns the beginning of the list up to an entry, with its size and hash. */
  list(index: number): ListUpTo {
    const { entries } = this
    if (this.#list?.isOf(entries) !== true) this.#list = new RunList(entries[0]!.message)
    return this.#list.upTo(entries, index)
  }

  /** Number of finished steps. */
  finishedSteps = 0
  #resultBytes = 0

  /** Number of bytes of the payload and of the results of all finished steps. */
  get contextBytes(): number {
    return this.payload.length + this.#resultBytes
  }

  /** Number of entries whose bodies `#submittedBytes` contains. The payload is not one of them. */
  #weighed = 1
  #submittedBytes = 0

  /** Number of bytes of the payload and of the bodies of all submissions, which the list of the run contains. */
  get listBytes(): number {
    for (; this.#weighed < this.entries.length; this.#weighed++)
      this.#submittedBytes += this.entries[this.#weighed]!.message.body.length
    return this.payload.length + this.#submittedBytes
  }

  /** Adds a step, for example when the run is restored from a dump. */
  addRecord(record: StepRecord): void {
    this.steps.push(record)
    if (record.result !== undefined) this.#count(record.result)
  }

  /** Records the result of a step. If it is submitted again, the first result stays. */
  finish(record: StepRecord, result: StepBody): void {
    if (record.result !== undefined) return
    record.result = result
    this.#count(result)
  }

  #count(result: StepBody): void {
    this.finishedSteps++
    this.#resultBytes += resultSize(result)
  }

  /** Index of the steps. It is created only for a run with many steps. */
  #index: RunIndex<StepRecord> | undefined

  /**
   * Returns the message of an earlier step with the same body. Returns `undefined` if there is none. [workflow.md 0]
   */
  submittedBefore(body: Bytes): Message | undefined {
    const { entries } = this
    if (entries.length < many)
      return entries.find(({ message, callType }, at) => at > 0 && callType === 'step' && message.body === body)
        ?.message
    this.#index ??= new RunIndex()
    return this.#index.submitted(entries, body)
  }

  /** Records a request for step settings. */
  requested(message: Message): void {
    this.requestedSettings ??= new Map()
    this.requestedSettings.set(requestKey(message.body, message.part?.stepSettings), message)
  }

  recordOf({ stepId, targetStep = stepId }: StepBody): StepRecord | undefined {
    const { steps } = this
    if (steps.length < many) return steps.find((record) => record.stepId === targetStep)
    this.#index ??= new RunIndex()
    return this.#index.record(steps, targetStep)
  }

  /** Returns the record of a step, found by the step's ID. If there is none, creates it. */
  record(step: StepBody, now: number): StepRecord {
    const stepId = step.targetStep ?? step.stepId
    const known = this.recordOf(step)
    if (known !== undefined) return known
    const { stepName, stepType, concurrent } = step
    const record: StepRecord = {
      stepId,
      stepName,
      stepType,
      concurrent,
      createdAt: now,
      message: undefined,
      result: undefined,
    }
    this.addRecord(record)
    return record
  }

  stepOf({ message, callType }: RunEntry): StepBody | undefined {
    return callType === 'step' && message !== this.entries[0]?.message ? readStep(message.body) : undefined
  }
}

/** Returns the content of a request for step settings as one text. */
export function requestKey(body: Bytes, settings: StepSettings | undefined): string {
  return `${body}\n${JSON.stringify(settings)}`
}
