import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import type { StoreInstant } from './store-model.js'

// One message as the log tells it: where it stood at any instant.

/** `LOST`: a fault made it vanish. */
export type ShownMessageState =
  | 'CREATED'
  | 'ACTIVE'
  | 'RETRY'
  | 'DELIVERED'
  | 'FAILED'
  | 'CANCEL_REQUESTED'
  | 'CANCELLED'
  | 'LOST'

/** Where a message stood. Times are virtual milliseconds since the Unix epoch. */
export interface MessageAt {
  readonly id: string
  readonly story: MessageStates
  readonly state: ShownMessageState
  /** `seq` of the entry that brought it there. */
  readonly seq: number
  /** Attempts that had begun. */
  readonly attempts: number
  /** Retries that had been made or were next. */
  readonly retried: number
  /** Why it waits, as far as the log tells. */
  readonly why: string | undefined
  /** When it is due, where a time is known. */
  readonly due: number | undefined
  /** The flow-control key in whose wait list it stands; empty for that of the plan. */
  readonly heldBy: string | undefined
}

type Standing = { -readonly [K in keyof MessageAt]: MessageAt[K] }

/** What an entry does to where a message stands. */
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
    // One that is cancelled while its attempt runs ends with an entry of its own.
    if (outcome.state === 'CANCELLED') standing.state = 'CANCEL_REQUESTED'
    else standing.state = outcome.state
    if (outcome.state !== 'RETRY') return
    standing.retried = entry.retried + 1
    standing.due = outcome.next?.at
    standing.why = outcome.next?.reason
  },
  message(standing, { state, reason, at }: EntryOf<'message'>) {
    standing.due = state === 'DELIVER_REQUESTED' ? at : undefined
    // Flow control has said it better.
    if (standing.heldBy === undefined) standing.why = reason
    // What is delivered stays so, though its end was asked for meanwhile.
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

/** Whether what an entry began was over at a point. */
function hasEnded({ endedAfterSeq }: { endedAfterSeq?: number }, at: number, point: StoreInstant): boolean {
  return at <= point.at && (endedAfterSeq === undefined || endedAfterSeq <= point.seq)
}

export function isOver(state: ShownMessageState): boolean {
  return state === 'DELIVERED' || state === 'FAILED' || state === 'CANCELLED' || state === 'LOST'
}

type Publication = Partial<EntryOf<'published'>>

export class MessageStates {
  /** Oldest first; the first one is its publication unless the log has forgotten it. */
  readonly entries: TraceEntry[]
  /** Where it stands at the end of what is known, and from when on. */
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

  /** What its publication says; of one that came before the log, what its first attempt does. */
  get said(): Publication & Pick<EntryOf<'published'>, 'kind' | 'url' | 'method' | 'maxRetries'> {
    return this.first as never
  }

  get region(): string | undefined {
    return this.first.region as string | undefined
  }

  /** Takes an entry, or what has become of one. */
  add(entry: TraceEntry): void {
    let at = this.entries.length
    while (at > 0 && this.entries[at - 1]!.seq >= entry.seq) at--
    this.entries.splice(at, this.entries[at]?.seq === entry.seq ? 1 : 0, entry)
    this.#last = undefined
  }

  /** Where it stood; `undefined` before its publication. */
  at(point: StoreInstant): MessageAt | undefined {
    if (this.first.seq > point.seq || this.first.at > point.at) return undefined
    const last = this.#last ?? { from: this.#end(), standing: undefined }
    if (last.from.seq > point.seq || last.from.at > point.at) return this.#standing(point)
    const standing = last.standing ?? this.#standing(point)
    this.#last = { from: last.from, standing }
    return standing
  }

  /** From here on nothing more is known of it. */
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
