import type { Entry } from '../kernel/traffic-log.js'
import { describeEntry, type EntryDescription, type EntryWording } from './describe.js'
import { type Nesting, nestingOf, type Repetitions, repetitionsOf, repetitionText } from './nesting.js'

/** Entries that are shown because they matter most. */
export interface Choice {
  /** How many entries are left out before one, by its `seq`. */
  readonly leftOut: ReadonlyMap<number, number>
  /** Whether there is room only for the first line of an entry. */
  readonly isBrief: (entry: Entry) => boolean
}

/** What a report knows of its entries beside themselves. */
export interface RenderContext {
  /** What stands below what, when more entries are known than are told. */
  readonly nesting?: Nesting
  readonly repetitions?: Repetitions
  /** Names of messages. Default: as short as it takes to tell those apart that are told. */
  readonly name?: (messageId: string) => string
  /** That the entries are a choice among more. Default: all are told that are no repetition. */
  readonly choice?: Choice
  /** Errors of handlers that stand above the report, as details would tell them. */
  readonly thrown?: Iterable<string>
}

/** How the note of an attempt begins whose handler threw. */
export const threw = 'the handler threw '

/** Tells one entry after the other, and nothing twice: a reason for waiting, an error that is thrown again. */
export class TimelineWriter {
  readonly nesting: Nesting
  readonly #repetitions: Repetitions
  readonly #wording: EntryWording
  readonly #waits = new Map<string, string>()
  readonly #thrown: Set<string>

  constructor(entries: readonly Entry[], wording: EntryWording, known: RenderContext = {}) {
    this.nesting = known.nesting ?? nestingOf(entries)
    this.#repetitions = known.repetitions ?? repetitionsOf(entries, this.nesting)
    this.#wording = wording
    this.#thrown = new Set(known.thrown)
  }

  /** @param isBrief only its first line, so that what comes later may have to say more */
  report(entry: Entry, isBrief = false): EntryDescription {
    const { head, details } = describeEntry(
      entry,
      this.#wording,
      'messageId' in entry ? this.#waits.get(entry.messageId) : undefined,
    )
    if (isBrief) return { head, details: [] }
    if (entry.type === 'attempt') {
      if (entry.outcome?.next) this.#waits.set(entry.messageId, entry.outcome.next.reason)
      return { head, details: details.filter((detail) => this.#isNew(detail)) }
    }
    const before = this.#repetitions.get(entry.seq)
    return before === undefined ? { head, details } : { head, details: [...details, repetitionText(before)] }
  }

  #isNew(detail: string): boolean {
    if (!detail.startsWith(threw)) return true
    if (this.#thrown.has(detail)) return false
    this.#thrown.add(detail)
    return true
  }
}
