import type { AttemptEntry, Entry, EntryBase, EntryType } from '../kernel/traffic-log.js'
import { type Grid, grids } from './periods.js'
import { type TallyName, type TallySource, tallies } from './tallies.js'
import { type LedgerDump, TallyBook } from './tally-book.js'

export const countedTypes: readonly EntryType[] = ['attempt', 'published', 'message', 'workflow']

/**
 * Counts events of the queue from the traffic log. [statistics.md 6] If the log drops entries, their counts stay.
 */
export class Ledger implements TallySource {
  readonly #book = new TallyBook(tallies, grids)
  /** `seq` of the latest attempt, 0 if it has ended. Most attempts end before the next one begins. */
  #latest = 0
  /** `seq` of each other attempt that has begun and not ended. */
  readonly #underway = new Set<number>()
  #lastSeq = 0

  /**
   * Listener for the traffic log. The log calls it for each new entry, and a second time for an attempt that has ended.
   */
  readonly note = (entry: Entry): void => {
    const isNew = entry.seq > this.#lastSeq
    if (isNew) this.#lastSeq = entry.seq
    if (entry.type === 'attempt') this.#attempt(entry, isNew)
    else if (!isNew) return
    else if (entry.type === 'published') {
      // Do not count a duplicate, because it creates no message.
      if (!entry.deduplicated) this.#book.count(entry.at, 'created')
    } else if (entry.type === 'message') {
      if (entry.state === 'CANCELLED') this.#book.count(entry.at, 'canceled')
    } else if (entry.type === 'workflow') this.#book.count(entry.at, runTallies[entry.state])
  }

  series(tally: TallyName, grid: Grid): number[] {
    return this.#book.series(tally, grid)
  }

  dump(): LedgerDump {
    return this.#book.dump()
  }

  /** Adds the counts of a dump. If the dump has other tallies than this version, its counts are dropped. */
  load(dump: LedgerDump): void {
    this.#book.load(dump)
  }

  #attempt(entry: EntryBase & AttemptEntry, isNew: boolean): void {
    const book = this.#book
    const { columns } = book
    if (isNew) {
      book.reach(entry.at)
      // Count every attempt as a billed message, including attempts of callbacks.
      book.add(columns.attempts, 1)
      book.add(columns.active, 1)
      book.add(columns.bytes, entry.body.length)
      if (entry.workflowRunId !== undefined) book.add(columns.workflowAttempts, 1)
      if (this.#latest !== 0) this.#underway.add(this.#latest)
      this.#latest = entry.seq
    }
    // Ignore an attempt that has already ended. The log reports it again if a late response arrives.
    if (entry.seq !== this.#latest && !this.#underway.has(entry.seq)) return
    const { outcome } = entry
    if (outcome === undefined) return
    if (entry.seq === this.#latest) this.#latest = 0
    else this.#underway.delete(entry.seq)
    const { state, at, body } = outcome
    book.reach(at)
    book.add(columns.bytes, body.length)
    book.add(state === 'DELIVERED' ? columns.delivered : columns.error, 1)
    if (state === 'RETRY') book.add(columns.retried, 1)
    else if (state === 'FAILED') book.add(columns.failed, 1)
  }
}

const runTallies = {
  RUN_STARTED: 'runsStarted',
  RUN_SUCCESS: 'runsSucceeded',
  RUN_FAILED: 'runsFailed',
  RUN_CANCELED: 'runsCanceled',
} as const satisfies Record<string, TallyName>
