import type { Bytes } from '../kernel/bytes.js'
import type { IndexedRecord } from '../kernel/indexed-records.js'
import type { Timer } from '../kernel/time.js'
import type { Message, MessageOrigin } from '../queue/message/message.js'
import type { PublishSettings } from '../queue/settings/message-settings.js'
import { RunIndex } from './run-index.js'
import { type ListUpTo, type RunEntry, RunList } from './run-list.js'
import { readStep, type StepBody } from './step.js'

/** [workflow.md 10] */
export type VendorRunState = 'RUN_STARTED' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'

/** An answer as it is kept: of a third party, or of a failure function. */
export interface StoredReply {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Bytes
  readonly error?: string | undefined
}

/** Headers as JSON carries them. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>

/** What a run knows of one of its steps. */
export interface StepRecord {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  readonly concurrent: number
  readonly createdAt: number
  /** The message of its plan, of its call, or of its result: the latest one. */
  message: Message | undefined
  /** The step as it was submitted when it was done; `undefined` while it is not. */
  result: StepBody | undefined
  /** Of several that run beside each other. */
  plan?: StepBody
  /** Carries the plan. */
  planMessage?: Message
  call?: { readonly message: Message; reply?: StoredReply } | undefined
  wait?: Wait | undefined
  invoked?: WorkflowRunState | undefined
}

/** A step that waits for an event. [workflow.md 7] */
export interface Wait {
  readonly run: WorkflowRunState
  readonly eventId: string
  readonly step: StepBody
  readonly url: string
  readonly timeout: string
  /** Virtual milliseconds. */
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

/** What holds for every later message of a run. [workflow.md 4] */
export interface RunConfiguration {
  /** As the trigger says it. */
  readonly settings: PublishSettings
  /** Whether it holds for the steps, or each message stands for itself. */
  readonly applies: boolean
}

/** Steps from which on an index is cheaper than a look at all of them. */
const many = 20

/**
 * Most runs sleep most of the time, and an empty set of its own weighs as much as the rest of a run. Nothing is added to
 * these.
 */
const none: Set<Message> = new Set()
const nothingHeld: Map<Message, Set<Message>> = new Map()

/** One run of a workflow: a list of finished steps, and who waits for what. */
export class WorkflowRunState implements IndexedRecord {
  gone = false
  state: VendorRunState = 'RUN_STARTED'
  completedAt: number | undefined
  /** What it returned. */
  result: Bytes | undefined
  entries: RunEntry[] = []
  steps: StepRecord[] = []
  /** Messages of which an attempt runs. */
  running: Set<Message> = none
  /** Submitted while the attempt of another runs: delivered when that has answered. */
  held: Map<Message, Set<Message>> = nothingHeld
  declare waits?: Set<Wait>
  /** Events that came before somebody waited for them, by id. */
  declare early?: Map<string, Bytes[]>
  declare invoker?: Invoker
  /** What tells of its calls and has not ended. */
  declare callbacks?: Set<Message>
  declare failureFunction?: Message
  declare failureReply?: StoredReply | undefined
  /** What made it fail. */
  declare failure?: (StoredReply & { readonly message: Message; readonly dlqId: string }) | undefined
  /** The queue announced it and the SDK has not begun it yet. [workflow.md 2.4] */
  announced = false
  /** While its endpoint is asked which step is next nothing is taken from it; `refused`: it tried. */
  declare probe?: { refused: boolean } | undefined
  /** Why the queue did not take what its latest delivery submitted. */
  declare refused?: string | undefined
  /** What it has too much of, a sentence: its next delivery that ends fails it. */
  declare exceeded?: string | undefined
  /** The step that its last failed attempt was at. */
  failingStep: string | undefined
  /** Begun by `/v2/trigger`, whose endpoint must be new enough. [workflow.md 2.5] */
  byRest = false

  constructor(
    readonly id: string,
    readonly seq: number,
    /** Creation, in virtual milliseconds. */
    readonly createdAt: number,
    readonly url: string,
    public features: ReadonlySet<string>,
    public configuration: RunConfiguration,
    /** Who triggered it, and where. */
    readonly callerIp: string,
    readonly region: string,
  ) {}

  /** Of a message of the run. @param cause `seq` of the entry that led to it */
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

  /** The initial payload. */
  get payload(): Bytes {
    return this.entries[0]?.message.body ?? ('' as Bytes)
  }

  /** An attempt runs. */
  began(message: Message): void {
    if (this.running === none) this.running = new Set()
    this.running.add(message)
    if (this.refused !== undefined) this.refused = undefined
  }

  /** An attempt has ended. @returns what waited for nothing else */
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

  /** Nothing of it goes on for a while: what only makes it quick is let go, room for more steps too. */
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

  /** The list up to an entry, as its delivery carries it: nothing that came later. [workflow.md 3.1] */
  listUpTo(index: number): Bytes {
    return this.list(index).text
  }

  /** The same, and its hash. */
  list(index: number): ListUpTo {
    const { entries } = this
    if (this.#list?.isOf(entries) !== true) this.#list = new RunList(entries[0]!.message)
    return this.#list.upTo(entries, index)
  }

  #weighed = 0
  #weight = 0

  /** Bytes of its payload and of all that was submitted. */
  get weight(): number {
    for (; this.#weighed < this.entries.length; this.#weighed++)
      this.#weight += this.entries[this.#weighed]!.message.body.length
    return this.#weight
  }

  /** Made when there are many steps. */
  #index: RunIndex<StepRecord> | undefined

  /** The same step submitted before, by its text. [workflow.md 0] */
  submittedBefore(body: Bytes): Message | undefined {
    const { entries } = this
    if (entries.length < many)
      return entries.find(({ message, callType }, at) => at > 0 && callType === 'step' && message.body === body)
        ?.message
    this.#index ??= new RunIndex()
    return this.#index.submitted(entries, body)
  }

  /** What is known of a step, by its id. */
  recordOf({ stepId, targetStep = stepId }: StepBody): StepRecord | undefined {
    const { steps } = this
    if (steps.length < many) return steps.find((record) => record.stepId === targetStep)
    this.#index ??= new RunIndex()
    return this.#index.record(steps, targetStep)
  }

  /** The record of a step by its id, made when it is first heard of. */
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

  /** What was submitted, as it was read. */
  stepOf({ message, callType }: RunEntry): StepBody | undefined {
    return callType === 'step' && message !== this.entries[0]?.message ? readStep(message.body) : undefined
  }
}
