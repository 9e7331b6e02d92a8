import type { EntriesByType, Entry, EntryOf, EntryType } from '../kernel/traffic-log.js'
import type { ResolvedPolicy, ResolvedQueueLimits } from '../policy/policy.js'

/** The state of a message that has not ended. `adrift`: nothing will ever move it on. */
export type Whereabouts = 'planned' | 'running' | 'held' | 'adrift'

/** What the promises are checked against: the traffic, and what else a sandbox knows. */
export interface CheckedSandbox {
  readonly entries: readonly Entry[]
  /** Virtual time of the check, milliseconds. */
  readonly now: number
  /** Time runs with the host: timers may be late. */
  readonly isRealTime: boolean
  readonly policy: ResolvedPolicy
  readonly limits: ResolvedQueueLimits
  /** Nothing runs, and no timer is left but those that renew themselves for ever: what stands now stays. */
  readonly isDrained: boolean
  /** Messages that have not ended. */
  readonly pending: ReadonlyMap<string, Whereabouts>
  /** Keys that signed deliveries, the oldest first and the one in force last. */
  readonly signingKeys: readonly string[]
  /** Names of the headers with signatures: one for each of the words in which it was delivered. */
  signatureHeaders(attempt: EntryOf<'attempt'>): readonly string[]
  /** The value of an expression for the wait before a retry, milliseconds. */
  readonly retryDelay: (expression: string, retried: number) => number
  /** The times a cron expression names, after `from` and up to `to`. */
  readonly slots: (cron: string, from: number, to: number) => Iterable<number>
}

/** Everything that is known about one message. */
export interface CheckedMessage {
  readonly id: string
  readonly published: EntryOf<'published'>
  readonly attempts: EntryOf<'attempt'>[]
  /** What flow control decided about it. */
  readonly decisions: EntryOf<'flow-control'>[]
  /** Cancelled, released, held: in their order. */
  readonly changes: EntryOf<'message'>[]
  readonly deadLetters: EntryOf<'dead-letter'>[]
  /** Messages that report its attempts. */
  readonly callbacks: EntryOf<'published'>[]
  /** The queue was reset or loaded while it was under way: nobody delivers it any more. */
  isAbandoned: boolean
  /** Where a fault made it vanish. */
  droppedAt?: number
}

/**
 * The entries with the indexes that the promises need, built once for all of them. Positions in the story are
 * numbers that can be compared: an entry stands at its `seq`, an end half a step after the last entry before it.
 */
export class InvariantIndex {
  /** Messages whose publishing is in the log, and so all that followed from it, in the order of publishing, by its `seq`: a reset queue gives its ids again. */
  readonly stories: Map<number, CheckedMessage> = new Map()
  /** Those that continue after a load: a story under the same id whose beginning is not here. */
  readonly #open = new Map<string, CheckedMessage>()
  readonly #faults = new Map<number, Set<string>>()
  readonly #faultsOfMessage = new Map<string, Set<string>>()
  readonly #byType: EntriesByType = new Map()
  /** When a fault let the service restart for the first time; infinity when none did. */
  readonly restartedAt: number
  /** Nothing has been dropped. */
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

  /** Whether a fault of one of these kinds struck an entry, or any entry about the message. */
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

/** The queue's note on an attempt that a restart cut off; the fault's entry points at only one of them. */
const cutOff = 'the service restarted'

function addTo<K>(sets: Map<K, Set<string>>, key: K, kind: string): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([kind]))
  else set.add(kind)
}

/** The position of an attempt's end in the story; infinity while it is under way. */
export function endOf(attempt: EntryOf<'attempt'>): number {
  return attempt.outcome === undefined ? Number.POSITIVE_INFINITY : (attempt.endedAfterSeq ?? attempt.seq) + 0.5
}

/** Where a message ended: delivered, dead or cancelled; infinity while it is under way. */
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

/** Whether the message had been cancelled when something happened. */
export function wasCancelled({ changes }: CheckedMessage, before: number): boolean {
  return changes.some((change) => change.state === 'CANCEL_REQUESTED' && change.seq < before)
}
