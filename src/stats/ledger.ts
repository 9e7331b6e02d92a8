import type { AttemptEntry, Entry, EntryBase, EntryType } from '../kernel/traffic-log.js'
import { type Grid, grids } from './periods.js'
import { Ring, type RingRow } from './rings.js'
import { type TallyName, type TallySource, tallies } from './tallies.js'
import { minute } from './usage-calendar.js'

const column = Object.fromEntries(tallies.map((tally, index) => [tally, index])) as Readonly<Record<TallyName, number>>

export const countedTypes: readonly EntryType[] = ['attempt', 'published', 'message', 'workflow']

/** The counts, as JSON. */
export interface LedgerDump {
  /** Names of the tallies, in the order of the sums in each row. */
  readonly tallies: readonly string[]
  /** Counts of the latest intervals, by the length of the intervals in milliseconds. */
  readonly rings: readonly (readonly [interval: number, rows: readonly RingRow[]])[]
}

/**
 * Counts events of the queue from the traffic log. Counting an entry takes constant time, and reading a series takes
 * time in proportion to its points. When a minute is over or a report is requested, the counts of the minute are added
 * to one ring per interval length. Counts stay when their log entries are dropped. [statistics.md 6]
 */
export class Ledger implements TallySource {
  /** Counts of the current minute. */
  readonly #row = new Float64Array(tallies.length)
  #minute = Number.NEGATIVE_INFINITY
  #isEmpty = true
  /**
   * Rings by the length of their interval in milliseconds. They are created at the first count, because most sandboxes
   * count nothing.
   */
  #rings: ReadonlyMap<number, Ring> | undefined
  /** `seq` of attempts that have not ended. */
  readonly #underway = new Set<number>()
  #lastSeq = 0

  /**
   * Listener for the traffic log. It is called with each new entry, and with an attempt again when the attempt ends.
   */
  readonly note = (entry: Entry): void => {
    const isNew = entry.seq > this.#lastSeq
    if (isNew) this.#lastSeq = entry.seq
    if (entry.type === 'attempt') this.#attempt(entry, isNew)
    else if (!isNew) return
    else if (entry.type === 'published') {
      // A duplicate creates no message.
      if (!entry.deduplicated) this.#count(entry.at, 'created')
    } else if (entry.type === 'message') {
      if (entry.state === 'CANCELLED') this.#count(entry.at, 'canceled')
    } else if (entry.type === 'workflow') this.#count(entry.at, runTallies[entry.state])
  }

  series(tally: TallyName, grid: Grid): number[] {
    this.#close()
    const ring = this.#rings?.get(grid.interval)
    return ring === undefined ? new Array<number>(grid.points).fill(0) : ring.read(column[tally], grid)
  }

  /** Returns all counts as JSON: for each interval length, the rows of its intervals. */
  dump(): LedgerDump {
    this.#close()
    return {
      tallies: [...tallies],
      rings: [...(this.#rings ?? [])].map(([interval, ring]) => [interval, ring.dump()] as const),
    }
  }

  /** Adds the counts of a dump. Counts of a version with other tallies are dropped. */
  load({ tallies: columns, rings }: LedgerDump): void {
    if (columns.join() !== tallies.join()) return
    this.#close()
    this.#open()
    for (const [interval, rows] of rings) this.#rings?.get(interval)?.load(rows)
  }

  #attempt(entry: EntryBase & AttemptEntry, isNew: boolean): void {
    if (isNew) {
      // Count every attempt as a billed message, including attempts of callbacks.
      this.#count(entry.at, 'attempts')
      this.#count(entry.at, 'active')
      this.#count(entry.at, 'bytes', entry.body.length)
      if (entry.workflowRunId !== undefined) this.#count(entry.at, 'workflowAttempts')
      this.#underway.add(entry.seq)
    }
    // Ignore a late response, which reports an attempt again that has already ended.
    if (!this.#underway.has(entry.seq)) return
    const { outcome } = entry
    if (outcome === undefined) return
    this.#underway.delete(entry.seq)
    const { state, at, body } = outcome
    this.#count(at, 'bytes', body.length)
    this.#count(at, state === 'DELIVERED' ? 'delivered' : 'error')
    if (state === 'RETRY') this.#count(at, 'retried')
    else if (state === 'FAILED') this.#count(at, 'failed')
  }

  #count(at: number, tally: TallyName, amount = 1): void {
    const number = Math.floor(at / minute)
    if (number !== this.#minute) {
      this.#close()
      this.#minute = number
    }
    this.#row[column[tally]]! += amount
    this.#isEmpty = false
  }

  #open(): ReadonlyMap<number, Ring> {
    this.#rings ??= new Map(
      [...grids].map(([interval, points]) => [interval, new Ring(interval, points, tallies.length)]),
    )
    return this.#rings
  }

  /**
   * Adds the counts of the current minute to the rings. This is exact, because every interval begins and ends at a full
   * minute.
   */
  #close(): void {
    if (this.#isEmpty) return
    for (const ring of this.#open().values()) ring.add(this.#minute * minute, this.#row)
    this.#row.fill(0)
    this.#isEmpty = true
  }
}

const runTallies = {
  RUN_STARTED: 'runsStarted',
  RUN_SUCCESS: 'runsSucceeded',
  RUN_FAILED: 'runsFailed',
  RUN_CANCELED: 'runsCanceled',
} as const satisfies Record<string, TallyName>
