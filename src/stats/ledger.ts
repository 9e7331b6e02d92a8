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
  /** `seq` of each attempt that has begun and not ended. */
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
    if (isNew) {
      // Count every attempt as a billed message, including attempts of callbacks.
      this.#book.count(entry.at, 'attempts')
      this.#book.count(entry.at, 'active')
      this.#book.count(entry.at, 'bytes', entry.body.length)
      if (entry.workflowRunId !== undefined) this.#book.count(entry.at, 'workflowAttempts')
      this.#underway.add(entry.seq)
    }
    // Ignore an attempt that has already ended. The log reports it again if a late response arrives.
    if (!this.#underway.has(entry.seq)) return
    const { outcome } = entry
    if (outcome === undefined) return
    this.#underway.delete(entry.seq)
    const { state, at, body } = outcome
    this.#book.count(at, 'bytes', body.length)
    this.#book.count(at, state === 'DELIVERED' ? 'delivered' : 'error')
    if (state === 'RETRY') this.#book.count(at, 'retried')
    else if (state === 'FAILED') this.#book.count(at, 'failed')
  }
}

const runTallies = {
  RUN_STARTED: 'runsStarted',
  RUN_SUCCESS: 'runsSucceeded',
  RUN_FAILED: 'runsFailed',
  RUN_CANCELED: 'runsCanceled',
} as const satisfies Record<string, TallyName>
