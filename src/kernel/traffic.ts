import type { Bytes } from './bytes.js'

/** What every entry of the traffic log has. `cause` is the `seq` of the entry that led to this one. */
export interface EntryStamp {
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  readonly cause?: number
}

export type ServiceName = 'store' | 'queue' | 'stats'

/** One HTTP request that the sandbox received. `answer` is there once it was answered. */
export interface RequestEntry {
  readonly type: 'request'
  readonly service: ServiceName
  readonly method: string
  /** As it arrived; tokens in the query are replaced by `***`. */
  readonly url: string
  /** As they arrived; the value of `authorization` is replaced by its scheme and `***`. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Bytes
  answer?: RequestAnswer
  /** `seq` of the last entry that was there when the answer left: where it belongs in the story. */
  endedAfter?: number
}

export interface RequestAnswer {
  readonly at: number
  /** 0 when the answer was lost or the connection was broken by a fault. */
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /** `undefined` for a stream. */
  readonly body: Bytes | undefined
}

/** One command that the data store ran. `error` is set instead of `reply` when it failed. */
export interface CommandEntry {
  readonly type: 'command'
  readonly argv: readonly Bytes[]
  readonly user: string
  readonly via: 'request' | 'pipeline' | 'transaction' | 'direct'
  readonly reply?: unknown
  readonly error?: string
}

/** A change in the key space, named as keyspace notifications name it (`set`, `del`, `expired` …). */
export interface KeyspaceEntry {
  readonly type: 'keyspace'
  readonly event: string
  readonly key: Bytes
}

export type MessageKind = 'message' | 'callback' | 'failure-callback'

/** The queue accepted a message (or recognised a duplicate). */
export interface PublishedEntry {
  readonly type: 'published'
  readonly messageId: string
  readonly kind: MessageKind
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
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
  readonly why: string
  /** Why and how long it had to wait, absent when it did not. */
  readonly waited?: string | undefined
  /** The workflow run that the attempt belongs to. */
  readonly workflowRunId?: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Bytes
  outcome?: AttemptOutcome | undefined
  /** `seq` of the last entry that was there when the attempt ended: where its end belongs in the story. */
  endedAfter?: number
}

export interface AttemptOutcome {
  readonly at: number
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** Text of the failure: a network error, a time-out or the status line. */
  readonly error?: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Bytes
  readonly state: 'DELIVERED' | 'RETRY' | 'FAILED' | 'CANCELLED'
  /** For RETRY: when, after how long, and by which rule. */
  readonly next?: { readonly at: number; readonly delay: number; readonly reason: string }
  /** What really happened where the queue saw less: `the handler ran, its answer was lost`. */
  readonly note?: string
}

/** A change of a message that is neither an attempt nor its end by one: cancelled, released, expired … */
export interface MessageEntry {
  readonly type: 'message'
  readonly messageId: string
  readonly state: 'CANCEL_REQUESTED' | 'CANCELLED' | 'WAITING' | 'RELEASED'
  readonly reason?: string
}

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

/** What stays in force until it is changed again: `of` names the kind, `name` which one. */
export interface SettingEntry {
  readonly type: 'setting'
  /** `service`: the whole queue was reset. */
  readonly of: 'schedule' | 'queue' | 'flow-control' | 'signing-keys' | 'service'
  readonly name: string
  /** A word for what happened: `created`, `paused`, `limited`, `rotated` … */
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
}

export type EntryBody =
  | RequestEntry
  | CommandEntry
  | KeyspaceEntry
  | PublishedEntry
  | AttemptEntry
  | MessageEntry
  | DeadLetterEntry
  | WorkflowEntry
  | SettingEntry
  | FaultEntry
export type EntryType = EntryBody['type']
export type EntryOf<T extends EntryType> = EntryStamp & Extract<EntryBody, { type: T }>
export type Entry = EntryStamp & EntryBody

/** Entries by type and by message. */
interface TrafficIndex {
  readonly byType: Map<EntryType, Entry[]>
  readonly byMessage: Map<string, Entry[]>
}

/**
 * The append-only log of everything a sandbox saw and did. Appending and finding by type or message cost O(1); the
 * index is made by the first question, so that who only counts or listens does not pay for it.
 */
export class Traffic {
  readonly #now: () => number
  readonly #limit: number
  #entries: Entry[] = []
  #index: TrafficIndex | undefined
  #subscribers = new Set<(entry: Entry) => void>()
  #sequence = 0

  /** @param limit entries that are kept; beyond it the older half goes. Default: all. */
  constructor(now: () => number, limit: number = Number.POSITIVE_INFINITY) {
    this.#now = now
    this.#limit = limit
  }

  append<B extends EntryBody>(body: B, cause?: number): EntryStamp & B {
    const stamp: EntryStamp =
      cause === undefined
        ? { seq: ++this.#sequence, at: this.#now() }
        : { seq: ++this.#sequence, at: this.#now(), cause }
    const entry = Object.assign(stamp, body) as EntryStamp & B
    this.#file(entry as Entry)
    return entry
  }

  /** Files an entry that is an object of its own, made to be small or to build costly fields when they are read. */
  adopt<E extends EntryBody & { seq: number; at: number; cause?: number }>(entry: E, cause?: number): void {
    entry.seq = ++this.#sequence
    entry.at = this.#now()
    if (cause !== undefined) entry.cause = cause
    this.#file(entry)
  }

  #file(entry: Entry): void {
    this.#entries.push(entry)
    if (this.#entries.length > this.#limit) this.#forgetOlderHalf()
    else if (this.#index !== undefined) index(this.#index, entry)
    if (this.#subscribers.size > 0) this.#tell(entry)
  }

  #forgetOlderHalf(): void {
    this.#entries = this.#entries.slice(-Math.ceil(this.#limit / 2))
    this.#index = undefined
  }

  #indexed(): TrafficIndex {
    if (this.#index === undefined) {
      this.#index = { byType: new Map(), byMessage: new Map() }
      for (const entry of this.#entries) index(this.#index, entry)
    }
    return this.#index
  }

  /** Adds the answer to a request, or the outcome to an attempt, once. An entry that knows its end is only announced. */
  complete<E extends RequestEntry | AttemptEntry>(
    entry: E,
    end?: Pick<E, 'answer' & keyof E> | Pick<E, 'outcome' & keyof E>,
  ): void {
    if (end !== undefined) Object.assign(entry, end)
    // A late answer completes an attempt a second time: it ended when it was given up.
    entry.endedAfter ??= this.#sequence
    if (this.#subscribers.size > 0) this.#tell(entry as unknown as Entry)
  }

  get entries(): readonly Entry[] {
    return this.#entries
  }

  get size(): number {
    return this.#entries.length
  }

  of<T extends EntryType>(type: T): readonly EntryOf<T>[] {
    return (this.#indexed().byType.get(type) ?? []) as unknown as readonly EntryOf<T>[]
  }

  /** Every entry about one message, oldest first. */
  about(messageId: string): readonly Entry[] {
    return this.#indexed().byMessage.get(messageId) ?? []
  }

  find(seq: number): Entry | undefined {
    // Entries are consecutive, so the first one tells where each other stands.
    const first = this.#entries[0]
    return first === undefined ? undefined : this.#entries[seq - first.seq]
  }

  /** Calls back on every new entry, and again when a request is answered or an attempt ends. */
  subscribe(listener: (entry: Entry) => void): () => void {
    this.#subscribers.add(listener)
    return () => this.#subscribers.delete(listener)
  }

  /** Forgets all entries; numbering goes on. */
  clear(): void {
    this.#entries = []
    this.#index = undefined
  }

  #tell(entry: Entry): void {
    for (const subscriber of this.#subscribers) subscriber(entry)
  }
}

function index({ byType, byMessage }: TrafficIndex, entry: Entry): void {
  pushTo(byType, entry.type, entry)
  if ('messageId' in entry) pushTo(byMessage, entry.messageId, entry)
}

function pushTo<K>(map: Map<K, Entry[]>, key: K, entry: Entry): void {
  const list = map.get(key)
  if (list) list.push(entry)
  else map.set(key, [entry])
}
