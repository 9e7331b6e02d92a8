import { Account } from './account.js'
import type { Bytes } from './bytes.js'
import type { HeaderList } from './http.js'
import type { PortableString } from './portable.js'
import { weightOf, weightOfHeaders, weightOfText, weightOfWords } from './weight.js'

/** What every entry of the traffic log has. `cause` is the `seq` of the entry that led to this one. */
export interface EntryBase {
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  readonly cause?: number
  /** Region of the queue whose entry this is; absent for that of the home region, and where there is no region. */
  readonly region?: string
}

/** The name of one of the three services. */
export type ServiceName = 'store' | 'queue' | 'stats'

/** One HTTP request that the sandbox received. `response` is there once it was answered. */
export interface RequestEntry {
  readonly type: 'request'
  readonly service: ServiceName
  readonly method: string
  /** As it arrived; tokens in the query are replaced by `***`. */
  readonly url: string
  /** As they arrived; the value of `authorization` is replaced by its scheme and `***`. */
  readonly headers: HeaderList
  readonly body: Bytes
  /** Set once it is known: it is about a run that hides what its steps say. */
  redact?: RedactedFields
  /** What its author should know of the words that it has, or of its token: a sentence. */
  note?: string
  response?: LoggedResponse
  /** `seq` of the last entry that was there when the answer left: where it belongs in the story. */
  endedAfterSeq?: number
}

/** The response to a request, as the traffic log has it. */
export interface LoggedResponse {
  readonly at: number
  /** 0 when the answer was lost or the connection was broken by a fault. */
  readonly status: number
  readonly headers: HeaderList
  /** `undefined` for a stream. */
  readonly body: Bytes | undefined
}

/**
 * One call of the app to a host that is neither the sandbox nor its user: a bank, a mailer. Its `cause` is the attempt whose
 * code made it.
 */
export interface OutboundEntry {
  readonly type: 'outbound'
  readonly method: string
  /** As it arrived. */
  readonly url: string
  /** As they arrived; the value of `authorization` is replaced by its scheme and `***`. */
  readonly headers: HeaderList
  readonly body: Bytes
  /** `seq` of the attempts under way, each of which can have made it, where that cannot be told: then it has no `cause`. */
  readonly possibleCauses?: readonly number[]
  /** How often the handler ran: 0 when a fault came before it, 2 when one repeated the call. */
  handlerRuns: number
  /** Kind of the fault that a script was; faults of rules have entries of their own. */
  fault?: string
  response?: LoggedOutboundResponse
  /** `seq` of the last entry that was there when the app had its answer. */
  endedAfterSeq?: number
}

/** What the app saw of a call. */
export interface LoggedOutboundResponse {
  readonly at: number
  /** 0 without an answer. */
  readonly status: number
  readonly headers: HeaderList
  /** `undefined` for a stream. */
  readonly body: Bytes | undefined
  /** Why there is no answer, as the client is told. */
  readonly error?: string
  /** What really happened where the app saw less: `the handler ran and answered 201, its answer was lost`. */
  readonly note?: string
}

/** One command that the data store ran. `error` is set instead of `reply` when it failed. */
export interface CommandEntry {
  readonly type: 'command'
  readonly argv: readonly Bytes[]
  readonly user: string
  readonly via: 'request' | 'pipeline' | 'transaction' | 'resp' | 'direct'
  readonly reply?: unknown
  readonly error?: string
  /** Milliseconds of virtual time for which it waited, as BLPOP does: its entry is that of its end. */
  readonly waitedMs?: number
  /** What its author should know: the service may refuse it. A sentence. */
  readonly note?: string
}

/** A change in the key space, named as keyspace notifications name it (`set`, `del`, `expired` …). */
export interface KeyspaceEntry {
  readonly type: 'keyspace'
  readonly event: string
  readonly key: Bytes
}

/** The kind of a message: published by an app, a callback or a failure callback. */
export type MessageKind = 'message' | 'callback' | 'failure-callback'

/** The queue accepted a message (or recognised a duplicate). */
export interface PublishedEntry {
  readonly type: 'published'
  readonly messageId: string
  readonly kind: MessageKind
  readonly url: string
  readonly method: string
  readonly headers: HeaderList
  readonly body: Bytes
  readonly maxRetries: number
  readonly notBefore: number
  readonly deduplicated: boolean
  readonly urlGroup?: string
  readonly endpointName?: string
  readonly queue?: string
  readonly scheduleId?: string
  readonly flowControlKey?: string
  readonly labels?: readonly string[]
  readonly callback?: string
  readonly failureCallback?: string
  /** The expression that the message brought for its waits, as it was written. */
  readonly retryDelay?: string
  /** What it is recognised by when it is published again. */
  readonly deduplicationId?: string
  readonly contentBasedDeduplication?: true
  /** For callbacks: the message whose delivery is reported. */
  readonly sourceMessageId?: string
  /** What its publisher asked to hide, with `Redact-Fields`; every rendering does. */
  readonly redact?: RedactedFields
}

/** Parts of a message that no rendering shows. */
export interface RedactedFields {
  readonly body: boolean
  readonly allHeaders: boolean
  /** Lower-case names. */
  readonly headers: ReadonlySet<string>
}

/**
 * What differs between two states of the data store: keys that were added, removed and changed.
 * @template Key a key as dumps have it, with its value; entries of the log do not say which fields it has
 */
export interface StoreDiff<Key extends object = object> {
  readonly added: readonly Key[]
  readonly removed: readonly Key[]
  readonly changed: readonly { readonly key: PortableString; readonly before: Key; readonly after: Key }[]
}

/** One delivery attempt. `outcome` is there once it ended. */
export interface AttemptEntry {
  readonly type: 'attempt'
  readonly messageId: string
  readonly kind: MessageKind
  readonly url: string
  readonly method: string
  readonly retried: number
  readonly maxRetries: number
  /** Why the attempt happens now, as a sentence part: `first attempt`, `retry 2 of 3`, `delivered now on request` … */
  readonly reason: string
  /** Why and how long it had to wait, absent when it did not. */
  readonly waitReason?: string | undefined
  /** The workflow run that the attempt belongs to. */
  readonly workflowRunId?: string | undefined
  readonly headers: HeaderList
  readonly body: Bytes
  /** What its publisher asked to hide. */
  readonly redact?: RedactedFields | undefined
  /** Kind of the fault that a script or an answer of its destination was; faults of rules have entries of their own. */
  fault?: string
  /** What the delivery changed in the data store; only while `traffic.recordStoreChanges()` looks. */
  store?: StoreDiff
  outcome?: AttemptOutcome | undefined
  /** `seq` of the last entry that was there when the attempt ended: where its end belongs in the story. */
  endedAfterSeq?: number
}

/** How a delivery attempt ended. */
export interface AttemptOutcome {
  readonly at: number
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** Text of the failure: a network error, a time-out or the status line. */
  readonly error?: string
  readonly headers: HeaderList
  readonly body: Bytes
  readonly state: 'DELIVERED' | 'RETRY' | 'FAILED' | 'CANCELLED'
  /** For RETRY: when, after how long, and by which rule. */
  readonly next?: { readonly at: number; readonly delayMs: number; readonly reason: string }
  /** What really happened where the queue saw less: `the handler ran, its answer was lost`. */
  readonly note?: string
}

/** A change of a message that is neither an attempt nor its end by one: cancelled, released, expired … */
export interface MessageEntry {
  readonly type: 'message'
  readonly messageId: string
  readonly state: 'CANCEL_REQUESTED' | 'CANCELLED' | 'WAITING' | 'DELIVER_REQUESTED'
  readonly reason?: string
}

/** Entry of a message that became a dead letter. */
export interface DeadLetterEntry {
  readonly type: 'dead-letter'
  readonly messageId: string
  readonly dlqId: string
  readonly kind: MessageKind
  readonly url: string
  readonly status: number
  readonly error?: string
}

/** A workflow run began or came to its end. */
export interface WorkflowEntry {
  readonly type: 'workflow'
  readonly runId: string
  readonly url: string
  readonly state: 'RUN_STARTED' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'
}

/** A run has a step more: done, or one of several that are planned to run beside each other. */
export interface StepEntry {
  readonly type: 'step'
  readonly runId: string
  /** The message that carries it to the endpoint. */
  readonly messageId: string
  readonly stepId: number
  readonly stepName: string
  /** `Run`, `SleepFor`, `Call`, `Wait` … */
  readonly stepType: string
  readonly planned?: true
}

/** A step of a run waits for an event. */
export interface WaitEntry {
  readonly type: 'wait'
  readonly runId: string
  readonly stepId: number
  readonly stepName: string
  readonly eventId: string
  /** When it gives up, in virtual milliseconds. */
  readonly until: number
}

/** An event came. */
export interface NotifyEntry {
  readonly type: 'notify'
  readonly eventId: string
  /** Runs that waited for it. */
  readonly runIds: readonly string[]
  /** The only run that it is for. */
  readonly runId?: string
  readonly body: Bytes
  /** A run that it reaches hides what its steps say. */
  readonly redact?: RedactedFields
  /** `kept`: nobody waited yet, and the run's next wait for it will have it. */
  readonly kept?: true
}

/** A step of a run began another run. */
export interface InvokeEntry {
  readonly type: 'invoke'
  readonly runId: string
  readonly stepId: number
  readonly stepName: string
  readonly invokedRunId: string
  readonly url: string
}

/** What stays in force until it is changed again: `resource` names the kind, `name` which one. */
export interface SettingEntry {
  readonly type: 'setting'
  /** `service`: the whole message queue was reset or loaded; `store`: the data store was loaded. */
  readonly resource: 'schedule' | 'queue' | 'flow-control' | 'signing-keys' | 'service' | 'store'
  readonly name: string
  /** A word for what happened: `created`, `paused`, `skipped`, `limited`, `rotated` … */
  readonly change: string
  /** What is in force from now on, as far as it is no secret. Periods in seconds. */
  readonly value?: Readonly<Record<string, string | number | boolean>>
}

/** A fault rule struck. */
export interface FaultEntry {
  readonly type: 'fault'
  readonly point: string
  readonly fault: string
  readonly target: string
  /** Name of the rule, when it has one. */
  readonly rule?: string
  /** What came of it, as a sentence part. */
  effect?: string
}

/** Flow control held a message back, or let it go after that. Who may start at once leaves no entry. */
export interface FlowControlEntry {
  readonly type: 'flow-control'
  readonly decision: 'held' | 'admitted'
  readonly messageId: string
  /** Absent when the limit of all calls in flight decided. */
  readonly flowControlKey?: string
  /** `held`: the limit that decided, `parallelism 2 of 2`. `admitted`: how long it was held, `held for 3s`. */
  readonly reason: string
}

/** The test moved time. Moves that follow each other with nothing between them are one entry. */
export interface ClockEntry {
  readonly type: 'clock'
  readonly move: 'advance' | 'advanceTo' | 'drain'
  /** Where time stood when the move ended; absent while it goes on. */
  to?: number
  /** Moves in this entry. */
  count: number
  /** `seq` of the last entry that was there when the move ended. */
  endedAfterSeq?: number
}

/** Stands first when the log is full, for everything that it has forgotten. */
export interface DroppedEntry {
  readonly type: 'dropped'
  /** Entries that were forgotten so far. */
  readonly count: number
  /** The limit that was met: entries, or bytes of all that is kept. */
  readonly limit: number
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
/** A table, because the compiler gives up on so many types when it has to search them. */
type EntryTable = { readonly [Body in EntryBody as Body['type']]: EntryBase & Body }
/** The entry of one type. */
export type EntryOf<T extends EntryType> = EntryTable[T]
/** An entry of the traffic log. */
export type Entry = EntryBase & EntryBody

/** Every type of entry; the compiler keeps the list complete. */
export const entryTypes: Readonly<Record<EntryType, true>> = {
  request: true,
  command: true,
  outbound: true,
  keyspace: true,
  published: true,
  attempt: true,
  message: true,
  'dead-letter': true,
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

/** How much a traffic log keeps. */
export interface TrafficLimits {
  /** Entries; of more the older half goes. 0: nothing is captured, and only the queue's events are announced. Default: all. */
  readonly entries?: number | undefined
  /** What it may hold; beyond it the older half goes. Default: all. */
  readonly bytes?: Account | undefined
}

/** Entries by their types. */
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
 * The append-only log of everything a sandbox saw and did. Appending and finding by type or message cost O(1); the
 * index is made by the first question, so that who only counts or listens does not pay for it.
 */
export class TrafficLog {
  /** False when nothing is kept, so that nobody needs to describe what would be thrown away. */
  readonly keeps: boolean
  readonly #clock: { now(): number }
  readonly #limit: number
  readonly #kept: Account
  #entries: Entry[] = []
  /** What each of them weighs. */
  #weights: number[] = []
  /** Headers that many requests, or their answers, share weigh once. */
  #weighed: HeaderList | undefined
  #weighedAnswers: HeaderList | undefined
  #dropped = 0
  #index: TrafficIndex | undefined
  /** Replaced, never mutated: listeners may come and go while an entry is announced. */
  #subscribers: readonly Subscription[] = []
  #sequence = 0
  #ended = 0

  /** @param limits what is kept, or how many entries. Default: all. @internal */
  constructor(clock: { now(): number }, limits: TrafficLimits | number = {}) {
    const { entries, bytes } = typeof limits === 'number' ? { entries: limits } : (limits as TrafficLimits)
    this.#clock = clock
    this.#limit = checkedLimit(entries)
    this.#kept = bytes ?? new Account(Number.POSITIVE_INFINITY)
    this.keeps = this.#limit > 0
  }

  /** A log of entries that were recorded before; nothing is added to it. */
  static recorded(entries: readonly Entry[]): TrafficLog {
    const traffic = new TrafficLog({ now: () => entries.at(-1)?.at ?? 0 })
    traffic.#entries = [...entries]
    traffic.#sequence = entries.at(-1)?.seq ?? 0
    const first = entries[0]
    if (first?.type === 'dropped') traffic.#dropped = first.count
    return traffic
  }

  /** A part of what the log may hold, for what else is kept of the past: the log has so much less. @internal */
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

  /** Files an entry that is an object of its own, made to be small or to build costly fields when they are read. */
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

  /** Makes room; an entry that tells how much is gone takes the place of the last one that went. */
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
      this.#entries = this.#limit > 1 ? [mark, ...kept] : kept
      this.#weights = this.#limit > 1 ? [0, ...weights] : weights
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
   * Adds the answer to a request, or the outcome to an attempt, once. An entry that knows its end is only announced.
   * @param bytes of the answer, when `end` does not hold it
   */
  complete<E extends RequestEntry | OutboundEntry | AttemptEntry | ClockEntry>(
    entry: E,
    end?: Pick<E, 'response' & keyof E> | Pick<E, 'outcome' & keyof E>,
    bytes = 0,
  ): void {
    if (end !== undefined) Object.assign(entry, end)
    this.#ended++
    // A late answer completes an attempt a second time: it ended when it was given up.
    entry.endedAfterSeq ??= this.#sequence
    this.#add(entry as Entry, bytes + this.#weighEnd(entry))
    if (this.#isFull) this.#forgetOlderHalf()
    if (this.#subscribers.length > 0) this.#tell(entry as Entry)
  }

  /** What an entry has become heavier by, unless it is gone. */
  #add(entry: Entry, weight: number): void {
    const place = this.#placeAfter(entry.seq - 1)
    if (weight === 0 || this.#entries[place] !== entry) return
    this.#weights[place]! += weight
    this.#kept.put(weight)
  }

  #weigh(entry: Entry): number {
    switch (entry.type) {
      case 'command':
        return entryBytes.command + weightOfWords(entry.argv) + weightOf(entry.reply)
      case 'keyspace':
        return entryBytes.keyspace + weightOfText(entry.key)
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
        // Its body is that of its message; reading its headers would make them.
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

  /** The test moves time. @returns what to call when the move has ended */
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

  /** Takes over what is the same in another log, so that both have it in memory once: entries that never change again. */
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

  /** Entries that were dropped because the log was full. */
  get dropped(): number {
    return this.#dropped
  }

  /** `seq` of the newest entry, 0 before the first; forgotten ones count. */
  get latest(): number {
    return this.#sequence
  }

  /** How often an entry has been completed. */
  get ended(): number {
    return this.#ended
  }

  ofType<T extends EntryType>(type: T): readonly EntryOf<T>[] {
    return this.#indexed().byType.get(type) ?? []
  }

  /** Every entry about one message, oldest first. */
  forMessage(messageId: string): readonly Entry[] {
    return this.#indexed().byMessage.get(messageId) ?? []
  }

  get(seq: number): Entry | undefined {
    const entry = this.#entries[this.#placeAfter(seq - 1)]
    return entry?.seq === seq ? entry : undefined
  }

  /** No rendering shows the bodies of a request and of its answer. */
  hide(seq: number): void {
    const entry = this.get(seq)
    if (entry?.type === 'request') entry.redact = hiddenBody
  }

  /** The entries with a higher `seq`. */
  after(seq: number): readonly Entry[] {
    return seq <= 0 ? this.#entries : this.#entries.slice(this.#placeAfter(seq))
  }

  /** Where the first entry with a higher `seq` stands. Entries are consecutive, but for recorded ones. */
  #placeAfter(seq: number): number {
    const entries = this.#entries
    const first = entries[0]
    if (first === undefined || seq < first.seq) return 0
    const guess = seq - first.seq
    if (entries[guess]?.seq === seq) return guess + 1
    let [low, high] = [0, entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (entries[middle]!.seq > seq) high = middle
      else low = middle + 1
    }
    return low
  }

  /**
   * Calls back on every new entry, and again when a request is answered or an attempt ends.
   * @param types what is told; everything by default
   */
  subscribe(listener: (entry: Entry) => void, types?: readonly EntryType[]): () => void {
    const subscription: Subscription = { listener, types: types && new Set(types) }
    this.#subscribers = [...this.#subscribers, subscription]
    return () => {
      this.#subscribers = this.#subscribers.filter((one) => one !== subscription)
    }
  }

  /** Makes room where there is no memory: the older half goes, as it does beyond a limit. */
  forgetOlderHalf(): void {
    if (this.#entries.length > 2) this.#forgetOlderHalf()
  }

  /** Forgets all entries; numbering continues. */
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
  throw new RangeError(`A traffic log keeps 0 or more, or everything with undefined; got ${limit}.`)
}

/** Whether data is the same; classes count as data. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const [names, others] = [Object.keys(one), Object.keys(other)]
  if (names.length !== others.length || Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  const [some, same] = [one as Record<string, unknown>, other as Record<string, unknown>]
  return names.every((name) => isSame(some[name], same[name]))
}

/** What an entry weighs beside what it holds: the object, its answer's or outcome's, and its place in the log. */
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
