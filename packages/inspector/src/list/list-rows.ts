import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { type EntryGroup, groups, isEcho, kindOf, spanOf } from '../entry-kinds.js'
import { entryText, lineOf, waitText } from '../entry-text.js'
import { isOfDatabase } from '../models/shown-databases.js'
import { day } from '../shown-dates.js'
import { type PageView, placeOf, type TimeRange } from '../view.js'

/** Kind of a line in the list: an entry, a wait after an entry, or the beginning of a day. */
export type RowKind = 'entry' | 'wait' | 'day'
const rowKinds: readonly RowKind[] = ['entry', 'wait', 'day']

/**
 * Lines of the list. Each line is stored as one number, because objects for 100,000 entries would take too much memory.
 */
export class Rows {
  readonly #codes: readonly number[]

  constructor(
    readonly entries: readonly TraceEntry[],
    codes: readonly number[],
    /** Number of lines that show an entry. */
    readonly count: number,
  ) {
    this.#codes = codes
  }

  get length(): number {
    return this.#codes.length
  }

  kind(row: number): RowKind {
    return rowKinds[this.#codes[row]! % 3]!
  }

  entry(row: number): TraceEntry {
    return this.entries[Math.floor(this.#codes[row]! / 3)]!
  }

  /** Returns the line of an entry. If the entry has no line, returns the line before which it would be inserted. */
  rowOf(seq: number): number {
    const wanted = placeOf(this.entries, seq) * 3
    let low = 0
    let high = this.#codes.length
    while (low < high) {
      const middle = (low + high) >> 1
      // The line of a day has the same index as its entry, but is before it.
      const code = this.#codes[middle]!
      const order = code % 3 === 2 ? code - 2.5 : code
      if (order < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

export class ListFilter {
  readonly words: Signal<string> = signal('')
  readonly groups: Signal<ReadonlySet<EntryGroup>> = signal(new Set(groups))
  /** Whether the list contains key events that only repeat their command. */
  readonly echoes: Signal<boolean> = signal(false)
  /** Added database to which the list is limited, or `firstDatabase`. `undefined`: no limit. */
  readonly database: Signal<string | undefined> = signal(undefined)

  clear(): void {
    this.words.value = ''
    this.database.value = undefined
    this.groups.value = new Set(groups)
  }
}

export function rowsOf(view: PageView, filter: ListFilter): ReadonlySignal<Rows> {
  return computed(() =>
    listed(view.entries.value, {
      range: view.range.value,
      words: filter.words.value
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== ''),
      groups: filter.groups.value,
      echoes: filter.echoes.value,
      database: filter.database.value,
    }),
  )
}

export interface Narrowing {
  readonly range?: TimeRange | undefined
  /** Search words in lower case. An entry must contain all of them. */
  readonly words?: readonly string[]
  readonly groups?: ReadonlySet<EntryGroup>
  readonly echoes?: boolean
  /** Added database, or `firstDatabase`. */
  readonly database?: string | undefined
}

export function listed(entries: readonly TraceEntry[], narrowing: Narrowing): Rows {
  const { range, words = [], groups: wanted, echoes = false, database } = narrowing
  const codes: number[] = []
  let count = 0
  let today = entries[0] === undefined ? 0 : Math.floor(entries[0].at / day)
  for (const [place, entry] of entries.entries()) {
    if (!echoes && isEcho(entry)) continue
    if (wanted !== undefined && !wanted.has(kindOf(entry).group)) continue
    if (database !== undefined && !isOfDatabase(entry, database)) continue
    const span = spanOf(entry)
    if (range !== undefined && (entry.at > range.to || (span.until ?? span.to) < range.from)) continue
    if (words.length > 0) {
      const text = textOf(entry)
      if (!words.every((word) => text.includes(word))) continue
    }
    const date = Math.floor(entry.at / day)
    if (date !== today || count === 0) codes.push(place * 3 + 2)
    today = date
    codes.push(place * 3)
    if (span.until !== undefined) codes.push(place * 3 + 1)
    count++
  }
  return new Rows(entries, codes, count)
}

const texts = new WeakMap<TraceEntry, string>()

/** Returns the text in which the search looks for words. */
function textOf(entry: TraceEntry): string {
  let text = texts.get(entry)
  if (text === undefined) {
    const words = entryText(entry)
    const { messageId, runId } = entry as { messageId?: unknown; runId?: unknown }
    const wait = spanOf(entry).until === undefined ? '' : waitText(entry)
    text =
      `#${entry.seq} ${entry.type} ${lineOf(words)} ${words.notes.join(' ')} ${wait} ${messageId ?? ''} ${runId ?? ''}`.toLowerCase()
    texts.set(entry, text)
  }
  return text
}
