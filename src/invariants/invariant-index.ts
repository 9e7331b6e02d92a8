import type { EntriesByType, Entry, EntryOf, EntryType } from '../kernel/traffic-log.js'
import type { ResolvedPolicy, ResolvedQueueLimits } from '../policy/policy.js'

/**
 * State of a message that has not ended. `adrift` means a bug in the engine: the message has no timer, no waiting list
 * contains it, and it expects no response. So it will never end.
 */
export type Whereabouts = 'planned' | 'running' | 'held' | 'adrift'

/** Input of the invariant checks: the traffic log and the present state of a sandbox. */
export interface CheckedSandbox {
  readonly entries: readonly Entry[]
  /** Virtual time of the check in milliseconds. */
  readonly now: number
  /** Whether the clock follows host time. Its timers may then be late. */
  readonly isRealTime: boolean
  readonly policy: ResolvedPolicy
  readonly limits: ResolvedQueueLimits
  /** Whether the present state is final: nothing runs, and only recurring timers are left. */
  readonly isDrained: boolean
  /** State of each message that has not ended, by message ID. */
  readonly pending: ReadonlyMap<string, Whereabouts>
  /** Keys with which deliveries have been signed, from the oldest key to the current key. */
  readonly signingKeys: readonly string[]
  /**
   * Returns the names of the signature headers of a delivery. The delivery has one such header for each dialect that it
   * uses.
   */
  signatureHeaders(attempt: EntryOf<'attempt'>): readonly string[]
  /** Evaluates a retry-delay expression. Returns the delay before the retry in milliseconds. */
  readonly retryDelay: (expression: string, retried: number) => number
  /** Yields the fire times of a cron expression after `from` and up to `to`. */
  readonly slots: (cron: string, from: number, to: number) => Iterable<number>
}

/** Everything that the log contains about one message. */
export interface CheckedMessage {
  readonly id: string
  readonly published: EntryOf<'published'>
  readonly attempts: EntryOf<'attempt'>[]
  /** Flow-control entries about the message. Each says either that the message was held or that it was admitted. */
  readonly decisions: EntryOf<'flow-control'>[]
  /** Entries about state changes of the message, oldest first. For example, one says that the message was canceled. */
  readonly changes: EntryOf<'message'>[]
  readonly deadLetters: EntryOf<'dead-letter'>[]
  /** `published` entries of the callbacks that report attempts of the message. */
  readonly callbacks: EntryOf<'published'>[]
  /**
   * Whether a reset or a load of the queue removed the message before its end. The message will then never be
   * delivered.
   */
  isAbandoned: boolean
  /** Log position at which a fault dropped the message. */
  droppedAt?: number
}

/**
 * Indexes of the log entries, built once for all invariants. A log position is the `seq` of an entry. The end of an
 * attempt has no entry, so its position is the `seq` of the previous entry plus 0.5.
 */
export class InvariantIndex {
  /**
   * Messages whose `published` entry is in the log, in log order. The key is the `seq` of this entry and not the
   * message ID, because a queue assigns the same IDs again after a reset.
   */
  readonly stories: Map<number, CheckedMessage> = new Map()
  /**
   * Messages that were published since the latest reset or load, by ID. A message ID in a later entry refers to the
   * message in this map.
   */
  readonly #open = new Map<string, CheckedMessage>()
  readonly #faults = new Map<number, Set<string>>()
  readonly #faultsOfMessage = new Map<string, Set<string>>()
  readonly #byType: EntriesByType = new Map()
  /** Time of the first restart that a fault caused. Infinity without a restart. */
  readonly restartedAt: number
  /** Whether the log is complete, from its first entry. */
  readonly isWhole: boolean
  readonly #first: number

  constructor(readonly world: CheckedSandbox) {
    const { entries } = world
    this.#first = entries[0]?.seq ?? 1
    this.isWhole = this.#first === 1 && entries[0]?.type !== 'dropped' && world.policy.maxTrafficEntries !== 0
    for (const entry of entries) this.#file(entry)
    for (const fault of this.of('fault')) this.#fileFault(fault)
    const restart = this.of('fault').find(({ fault }) => fault === 'restart')
    this.restartedAt = restart?.at ?? Number.POSITIVE_INFINITY
    if (restart !== undefined) this.#fileCutOff()
  }

  of<T extends EntryType>(type: T): readonly EntryOf<T>[] {
    return this.#byType.get(type) ?? []
  }

  find(seq: number | undefined): Entry | undefined {
    const entry = seq === undefined ? undefined : this.world.entries[seq - this.#first]
    return entry?.seq === seq ? entry : undefined
  }

  /**
   * Whether one of the given kinds of faults was injected. `target` is a log entry, or the ID of a message. A message
   * ID means all entries about the message.
   */
  struck(target: Entry | string, kinds: Readonly<Record<string, unknown>> = {}): boolean {
    const faults = typeof target === 'string' ? this.#faultsOfMessage.get(target) : this.#faults.get(target.seq)
    if (faults === undefined) return false
    for (const fault of faults) if (Object.hasOwn(kinds, fault)) return true
    return false
  }

  #file(entry: Entry): void {
    const list = this.#byType.get(entry.type)
    if (list === undefined) this.#byType.set(entry.type, [entry])
    else list.push(entry)
    switch (entry.type) {
      case 'published':
        this.#filePublished(entry)
        return
      case 'attempt':
        this.#open.get(entry.messageId)?.attempts.push(entry)
        return
      case 'message':
        this.#open.get(entry.messageId)?.changes.push(entry)
        return
      case 'flow-control':
        this.#open.get(entry.messageId)?.decisions.push(entry)
        return
      case 'dead-letter':
        this.#open.get(entry.messageId)?.deadLetters.push(entry)
        return
      case 'fault':
        if (entry.fault === 'drop') this.#drop(entry)
        return
      case 'setting':
        if (entry.resource === 'service') this.#abandon()
    }
  }

  #filePublished(entry: EntryOf<'published'>): void {
    if (entry.deduplicated) return
    const { messageId: id, sourceMessageId } = entry
    const story: CheckedMessage = {
      id,
      published: entry,
      attempts: [],
      decisions: [],
      changes: [],
      deadLetters: [],
      callbacks: [],
      isAbandoned: false,
    }
    this.stories.set(entry.seq, story)
    this.#open.set(id, story)
    if (sourceMessageId !== undefined) this.#open.get(sourceMessageId)?.callbacks.push(entry)
  }

  #drop(fault: EntryOf<'fault'>): void {
    const hit = this.find(fault.cause)
    const story = hit !== undefined && 'messageId' in hit ? this.#open.get(hit.messageId) : undefined
    if (story !== undefined) story.droppedAt = fault.seq
  }

  #fileCutOff(): void {
    for (const attempt of this.of('attempt')) {
      if (attempt.outcome?.error === cutOff) addTo(this.#faultsOfMessage, attempt.messageId, 'restart')
    }
  }

  #abandon(): void {
    for (const story of this.#open.values()) story.isAbandoned = true
    this.#open.clear()
  }

  #fileFault(fault: EntryOf<'fault'>): void {
    const hit = this.find(fault.cause)
    const kind = fault.fault
    if (hit === undefined) return
    addTo(this.#faults, hit.seq, kind)
    if ('messageId' in hit) addTo(this.#faultsOfMessage, hit.messageId, kind)
  }
}

/**
 * Error text of attempts that a restart interrupted. The text identifies these attempts, because the log entry of the
 * `restart` fault refers to only one of them.
 */
const cutOff = 'the service restarted'

function addTo<K>(sets: Map<K, Set<string>>, key: K, kind: string): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([kind]))
  else set.add(kind)
}

/** Returns the log position at which an attempt ended. Infinity while the attempt is in flight. */
export function endOf(attempt: EntryOf<'attempt'>): number {
  return attempt.outcome === undefined ? Number.POSITIVE_INFINITY : (attempt.endedAfterSeq ?? attempt.seq) + 0.5
}

/**
 * Returns the log position at which a message ended: it was delivered, failed, was canceled or was dropped. Infinity
 * while the message is pending.
 */
export function endOfLifecycle({ attempts, changes, droppedAt }: CheckedMessage): number {
  if (droppedAt !== undefined) return droppedAt
  const cancelled = changes.find((change) => change.state === 'CANCELLED')
  if (cancelled !== undefined) return cancelled.seq
  for (const attempt of attempts) if (isFinal(attempt)) return endOf(attempt)
  return Number.POSITIVE_INFINITY
}

export function isFinal({ outcome }: EntryOf<'attempt'>): boolean {
  return outcome?.state === 'DELIVERED' || outcome?.state === 'FAILED'
}

/** Whether the message has an entry with the state `CANCEL_REQUESTED` before a log position. */
export function wasCancelled({ changes }: CheckedMessage, before: number): boolean {
  return changes.some((change) => change.state === 'CANCEL_REQUESTED' && change.seq < before)
}
