import type { Entry } from '../kernel/traffic-log.js'
import { describeEntry, type EntryDescription, type EntryWording } from './describe.js'
import { type Nesting, nestingOf, type Repetitions, repetitionsOf, repetitionText } from './nesting.js'

/** A selection of the most relevant entries. */
export interface Choice {
  /** Number of entries that were omitted before an entry, by its `seq`. */
  readonly leftOut: ReadonlyMap<number, number>
  /** Returns whether only the first line of an entry is shown. */
  readonly isBrief: (entry: Entry) => boolean
}

/** Facts about the entries of a report. */
export interface RenderContext {
  /** Parents of the entries, if the caller knows more entries than it shows. */
  readonly nesting?: Nesting
  readonly repetitions?: Repetitions
  /** Returns the displayed name of a message. Default: the shortest name that distinguishes the shown messages. */
  readonly name?: (messageId: string) => string
  /** Selection of entries. Default: all entries that do not repeat others. */
  readonly choice?: Choice
  /** Errors of handlers that the report has already printed, in the format of details. */
  readonly thrown?: Iterable<string>
}

/** Beginning of the note of an attempt whose handler threw. */
export const threw = 'the handler threw '

/** Describes entries in order. It does not repeat a reason for waiting or an error that it has already described. */
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
   * @param isBrief whether only the first line is printed; later entries then repeat reasons that it omits
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
