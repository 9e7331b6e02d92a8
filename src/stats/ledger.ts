import type { AttemptEntry, Entry, EntryBase, EntryType } from '../kernel/traffic-log.js'
import { type Grid, grids } from './periods.js'
import { Ring, type RingRow } from './rings.js'
import { type TallyName, type TallySource, tallies } from './tallies.js'
import { minute } from './usage-calendar.js'

const column = Object.fromEntries(tallies.map((tally, index) => [tally, index])) as Readonly<Record<TallyName, number>>

export const countedTypes: readonly EntryType[] = ['attempt', 'published', 'message', 'workflow']

/** Dump of all counts as JSON. */
export interface LedgerDump {
  /** Names of the tallies. Each row has one sum per tally, in this order. */
  readonly tallies: readonly string[]
  /** Rows of the latest intervals, for each length of an interval in milliseconds. */
  readonly rings: readonly (readonly [interval: number, rows: readonly RingRow[]])[]
}

/**
 * Counts events of the queue from the traffic log. [statistics.md 6] The counts are kept in rings, one ring per
 * interval length, in which a new interval overwrites the oldest one. The counts of the current minute are added to all
 * rings when the minute is over or a report is requested. So counting an entry takes constant time, and reading a
 * series takes time in proportion to its points. If the log drops entries, their counts stay.
 */
export class Ledger implements TallySource {
  readonly #row = new Float64Array(tallies.length)
  #minute = Number.NEGATIVE_INFINITY
  #isEmpty = true
  /**
   * Rings by the length of their intervals in milliseconds. They are created at the first count, because most sandboxes
   * never count anything.
   */
  #rings: ReadonlyMap<number, Ring> | undefined
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

  dump(): LedgerDump {
    this.#close()
    return {
      tallies: [...tallies],
      rings: [...(this.#rings ?? [])].map(([interval, ring]) => [interval, ring.dump()] as const),
    }
  }

  /** Adds the counts of a dump. If the dump has other tallies than this version, its counts are dropped. */
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
    // Ignore an attempt that has already ended. The log reports it again if a late response arrives.
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
   * Adds the counts of the current minute to the rings. No count gets into a wrong interval, because every interval
   * begins and ends at a full minute.
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
