import { Account } from './account.js'
import type { Bytes } from './bytes.js'
import { entryWith, placeAfter } from './entry-places.js'
import type { HeaderList } from './http.js'
import type { PortableString } from './portable.js'
import { weightOf, weightOfHeaders, weightOfText, weightOfWords } from './weight.js'

/** Fields of every log entry. */
export interface EntryBase {
  /** Number of the entry in the log. The first entry has number 1, and each later entry has a higher number. */
  readonly seq: number
  /** Virtual time in milliseconds since the epoch. */
  readonly at: number
  /** `seq` of the entry that led to this one. Absent or 0 if there is none. */
  readonly cause?: number
  /** Region of the queue that wrote the entry; absent for the home region and for entries without a region. */
  readonly region?: string
  /** Name of the added database of the data store that the entry belongs to; absent for the first database. */
  readonly database?: string
}

/** The name of one of the three services. */
export type ServiceName = 'store' | 'queue' | 'stats'

/** An HTTP request that the sandbox received. */
export interface RequestEntry {
  /** The entry is an HTTP request to a service of the sandbox. */
  readonly type: 'request'
  /** Service that received the request. */
  readonly service: ServiceName
  /** HTTP method in upper case. */
  readonly method: string
  /** URL as received. Tokens in the query are replaced by `***`. */
  readonly url: string
  /** Headers as received. The value of `authorization` is replaced by its scheme and `***`. */
  readonly headers: HeaderList
  /** Body of the request. Empty if there is none. */
  readonly body: Bytes
  /**
   * Parts of the request that are redacted when the log is shown. Set if the request belongs to a workflow run whose
   * steps are redacted.
   */
  redact?: RedactedFields
  /** Note for the developer who sent the request, about its dialect or its token. */
  note?: string
  /** Response to the request. Absent until the response is sent. */
  response?: LoggedResponse
  /** `seq` of the last entry that was written before the response. The timeline shows the response after that entry. */
  endedAfterSeq?: number
}

/** The response to a request, as the traffic log has it. */
export interface LoggedResponse {
  /** Virtual time of the response, in milliseconds since the epoch. */
  readonly at: number
  /** HTTP status; 0 if a fault lost the response or broke the connection. */
  readonly status: number
  /** Headers of the response. Empty if a fault lost the response or broke the connection. */
  readonly headers: HeaderList
  /** Body; `undefined` for a stream. */
  readonly body: Bytes | undefined
}

/**
 * An outbound request of the app to an external host, such as a bank or a mail service. Its `cause` is the delivery
 * attempt whose handler sent the request.
 */
export interface OutboundEntry {
  /** The entry is a request of the app to an external host. */
  readonly type: 'outbound'
  /** HTTP method in upper case. */
  readonly method: string
  /** URL as received. */
  readonly url: string
  /** Headers as received. The value of `authorization` is replaced by its scheme and `***`. */
  readonly headers: HeaderList
  /** Body of the request. Empty if there is none. */
  readonly body: Bytes
  /**
   * `seq` of all attempts in flight that may have sent the request, if several are possible. The entry then has no
   * `cause`.
   */
  readonly possibleCauses?: readonly number[]
  /**
   * Number of times that the registered handler ran: 0 if a fault prevented the run, 2 if a fault repeated the request.
   */
  handlerRuns: number
  /** Kind of the fault, if a script step injected it. A fault of a rule has its own entry instead. */
  fault?: string
  /** Response that the app received. Absent until the app has received it. */
  response?: LoggedOutboundResponse
  /** `seq` of the last entry that was written before the app received the response. */
  endedAfterSeq?: number
}

/** Response to an outbound request, as the app received it. */
export interface LoggedOutboundResponse {
  /** Virtual time of the response, in milliseconds since the epoch. */
  readonly at: number
  /** HTTP status; 0 without a response. */
  readonly status: number
  /** Headers of the response. Empty without a response. */
  readonly headers: HeaderList
  /** Body; `undefined` for a stream. */
  readonly body: Bytes | undefined
  /** Error text that the app receives when there is no response. */
  readonly error?: string
  /** Note about what the app did not notice, such as `the handler ran and responded 201, its response was lost`. */
  readonly note?: string
}

/** A command that the data store ran. */
export interface CommandEntry {
  /** The entry is a command of the data store. */
  readonly type: 'command'
  /** Arguments of the command, beginning with its name. */
  readonly argv: readonly Bytes[]
  /** Name of the store user that ran the command, such as `default`. */
  readonly user: string
  /** Interface through which the command arrived. `resp`: the Redis protocol. `direct`: a call of `sandbox.store`. */
  readonly via: 'request' | 'pipeline' | 'transaction' | 'resp' | 'direct'
  /** Reply of the command. Absent if the command failed. */
  readonly reply?: unknown
  /** Text of the error reply. Absent if the command succeeded. */
  readonly error?: string
  /**
   * Milliseconds of virtual time for which a blocking command such as `BLPOP` waited. The entry is written when the
   * wait ends.
   */
  readonly waitedMs?: number
  /** Note for the developer who sent the command: why the real service may reject this command. */
  readonly note?: string
}

/** A change of a key. */
export interface KeyspaceEntry {
  /** The entry is a change of a key of the data store. */
  readonly type: 'keyspace'
  /** Name of the keyspace notification: `set`, `del`, `expired` … */
  readonly event: string
  /** Key that changed. */
  readonly key: Bytes
  /** Why the key was evicted. Only for the event `evicted`. */
  readonly reason?: string
}

/** The kind of a message: published by an app, a callback or a failure callback. */
export type MessageKind = 'message' | 'callback' | 'failure-callback'

/** A message that the queue accepted or recognized as a duplicate. */
export interface PublishedEntry {
  /** The entry is a message that the queue accepted or recognized as a duplicate. */
  readonly type: 'published'
  /** ID of the message (`msg_…`). A duplicate has the ID of the first message. */
  readonly messageId: string
  /** Kind of the message: published by the app, a callback or a failure callback. */
  readonly kind: MessageKind
  /** URL of the destination. */
  readonly url: string
  /** HTTP method of the delivery. */
  readonly method: string
  /** Content-Type and forwarded headers, as the destination receives them. */
  readonly headers: HeaderList
  /** Body of the message. Empty if there is none. */
  readonly body: Bytes
  /** Maximum number of retries after the first attempt. */
  readonly maxRetries: number
  /** Earliest virtual time of the first attempt, in milliseconds since the epoch. */
  readonly notBefore: number
  /** Whether the message is a duplicate, which is not delivered. */
  readonly deduplicated: boolean
  /** Name of the URL group to which the message was published. Absent if there is none. */
  readonly urlGroup?: string
  /** Name of the endpoint in the URL group. Absent without a URL group, or if the endpoint has no name. */
  readonly endpointName?: string
  /** Name of the FIFO queue of the message. Absent if there is none. */
  readonly queue?: string
  /** ID of the schedule that published the message. Absent if no schedule did. */
  readonly scheduleId?: string
  /** Flow-control key of the message. Absent if it has none. */
  readonly flowControlKey?: string
  /** Labels of the message. Absent if it has none. */
  readonly labels?: readonly string[]
  /** URL that receives a callback after each attempt. Absent if the publisher set none. [queue.md 5.4] */
  readonly callback?: string
  /** URL that receives the failure callback if the message fails. Absent if the publisher set none. [queue.md 5.4] */
  readonly failureCallback?: string
  /** Retry-delay expression of the message, exactly as the publisher sent it. */
  readonly retryDelay?: string
  /** Deduplication ID of the message, by which the queue recognizes duplicates. */
  readonly deduplicationId?: string
  /** Set if the queue recognizes duplicates of the message by their content. [queue.md 2.2] */
  readonly contentBasedDeduplication?: true
  /** For a callback: ID of the message whose delivery it reports. */
  readonly sourceMessageId?: string
  /** Settings of the workflow step that the deliveries of the message run. Absent if the message was sent without. */
  readonly stepSettings?: StepSettings
  /** Parts of the message that the publisher redacted with `Redact-Fields`. No rendering shows them. */
  readonly redact?: RedactedFields
}

/** Settings of a single workflow step. A setting that is absent comes from the trigger of the run. [workflow.md 5.1] */
export interface StepSettings {
  /** Maximum number of retries. */
  readonly retries?: number
  /** Retry-delay expression, exactly as it was sent. */
  readonly retryDelay?: string
  /** Flow control of the step. `period` is the rate period in seconds. */
  readonly flowControl?: {
    readonly key: string
    readonly parallelism?: number | undefined
    readonly rate?: number | undefined
    readonly period?: number
  }
}

/** Parts of a message that are redacted when the log is shown. */
export interface RedactedFields {
  /** Whether the body is redacted. */
  readonly body: boolean
  /** Whether all headers are redacted. */
  readonly allHeaders: boolean
  /** Names of redacted headers, in lower case. */
  readonly headers: ReadonlySet<string>
}

/**
 * Differences between two states of the data store: added, removed and changed keys.
 * @template Key type of the objects that contain one key and its value
 */
export interface StoreDiff<Key extends object = object> {
  /** Keys that only the later state has. */
  readonly added: readonly Key[]
  /** Keys that only the earlier state has. */
  readonly removed: readonly Key[]
  /** Keys whose value, type or expiration differs, with their content before and after the change. */
  readonly changed: readonly { readonly key: PortableString; readonly before: Key; readonly after: Key }[]
}

/** A delivery attempt. */
export interface AttemptEntry {
  /** The entry is an attempt to deliver a message. */
  readonly type: 'attempt'
  /** ID of the message (`msg_…`). */
  readonly messageId: string
  /** Kind of the message: published by the app, a callback or a failure callback. */
  readonly kind: MessageKind
  /** URL of the destination. */
  readonly url: string
  /** HTTP method of the delivery. */
  readonly method: string
  /** Number of the retry: 0 for the first attempt, 1 for the first retry. */
  readonly retried: number
  /** Maximum number of retries after the first attempt. */
  readonly maxRetries: number
  /** Reason for the attempt: `first attempt`, `retry 2 of 3`, `delivered now on request` … */
  readonly reason: string
  /** Reason and duration of the wait before the attempt; absent if the attempt did not wait. */
  readonly waitReason?: string | undefined
  /** ID of the workflow run that the attempt belongs to. */
  readonly workflowRunId?: string | undefined
  /** Headers that the destination receives, including the signature. */
  readonly headers: HeaderList
  /** Body that the destination receives. Empty for GET. */
  readonly body: Bytes
  /** Parts of the message that the publisher redacted. */
  readonly redact?: RedactedFields | undefined
  /**
   * Kind of the fault, if a script step or the destination's response injected it. A fault of a rule has its own entry
   * instead.
   */
  fault?: string
  /** Changes of the data store during the delivery; only with `traffic.recordStoreChanges()`. */
  store?: StoreDiff
  /** Result of the attempt. Absent until it has ended. */
  outcome?: AttemptOutcome | undefined
  /**
   * `seq` of the last entry that was written before the attempt ended. The timeline shows the end of the attempt after
   * that entry.
   */
  endedAfterSeq?: number
}

/** How a delivery attempt ended. */
export interface AttemptOutcome {
  /** Virtual time at which the attempt ended, in milliseconds since the epoch. */
  readonly at: number
  /** HTTP status; 0 without a response. */
  readonly status: number
  /** Text of the failure: a network error, a timeout or the status line. */
  readonly error?: string
  /** Headers of the response. Empty without a response. */
  readonly headers: HeaderList
  /** Body of the response, truncated to the maximum message size. Empty without a response. */
  readonly body: Bytes
  /** State of the message after the attempt. `RETRY`: another attempt follows. `FAILED`: no attempt follows. */
  readonly state: 'DELIVERED' | 'RETRY' | 'FAILED' | 'CANCELLED'
  /**
   * For `RETRY`: instant of the next attempt, milliseconds until then, and the reason why the delay has this length.
   */
  readonly next?: { readonly at: number; readonly delayMs: number; readonly reason: string }
  /** Note about what the queue did not notice, such as `the handler ran, its response was lost`. */
  readonly note?: string
}

/** A change of a message outside its attempts: the message was canceled, held back, or its attempt was requested for now. */
export interface MessageEntry {
  /** The entry is a change of a message outside its attempts. */
  readonly type: 'message'
  /** ID of the message (`msg_…`). */
  readonly messageId: string
  /**
   * Change of the message. `WAITING`: its delivery is held back. `DELIVER_REQUESTED`: its next attempt was requested for now.
   */
  readonly state: 'CANCEL_REQUESTED' | 'CANCELLED' | 'WAITING' | 'DELIVER_REQUESTED'
  /** Reason for the change, such as `queue orders is paused`. Absent for cancellations. */
  readonly reason?: string
}

/** A message that became a dead letter. */
export interface DeadLetterEntry {
  /** The entry is a message that became a dead letter. */
  readonly type: 'dead-letter'
  /** ID of the message (`msg_…`). */
  readonly messageId: string
  /** ID of the dead letter, in the form `<milliseconds>-<n>`. */
  readonly dlqId: string
  /** Kind of the message: published by the app, a callback or a failure callback. */
  readonly kind: MessageKind
  /** URL of the destination. */
  readonly url: string
  /** HTTP status of the last attempt, or 0 without a response. */
  readonly status: number
  /** Text of the last failure: a network error, a timeout or the status line. */
  readonly error?: string
}

/**
 * Start or end of a bulk action: one request that cancels all messages or workflow runs that match its filters. If the
 * action finishes immediately, there is only the entry of its end.
 */
export interface BulkActionEntry {
  /** The entry is the start or the end of a bulk action. */
  readonly type: 'bulk-action'
  /** ID of the bulk action (`act_…`). */
  readonly actionId: string
  /** Records that the action cancels: messages or workflow runs. */
  readonly resource: 'messages' | 'runs'
  /** State of the action, as the service spells it. `IN_PROGRESS`: it has started. `FINISHED`: it has ended. */
  readonly state: 'IN_PROGRESS' | 'FINISHED'
  /** Number of records that matched the filters when the action was accepted. */
  readonly total: number
  /** Filters of the request, by the name of the query parameter. Empty if the action cancels everything. */
  readonly filter: Readonly<Record<string, readonly string[]>>
}

/** Start or end of a workflow run. */
export interface WorkflowEntry {
  /** The entry is the start or the end of a workflow run. */
  readonly type: 'workflow'
  /** ID of the workflow run (`wfr_…`). */
  readonly runId: string
  /** URL of the workflow. */
  readonly url: string
  /** New state of the workflow run, as the service spells it. */
  readonly state: 'RUN_STARTED' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'
}

/**
 * A new step of a workflow run. Either the step has finished, or the run planned it as one of several parallel steps.
 */
export interface StepEntry {
  /** The entry is a new step of a workflow run. */
  readonly type: 'step'
  /** ID of the workflow run (`wfr_…`). */
  readonly runId: string
  /** ID of the message that delivers the step to the endpoint. */
  readonly messageId: string
  /** Number of the step in its workflow run. The first step after `init` has number 1. */
  readonly stepId: number
  /** Name of the step in the code of the workflow. */
  readonly stepName: string
  /** Type of the step: `Run`, `SleepFor`, `Call`, `Wait` … */
  readonly stepType: string
  /** Set if the step is only planned, to run in parallel with others. Absent if it has finished. */
  readonly planned?: true
  /** Size in bytes of the payload and of the results of all finished steps, including this one. */
  readonly contextBytes: number
}

/** A workflow step that begins to wait for an event. */
export interface WaitEntry {
  /** The entry is the start of a wait for an event. */
  readonly type: 'wait'
  /** ID of the workflow run (`wfr_…`). */
  readonly runId: string
  /** Number of the step in its workflow run. The first step after `init` has number 1. */
  readonly stepId: number
  /** Name of the step in the code of the workflow. */
  readonly stepName: string
  /** ID of the event for which the step waits. */
  readonly eventId: string
  /** Virtual time in milliseconds at which the wait times out. */
  readonly until: number
}

/** An event for workflow runs. */
export interface NotifyEntry {
  /** The entry is an event that was sent to workflow runs. */
  readonly type: 'notify'
  /** ID of the event. */
  readonly eventId: string
  /** IDs of the runs that were waiting for the event. */
  readonly runIds: readonly string[]
  /** ID of the run, if the event was sent to only one run. */
  readonly runId?: string
  /** Data of the event. Empty if there is none. */
  readonly body: Bytes
  /** Parts of the event that are redacted when the log is shown. Set if a run that receives the event is redacted. */
  readonly redact?: RedactedFields
  /**
   * Set if the event was sent to only one run, and that run was not waiting for the event. Its next wait for the event
   * will receive it.
   */
  readonly kept?: true
}

/** Start of a workflow run by a step of another run. */
export interface InvokeEntry {
  /** The entry is the start of a workflow run by a step of another run. */
  readonly type: 'invoke'
  /** ID of the workflow run that contains the step (`wfr_…`). */
  readonly runId: string
  /** Number of the step in its workflow run. The first step after `init` has number 1. */
  readonly stepId: number
  /** Name of the step in the code of the workflow. */
  readonly stepName: string
  /** ID of the workflow run that the step started (`wfr_…`). */
  readonly invokedRunId: string
  /** URL of the workflow that the step started. */
  readonly url: string
}

/** A change of a setting. */
export interface SettingEntry {
  /** The entry is a change of a setting. */
  readonly type: 'setting'
  /**
   * Kind of setting. Two kinds are not a single setting: `service` means that the whole message queue was reset or
   * loaded, and `store` that the data store was loaded.
   */
  readonly resource: 'schedule' | 'queue' | 'flow-control' | 'signing-keys' | 'service' | 'store'
  /**
   * ID of the schedule, name of the FIFO queue, or flow-control key. For other kinds of settings, a fixed text such as
   * `store`.
   */
  readonly name: string
  /** Kind of change: `created`, `paused`, `skipped`, `limited`, `rotated` … */
  readonly change: string
  /** New values, except secrets. Periods are in seconds. */
  readonly value?: Readonly<Record<string, string | number | boolean>>
}

/** Injection of a fault rule. */
export interface FaultEntry {
  /** The entry is the injection of a rule's fault. */
  readonly type: 'fault'
  /** Injection point at which the rule matched, such as `queue.delivery`. */
  readonly point: string
  /** Kind of the fault, such as `lost-ack`. */
  readonly fault: string
  /** Affected URL, URL group, command or channel. */
  readonly target: string
  /** Name of the rule, if it has one. */
  readonly rule?: string
  /** Description of the effect. */
  effect?: string
}

/**
 * Start or end of a wait for flow control: the queue held a message back, or admitted it afterwards. A message that
 * starts immediately has no entry.
 */
export interface FlowControlEntry {
  /** The entry is the start or the end of a wait for flow control. */
  readonly type: 'flow-control'
  /** Decision of the queue. `held`: the message must wait. `admitted`: its wait is over. */
  readonly decision: 'held' | 'admitted'
  /** ID of the message (`msg_…`). */
  readonly messageId: string
  /** Flow-control key; absent if the message waited because of the limit for all attempts in flight. */
  readonly flowControlKey?: string
  /**
   * For `held`, the limit, such as `parallelism 2 of 2`. For `admitted`, the duration of the wait, such as `held for
   * 3s`.
   */
  readonly reason: string
}

/** One or more clock moves by the test. Consecutive moves share one entry if nothing was logged between them. */
export interface ClockEntry {
  /** The entry is a clock move by the test. */
  readonly type: 'clock'
  /** Method of the clock that moved time. */
  readonly move: 'advance' | 'advanceTo' | 'drain'
  /** Virtual time at the end of the move; absent while it runs. */
  to?: number
  /** Number of moves in this entry. */
  count: number
  /** `seq` of the last entry that was written before the last of these moves ended. */
  endedAfterSeq?: number
}

/** The first entry of a full log, which represents all dropped entries. */
export interface DroppedEntry {
  /** The entry represents all entries that a full log dropped. */
  readonly type: 'dropped'
  /** Number of entries that were dropped so far. */
  readonly count: number
  /** The limit that was reached, in the unit that `unit` names. */
  readonly limit: number
  /** Unit of `limit`: number of entries, or bytes of memory. */
  readonly unit: 'entries' | 'bytes'
}

export type EntryBody =
  | RequestEntry
  | OutboundEntry
  | CommandEntry
  | KeyspaceEntry
  | PublishedEntry
  | AttemptEntry
  | MessageEntry
  | DeadLetterEntry
  | BulkActionEntry
  | WorkflowEntry
  | StepEntry
  | WaitEntry
  | NotifyEntry
  | InvokeEntry
  | SettingEntry
  | FaultEntry
  | FlowControlEntry
  | ClockEntry
  | DroppedEntry
/** The type of an entry, such as `attempt`. */
export type EntryType = EntryBody['type']
/**
 * Entry of each type, by the name of the type. The compiler finds a type in this table much faster than in a union of
 * all types.
 */
type EntryTable = { readonly [Body in EntryBody as Body['type']]: EntryBase & Body }
/** An entry of the type `T`: `EntryOf<'attempt'>` is a delivery attempt. */
export type EntryOf<T extends EntryType> = EntryTable[T]
/** An entry of the traffic log. */
export type Entry = EntryBase & EntryBody

/** Object whose keys are all entry types. The compiler rejects the object if a type is missing. */
export const entryTypes: Readonly<Record<EntryType, true>> = {
  request: true,
  command: true,
  outbound: true,
  keyspace: true,
  published: true,
  attempt: true,
  message: true,
  'dead-letter': true,
  'bulk-action': true,
  workflow: true,
  step: true,
  wait: true,
  notify: true,
  invoke: true,
  setting: true,
  fault: true,
  'flow-control': true,
  clock: true,
  dropped: true,
}

export function isEntryType(word: string): word is EntryType {
  return Object.hasOwn(entryTypes, word)
}

export interface TrafficLimits {
  /**
   * Maximum number of entries. If the log has more, its older half is dropped. Default: no limit. With 0, the log keeps
   * no entries, and only the queue still reports its entries to listeners.
   */
  readonly entries?: number | undefined
  /** Memory account of the log. If it exceeds its limit, the older half of the log is dropped. Default: no limit. */
  readonly bytes?: Account | undefined
}

/** Entries by type. */
export interface EntriesByType {
  get<T extends EntryType>(type: T): EntryOf<T>[] | undefined
  set(type: EntryType, entries: Entry[]): void
}

interface TrafficIndex {
  readonly byType: EntriesByType
  readonly byMessage: Map<string, Entry[]>
}

interface Subscription {
  readonly listener: (entry: Entry) => void
  readonly types: ReadonlySet<EntryType> | undefined
}

/**
 * The append-only log of everything that a sandbox received and did.
 * Appending an entry and finding entries by type or message take constant time. The first query builds the index, so
 * that code without queries does not pay for it.
 */
export class TrafficLog {
  /** Whether the log keeps entries. If it keeps none, callers need not create entries. */
  readonly keeps: boolean
  /** The `Traffic` object that shows this log. It is kept here, because a WeakMap would keep it in memory for longer. */
  view: object | undefined
  readonly #clock: { now(): number }
  readonly #limit: number
  readonly #kept: Account
  #entries: Entry[] = []
  /** Size of each entry in bytes. */
  #weights: number[] = []
  /**
   * The last headers whose bytes were counted. If the next request has the same list of headers, its bytes are not
   * counted again.
   */
  #weighed: HeaderList | undefined
  #weighedAnswers: HeaderList | undefined
  #dropped = 0
  #index: TrafficIndex | undefined
  /** Listeners may be added or removed while they are called. So this array is replaced and never changed. */
  #subscribers: readonly Subscription[] = []
  #sequence = 0
  #ended = 0

  /** @param limits limits of the log, or a maximum number of entries; default: no limit @internal */
  constructor(clock: { now(): number }, limits: TrafficLimits | number = {}) {
    const { entries, bytes } = typeof limits === 'number' ? { entries: limits } : (limits as TrafficLimits)
    this.#clock = clock
    this.#limit = checkedLimit(entries)
    this.#kept = bytes ?? new Account(Number.POSITIVE_INFINITY)
    this.keeps = this.#limit > 0
  }

  /** Returns a log of entries that were recorded earlier. No entries are added to it. */
  static recorded(entries: readonly Entry[]): TrafficLog {
    const traffic = new TrafficLog({ now: () => entries.at(-1)?.at ?? 0 })
    traffic.#entries = [...entries]
    traffic.#sequence = entries.at(-1)?.seq ?? 0
    const first = entries[0]
    if (first?.type === 'dropped') traffic.#dropped = first.count
    return traffic
  }

  /**
   * Returns an account for other data about the past, such as the journal. The data uses a part of the log's memory.
   * @param part part of the memory, from 0 to 1
   * @internal
   */
  share(part: number): Account {
    return new Account(this.#kept.limit * part, this.#kept)
  }

  append<B extends EntryBody>(body: B, cause?: number): EntryBase & B {
    const stamp: EntryBase =
      cause === undefined
        ? { seq: ++this.#sequence, at: this.#clock.now() }
        : { seq: ++this.#sequence, at: this.#clock.now(), cause }
    const entry = Object.assign(stamp, body) as EntryBase & B
    this.#file(entry as Entry)
    return entry
  }

  /**
   * Adds an object as an entry without copying it. The class of the object saves memory, or computes costly fields only
   * when they are read.
   */
  adopt<E extends EntryBody & { seq: number; at: number; cause?: number }>(entry: E, cause?: number): void {
    entry.seq = ++this.#sequence
    entry.at = this.#clock.now()
    if (cause !== undefined) entry.cause = cause
    this.#file(entry)
  }

  #file(entry: Entry): void {
    if (this.keeps) {
      const weight = this.#weigh(entry)
      this.#entries.push(entry)
      this.#weights.push(weight)
      this.#kept.put(weight)
      if (this.#isFull) this.#forgetOlderHalf()
      else if (this.#index !== undefined) index(this.#index, entry)
    }
    if (this.#subscribers.length > 0) this.#tell(entry)
  }

  get #isFull(): boolean {
    return this.#entries.length > this.#limit || (this.#kept.left < 0 && this.#entries.length > 2)
  }

  /** Drops the older half of the entries. The first entry then has the number of dropped entries. */
  #forgetOlderHalf(): void {
    const byEntries = this.#entries.length > this.#limit
    do {
      const keep = Math.max(1, Math.floor(this.#entries.length / 2) - 1)
      const kept = this.#entries.slice(-keep)
      const gone = this.#entries[this.#entries.length - keep - 1]!
      const count = this.#dropped + this.#entries.length - keep - (this.#dropped > 0 ? 1 : 0)
      let freed = 0
      for (const weight of this.#weights.slice(0, -keep)) freed += weight
      this.#kept.release(freed)
      const limit = byEntries ? this.#limit : this.#kept.limit
      const mark: Entry = {
        seq: gone.seq,
        at: gone.at,
        type: 'dropped',
        count,
        limit,
        unit: byEntries ? 'entries' : 'bytes',
      }
      const weights = this.#weights.slice(-keep)
      // A spread would add the entries one by one.
      this.#entries = this.#limit > 1 ? ([mark] as Entry[]).concat(kept) : kept
      this.#weights = this.#limit > 1 ? [0].concat(weights) : weights
      this.#dropped = count
    } while (this.#isFull)
    this.#index = undefined
  }

  #indexed(): TrafficIndex {
    if (this.#index === undefined) {
      this.#index = { byType: new Map(), byMessage: new Map() }
      for (const entry of this.#entries) index(this.#index, entry)
    }
    return this.#index
  }

  /**
   * Adds the response to a request, or the outcome to an attempt, and calls the listeners again.
   * @param end the response or outcome; if it is omitted, only the listeners are called
   * @param bytes additional memory that the entry uses from now on, without the size of `end`
   */
  complete<E extends RequestEntry | OutboundEntry | AttemptEntry | ClockEntry>(
    entry: E,
    end?: Pick<E, 'response' & keyof E> | Pick<E, 'outcome' & keyof E>,
    bytes = 0,
  ): void {
    if (end !== undefined) Object.assign(entry, end)
    this.#ended++
    // If a response arrives after the timeout, the attempt is completed twice. Keep the position of its first end,
    // which is the timeout.
    entry.endedAfterSeq ??= this.#sequence
    this.#add(entry as Entry, bytes + this.#weighEnd(entry))
    if (this.#isFull) this.#forgetOlderHalf()
    if (this.#subscribers.length > 0) this.#tell(entry as Entry)
  }

  /** Adds bytes to the size of an entry, unless the entry was dropped. */
  #add(entry: Entry, weight: number): void {
    const place = placeAfter(this.#entries, entry.seq - 1)
    if (weight === 0 || this.#entries[place] !== entry) return
    this.#weights[place]! += weight
    this.#kept.put(weight)
  }

  #weigh(entry: Entry): number {
    switch (entry.type) {
      case 'command':
        return entryBytes.command + weightOfWords(entry.argv) + weightOf(entry.reply)
      case 'keyspace':
        return entryBytes.keyspace + weightOfText(entry.key) + weightOfText(entry.reason ?? '')
      case 'request':
      case 'outbound': {
        const { url, headers, body } = entry
        const weight = entryBytes.request + weightOfText(url) + weightOfText(body)
        if (headers === this.#weighed) return weight
        this.#weighed = headers
        return weight + weightOfHeaders(headers)
      }
      case 'published':
        return (
          entryBytes.published + weightOfText(entry.url) + weightOfText(entry.body) + weightOfHeaders(entry.headers)
        )
      case 'attempt':
        // The message already counts the body. The headers are not counted, because reading them here would create
        // them.
        return entryBytes.attempt
      default:
        return entryBytes.other + weightOf(entry)
    }
  }

  #weighEnd(entry: RequestEntry | OutboundEntry | AttemptEntry | ClockEntry): number {
    if (entry.type === 'attempt') return entry.store === undefined ? 0 : weightOf(entry.store)
    if (entry.type === 'clock' || entry.response === undefined) return 0
    const { headers, body } = entry.response
    const weight = weightOfText(body ?? '')
    if (headers === this.#weighedAnswers) return weight
    this.#weighedAnswers = headers
    return weight + weightOfHeaders(headers)
  }

  /** Logs a clock move. @returns a function to call when the move has ended */
  moves(call: ClockEntry['move']): () => void {
    const last = this.#entries.at(-1)
    const goesOn = last?.type === 'clock' && last.move === call && last.to === this.#clock.now()
    const entry: ClockEntry & EntryBase = goesOn ? last : this.append({ type: 'clock', move: call, count: 0 })
    entry.count++
    return () => {
      entry.to = this.#clock.now()
      delete entry.endedAfterSeq
      this.complete(entry)
    }
  }

  /**
   * To save memory, replaces entries by entries of another log that are equal. Only entries that can no longer change
   * are replaced.
   */
  shareWith(other: Pick<TrafficLog, 'get'>): void {
    for (let index = 0; index < this.#entries.length; index++) {
      const own = this.#entries[index]!
      const isOver = own.type === 'request' && own.service === 'store' && own.response !== undefined
      if (!isOver && own.type !== 'command' && own.type !== 'keyspace') continue
      const known = other.get(own.seq)
      if (known !== undefined && isSame(own, known)) this.#entries[index] = known
    }
    this.#index = undefined
  }

  get entries(): readonly Entry[] {
    return this.#entries
  }

  get size(): number {
    return this.#entries.length
  }

  /** Number of entries that were dropped because the log was full. */
  get dropped(): number {
    return this.#dropped
  }

  /** `seq` of the newest entry, including dropped ones; 0 before the first. */
  get latest(): number {
    return this.#sequence
  }

  /** Number of calls of `complete()` so far. It is a part of the position of each input in the journal. */
  get ended(): number {
    return this.#ended
  }

  ofType<T extends EntryType>(type: T): readonly EntryOf<T>[] {
    return this.#indexed().byType.get(type) ?? []
  }

  /** Returns every entry about one message, oldest first. */
  forMessage(messageId: string): readonly Entry[] {
    return this.#indexed().byMessage.get(messageId) ?? []
  }

  get(seq: number): Entry | undefined {
    return entryWith(this.#entries, seq)
  }

  /** Redacts the bodies of a request and its response in every rendering. @param seq number of the request's entry */
  hide(seq: number): void {
    const entry = this.get(seq)
    if (entry?.type === 'request') entry.redact = hiddenBody
  }

  /** Returns the entries after the entry with this `seq`. */
  after(seq: number): readonly Entry[] {
    return seq <= 0 ? this.#entries : this.#entries.slice(placeAfter(this.#entries, seq))
  }

  /**
   * Registers a listener that is called for every new entry, and again when the entry gets its response or outcome.
   * @param types types of entries for which the listener is called; default: all
   * @returns a function that removes the listener
   */
  subscribe(listener: (entry: Entry) => void, types?: readonly EntryType[]): () => void {
    const subscription: Subscription = { listener, types: types && new Set(types) }
    this.#subscribers = [...this.#subscribers, subscription]
    return () => {
      this.#subscribers = this.#subscribers.filter((one) => one !== subscription)
    }
  }

  /** Drops the older half of the entries to free memory, although no limit is exceeded. */
  forgetOlderHalf(): void {
    if (this.#entries.length > 2) this.#forgetOlderHalf()
  }

  /** Drops all entries. Later entries continue the numbering. */
  clear(): void {
    for (const weight of this.#weights) this.#kept.release(weight)
    this.#entries = []
    this.#weights = []
    this.#dropped = 0
    this.#index = undefined
  }

  #tell(entry: Entry): void {
    const subscribers = this.#subscribers
    for (let index = 0; index < subscribers.length; index++) {
      const { listener, types } = subscribers[index]!
      if (types === undefined || types.has(entry.type)) listener(entry)
    }
  }
}

export const hiddenBody: RedactedFields = { body: true, allHeaders: false, headers: new Set() }

function checkedLimit(limit: number | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY
  if (limit >= 0) return limit
  throw new RangeError(`policy.maxTrafficEntries must be at least 0, or undefined for no limit (got ${limit}).`)
}

/** Returns whether two values have the same class and equal fields at every depth. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const [names, others] = [Object.keys(one), Object.keys(other)]
  if (names.length !== others.length || Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  const [some, same] = [one as Record<string, unknown>, other as Record<string, unknown>]
  return names.every((name) => isSame(some[name], same[name]))
}

/**
 * Bytes of memory that an entry of each type uses for its object, its response or outcome, and its position in the log.
 * Its texts and bodies are counted separately.
 */
const entryBytes = {
  request: 300,
  command: 150,
  keyspace: 120,
  published: 350,
  attempt: 1_000,
  other: 150,
}

function index({ byType, byMessage }: TrafficIndex, entry: Entry): void {
  pushTo(byType, entry.type, entry)
  if ('messageId' in entry) pushTo(byMessage, entry.messageId, entry)
}

function pushTo<K>(
  map: { get(key: K): Entry[] | undefined; set(key: K, entries: Entry[]): void },
  key: K,
  entry: Entry,
): void {
  const list = map.get(key)
  if (list) list.push(entry)
  else map.set(key, [entry])
}
