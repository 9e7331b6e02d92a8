import type { Bytes } from '../kernel/bytes.js'
import type { IndexedRecord } from '../kernel/indexed-records.js'
import type { Timer } from '../kernel/time.js'
import type { Message, MessageOrigin } from '../queue/message/message.js'
import type { PublishSettings } from '../queue/settings/message-settings.js'
import { RunIndex } from './run-index.js'
import { type ListUpTo, type RunEntry, RunList } from './run-list.js'
import { readStep, type StepBody } from './step.js'

/** State of a run, in the spelling of the service. [workflow.md 10] */
export type VendorRunState = 'RUN_STARTED' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'

/** Stored response of a third party or of a failure function to the queue. */
export interface StoredReply {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Bytes
  readonly error?: string | undefined
}

/** Headers in JSON: lists of values by name. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>

/** State of one step of a run. */
export interface StepRecord {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  readonly concurrent: number
  readonly createdAt: number
  /** Latest message of the step: the message of its plan, its call, or its result. */
  message: Message | undefined
  /** The finished step in the form in which it was submitted; `undefined` until the step has finished. */
  result: StepBody | undefined
  /** Plan of the step, if it is a parallel step. */
  plan?: StepBody
  /** Message that delivers the plan. */
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

/** Step of another run that invoked this run and waits for its end. [workflow.md 9] */
export interface Invoker {
  readonly runId: string
  readonly url: string
  readonly createdAt: number
  readonly headers: HeaderLists
  readonly step: StepBody
}

/** Configuration that applies to every later message of a run. [workflow.md 4] */
export interface RunConfiguration {
  /** Settings of the trigger. */
  readonly settings: PublishSettings
  /** Whether the settings are defaults for the steps. If not, each message has only its own settings. */
  readonly applies: boolean
}

/** Number of steps at and above which an index is faster than a search of all steps. */
const many = 20

/**
 * Shared empty collections, which are never modified. Most runs sleep most of the time. Empty collections of each run
 * would use as much memory as the rest of the run.
 */
const none: Set<Message> = new Set()
const nothingHeld: Map<Message, Set<Message>> = new Map()

/** State of one workflow run: its list, its steps, and the events and messages for which it waits. */
export class WorkflowRunState implements IndexedRecord {
  gone = false
  state: VendorRunState = 'RUN_STARTED'
  completedAt: number | undefined
  /** Result of the run. */
  result: Bytes | undefined
  entries: RunEntry[] = []
  steps: StepRecord[] = []
  /** Messages with an attempt in flight. */
  running: Set<Message> = none
  /**
   * Messages that wait for the end of other attempts, during which they were submitted. The value is the set of these
   * attempts' messages.
   */
  held: Map<Message, Set<Message>> = nothingHeld
  declare waits?: Set<Wait>
  /** Data of events that arrived before the run waited for them, by event ID. */
  declare early?: Map<string, Bytes[]>
  declare invoker?: Invoker
  /** Callbacks of this run's calls that have not been delivered yet. */
  declare callbacks?: Set<Message>
  declare failureFunction?: Message
  declare failureReply?: StoredReply | undefined
  /** Response, message and dead letter of the failed delivery that made the run fail. */
  declare failure?: (StoredReply & { readonly message: Message; readonly dlqId: string }) | undefined
  /** Whether the queue announced the run to the SDK and the SDK has not begun it yet. [workflow.md 2.4] */
  announced = false
  /**
   * Set while the endpoint is probed for its next step; all submissions are then rejected. `refused`: the endpoint made
   * a submission.
   */
  declare probe?: { refused: boolean } | undefined
  /** Reason why the queue rejected a submission of the latest delivery. */
  declare refused?: string | undefined
  /** Message about the limit that the run exceeds. The next delivery that ends makes the run fail. */
  declare exceeded?: string | undefined
  /** Name of the step that failed in the last attempt. */
  failingStep: string | undefined
  /** Whether `/v2/trigger` began the run. The SDK at its endpoint must then support this. [workflow.md 2.5] */
  byRest = false

  constructor(
    readonly id: string,
    readonly seq: number,
    /** Virtual milliseconds since the epoch. */
    readonly createdAt: number,
    readonly url: string,
    public features: ReadonlySet<string>,
    public configuration: RunConfiguration,
    /** IP address and region of the client that triggered the run. */
    readonly callerIp: string,
    readonly region: string,
  ) {}

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

  /** Payload with which the run began. */
  get payload(): Bytes {
    return this.entries[0]?.message.body ?? ('' as Bytes)
  }

  /** Records that a delivery attempt of a message has begun. */
  began(message: Message): void {
    if (this.running === none) this.running = new Set()
    this.running.add(message)
    if (this.refused !== undefined) this.refused = undefined
  }

  /** Records that a delivery attempt has ended. @returns the messages that waited only for this attempt */
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

  /** Frees caches and unused array capacity, while no delivery of the run is in flight. */
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

  /** Returns the list up to an entry, as the delivery of that entry contains it. [workflow.md 3.1] */
  listUpTo(index: number): Bytes {
    return this.list(index).text
  }

  /** Returns the list up to an entry, with its size and hash. */
  list(index: number): ListUpTo {
    const { entries } = this
    if (this.#list?.isOf(entries) !== true) this.#list = new RunList(entries[0]!.message)
    return this.#list.upTo(entries, index)
  }

  #weighed = 0
  #weight = 0

  /** Number of bytes of the payload and of all submissions. */
  get weight(): number {
    for (; this.#weighed < this.entries.length; this.#weighed++)
      this.#weight += this.entries[this.#weighed]!.message.body.length
    return this.#weight
  }

  /** Index of the steps; created when the run has many steps. */
  #index: RunIndex<StepRecord> | undefined

  /** Returns the message of a step that was submitted before with the same body, or `undefined`. [workflow.md 0] */
  submittedBefore(body: Bytes): Message | undefined {
    const { entries } = this
    if (entries.length < many)
      return entries.find(({ message, callType }, at) => at > 0 && callType === 'step' && message.body === body)
        ?.message
    this.#index ??= new RunIndex()
    return this.#index.submitted(entries, body)
  }

  /** Returns the record of a step by its ID. */
  recordOf({ stepId, targetStep = stepId }: StepBody): StepRecord | undefined {
    const { steps } = this
    if (steps.length < many) return steps.find((record) => record.stepId === targetStep)
    this.#index ??= new RunIndex()
    return this.#index.record(steps, targetStep)
  }

  /** Returns the record of a step by its ID. Creates the record if there is none. */
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
    this.steps.push(record)
    return record
  }

  /** Returns the parsed step of an entry. */
  stepOf({ message, callType }: RunEntry): StepBody | undefined {
    return callType === 'step' && message !== this.entries[0]?.message ? readStep(message.body) : undefined
  }
}
