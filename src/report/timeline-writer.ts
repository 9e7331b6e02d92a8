import type { Entry } from '../kernel/traffic-log.js'
import { describeEntry, type EntryDescription, type EntryWording } from './describe.js'
import { type Nesting, nestingOf, type Repetitions, repetitionsOf, repetitionText } from './nesting.js'

/** A choice of the entries that a timeline shows. */
export interface Choice {
  /** Number of entries that were omitted directly before an entry. The key is the `seq` of that entry. */
  readonly leftOut: ReadonlyMap<number, number>
  /** Returns whether only the first line of an entry is shown. */
  readonly isBrief: (entry: Entry) => boolean
}

/** Facts that the caller of a timeline already knows. */
export interface RenderContext {
  /** Parents of the entries. Needed if the timeline does not contain all entries of the log. */
  readonly nesting?: Nesting
  readonly repetitions?: Repetitions
  /**
   * Returns the name by which a message is shown. Default: the shortest name that distinguishes the messages in the
   * timeline.
   */
  readonly name?: (messageId: string) => string
  /** The entries to show. Default: all entries that do not repeat others. */
  readonly choice?: Choice
  /** Handler errors that the report has already printed, in the format of the timeline. */
  readonly thrown?: Iterable<string>
}

/** Beginning of an attempt's note if the handler threw an error. */
export const threw = 'the handler threw '

/** Describes entries in order. It omits an error or a reason for waiting that it has already described. */
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

  /**
   * Describes an entry.
   * @param isBrief whether only the first line is printed. A later entry then shows the reasons that are omitted here
   */
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
