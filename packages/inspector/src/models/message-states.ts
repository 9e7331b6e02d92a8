import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import type { StoreInstant } from './store-model.js'

// The states of one message, computed from the entries of the log.

/** States of a message. `LOST` means that a fault dropped the message. */
export type ShownMessageState =
  | 'CREATED'
  | 'ACTIVE'
  | 'RETRY'
  | 'DELIVERED'
  | 'FAILED'
  | 'CANCEL_REQUESTED'
  | 'CANCELLED'
  | 'LOST'

/** State of a message. Times are virtual milliseconds since the Unix epoch. */
export interface MessageAt {
  readonly id: string
  readonly story: MessageStates
  readonly state: ShownMessageState
  /** `seq` of the entry that set the state. */
  readonly seq: number
  /** Number of attempts that have begun. */
  readonly attempts: number
  /** Number of retries, including the next one. */
  readonly retried: number
  /** Reason why the message waits, if the log contains it. */
  readonly why: string | undefined
  /** Time of the next attempt, if it is known. */
  readonly due: number | undefined
  /** Flow-control key that holds back the message. Empty if the limit of the plan holds it back. */
  readonly heldBy: string | undefined
}

type Standing = { -readonly [K in keyof MessageAt]: MessageAt[K] }

/** Changes that an entry makes to the state of a message, by entry type. */
const effects: Readonly<Record<string, (standing: Standing, entry: never, point: StoreInstant) => void>> = {
  published(standing, { notBefore, at }: EntryOf<'published'>) {
    standing.due = notBefore
    standing.why = notBefore > at ? 'its delay' : undefined
  },
  attempt(standing, entry: EntryOf<'attempt'>, point) {
    Object.assign(standing, { state: 'ACTIVE', why: undefined, due: undefined, heldBy: undefined })
    standing.attempts++
    standing.retried = entry.retried
    const { outcome } = entry
    if (outcome === undefined || !hasEnded(entry, outcome.at, point)) return
    // If a message is canceled during an attempt, it first has the state `CANCEL_REQUESTED`. A later entry sets the
    // final state.
    if (outcome.state === 'CANCELLED') standing.state = 'CANCEL_REQUESTED'
    else standing.state = outcome.state
    if (outcome.state !== 'RETRY') return
    standing.retried = entry.retried + 1
    standing.due = outcome.next?.at
    standing.why = outcome.next?.reason
  },
  message(standing, { state, reason, at }: EntryOf<'message'>) {
    standing.due = state === 'DELIVER_REQUESTED' ? at : undefined
    // `heldBy` already describes why the message waits.
    if (standing.heldBy === undefined) standing.why = reason
    // If the cancellation was requested during an attempt that succeeded, the message stays delivered.
    const ends = state === 'CANCEL_REQUESTED' || state === 'CANCELLED'
    if (ends && !isOver(standing.state)) Object.assign(standing, { state, why: undefined, heldBy: undefined })
  },
  'flow-control'(standing, { decision, reason, flowControlKey }: EntryOf<'flow-control'>) {
    standing.heldBy = decision === 'held' ? (flowControlKey ?? '') : undefined
    if (decision === 'held') {
      standing.why = flowControlKey === undefined ? reason : `flow-control key ${flowControlKey}: ${reason}`
      standing.due = undefined
    }
  },
  'dead-letter'(standing) {
    standing.state = 'FAILED'
  },
  fault(standing) {
    standing.state = 'LOST'
  },
}

/** Returns whether an entry had ended at this point of the log. */
function hasEnded({ endedAfterSeq }: { endedAfterSeq?: number }, at: number, point: StoreInstant): boolean {
  return at <= point.at && (endedAfterSeq === undefined || endedAfterSeq <= point.seq)
}

export function isOver(state: ShownMessageState): boolean {
  return state === 'DELIVERED' || state === 'FAILED' || state === 'CANCELLED' || state === 'LOST'
}

type Publication = Partial<EntryOf<'published'>>

export class MessageStates {
  /** Entries of the message, oldest first. The first entry is the publication, if the log still contains it. */
  readonly entries: TraceEntry[]
  /** State after the last entry. It applies from the point `from` on. */
  #last: { readonly from: StoreInstant; readonly standing: MessageAt } | undefined

  constructor(
    readonly id: string,
    first: TraceEntry,
  ) {
    this.entries = [first]
  }

  get first(): TraceEntry {
    return this.entries[0]!
  }

  /** Fields of the publication. If the log does not contain the publication, they are those of the first attempt. */
  get said(): Publication & Pick<EntryOf<'published'>, 'kind' | 'url' | 'method' | 'maxRetries'> {
    return this.first as never
  }

  get region(): string | undefined {
    return this.first.region as string | undefined
  }

  /** Adds an entry, or replaces an entry by its newer version. */
  add(entry: TraceEntry): void {
    let at = this.entries.length
    while (at > 0 && this.entries[at - 1]!.seq >= entry.seq) at--
    this.entries.splice(at, this.entries[at]?.seq === entry.seq ? 1 : 0, entry)
    this.#last = undefined
  }

  /** Returns the state of the message at a point, or `undefined` before its publication. */
  at(point: StoreInstant): MessageAt | undefined {
    if (this.first.seq > point.seq || this.first.at > point.at) return undefined
    const last = this.#last ?? { from: this.#end(), standing: undefined }
    if (last.from.seq > point.seq || last.from.at > point.at) return this.#standing(point)
    const standing = last.standing ?? this.#standing(point)
    this.#last = { from: last.from, standing }
    return standing
  }

  /** Returns the point of the log at which the message last changed. */
  #end(): StoreInstant {
    let { seq, at } = this.first
    for (const entry of this.entries) {
      const { outcome, endedAfterSeq } = entry as { outcome?: { at: number }; endedAfterSeq?: number }
      seq = Math.max(seq, entry.seq, endedAfterSeq ?? 0)
      at = Math.max(at, entry.at, outcome?.at ?? 0)
    }
    return { seq, at }
  }

  #standing(point: StoreInstant): MessageAt {
    const standing: Standing = {
      id: this.id,
      story: this,
      state: 'CREATED',
      seq: this.first.seq,
      attempts: 0,
      retried: 0,
      why: undefined,
      due: undefined,
      heldBy: undefined,
    }
    for (const entry of this.entries) {
      if (entry.seq > point.seq || entry.at > point.at) break
      effects[entry.type]?.(standing, entry as never, point)
      standing.seq = entry.seq
    }
    return standing
  }
}
