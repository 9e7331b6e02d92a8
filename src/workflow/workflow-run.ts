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

/** Stored response of a third party or of a failure function. */
export interface StoredReply {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Bytes
  readonly error?: string | undefined
}

/** Headers in JSON. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>

/** State of one step of a run. */
export interface StepRecord {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  readonly concurrent: number
  readonly createdAt: number
  /** Latest message of the step: of its plan, its call, or its result. */
  message: Message | undefined
  /** The finished step as it was submitted; `undefined` while it is unfinished. */
  result: StepBody | undefined
  /** Plan of a parallel step. */
  plan?: StepBody
  /** Message that carries the plan. */
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
  /** Virtual milliseconds since the epoch. */
  readonly deadline: number
  readonly timeoutUrl: string
  readonly timeoutHeaders: HeaderLists
  readonly record: StepRecord
  timer?: Timer
  state: 'waiting' | 'notified' | 'timed-out' | 'dropped'
}

/** The step of another run that waits for the end of this one. [workflow.md 9] */
export interface Invoker {
  readonly runId: string
  readonly url: string
  readonly createdAt: number
  readonly headers: HeaderLists
  readonly step: StepBody
}

/** Configuration for every later message of a run. [workflow.md 4] */
export interface RunConfiguration {
  /** Settings of the trigger. */
  readonly settings: PublishSettings
  /** Whether the settings are defaults for the steps. Otherwise each message uses only its own settings. */
  readonly applies: boolean
}

/** Number of steps from which an index is cheaper than a scan. */
const many = 20

/**
 * Shared empty collections, which are never modified. Most runs sleep most of the time, and an empty set of their own
 * would weigh as much as the rest of the run.
 */
const none: Set<Message> = new Set()
const nothingHeld: Map<Message, Set<Message>> = new Map()

/** State of one workflow run: its list of steps, and what it waits for. */
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
  /** Messages that were submitted during other attempts, and are delivered when those have a response. */
  held: Map<Message, Set<Message>> = nothingHeld
  declare waits?: Set<Wait>
  /** Events that arrived before the run waited for them, by event ID. */
  declare early?: Map<string, Bytes[]>
  declare invoker?: Invoker
  /** Callbacks, not yet delivered, of the calls of this run. */
  declare callbacks?: Set<Message>
  declare failureFunction?: Message
  declare failureReply?: StoredReply | undefined
  /** What made the run fail. */
  declare failure?: (StoredReply & { readonly message: Message; readonly dlqId: string }) | undefined
  /** Whether the queue announced the run to the SDK, which has not begun it yet. [workflow.md 2.4] */
  announced = false
  /**
   * Set while the endpoint is probed for its next step, when all submissions are rejected. `refused`: it made one.
   */
  declare probe?: { refused: boolean } | undefined
  /** Why the queue rejected the submission of the latest delivery. */
  declare refused?: string | undefined
  /** Limit that the run exceeds, as a message. The next delivery that ends fails the run. */
  declare exceeded?: string | undefined
  /** Name of the step that failed in the last attempt. */
  failingStep: string | undefined
  /** Whether `/v2/trigger` began the run, whose endpoint must then be new enough. [workflow.md 2.5] */
  byRest = false

  constructor(
    readonly id: string,
    readonly seq: number,
    /** Virtual milliseconds since the epoch. */
    readonly createdAt: number,
    readonly url: string,
    public features: ReadonlySet<string>,
    public configuration: RunConfiguration,
    /** IP address of the client that triggered the run, and the region. */
    readonly callerIp: string,
    readonly region: string,
  ) {}

  /** Returns the origin of a message of the run. @param cause `seq` of the entry that led to it */
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

  /** Initial payload. */
  get payload(): Bytes {
    return this.entries[0]?.message.body ?? ('' as Bytes)
  }

  /** Records that an attempt has begun. */
  began(message: Message): void {
    if (this.running === none) this.running = new Set()
    this.running.add(message)
    if (this.refused !== undefined) this.refused = undefined
  }

  /** Records that an attempt has ended. @returns the messages that waited only for this attempt */
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

  /** Frees caches and spare array capacity while the run is idle. */
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

  /** Returns the list up to an entry, as the delivery of that entry carries it. [workflow.md 3.1] */
  listUpTo(index: number): Bytes {
    return this.list(index).text
  }

  /** Returns the same list with its size and hash. */
  list(index: number): ListUpTo {
    const { entries } = this
    if (this.#list?.isOf(entries) !== true) this.#list = new RunList(entries[0]!.message)
    return this.#list.upTo(entries, index)
  }

  #weighed = 0
  #weight = 0

  /** Bytes of the payload and of all submissions. */
  get weight(): number {
    for (; this.#weighed < this.entries.length; this.#weighed++)
      this.#weight += this.entries[this.#weighed]!.message.body.length
    return this.#weight
  }

  /** Created when there are many steps. */
  #index: RunIndex<StepRecord> | undefined

  /** Returns the message of the same step if it was submitted before, compared by body. [workflow.md 0] */
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

  /** Returns the record of a step by its ID; creates it on first use. */
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

  /** Returns the step of an entry, parsed. */
  stepOf({ message, callType }: RunEntry): StepBody | undefined {
    return callType === 'step' && message !== this.entries[0]?.message ? readStep(message.body) : undefined
  }
}
