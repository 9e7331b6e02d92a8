import type { AttemptEntry, Entry, EntryBase, EntryType } from '../kernel/traffic-log.js'
import { type Grid, grids } from './periods.js'
import { Ring, type RingRow } from './rings.js'
import { type TallyName, type TallySource, tallies } from './tallies.js'
import { minute } from './usage-calendar.js'

const column = Object.fromEntries(tallies.map((tally, index) => [tally, index])) as Readonly<Record<TallyName, number>>

export const countedTypes: readonly EntryType[] = ['attempt', 'published', 'message', 'workflow']

/** The counts, as JSON. */
export interface LedgerDump {
  /** Names of the columns. */
  readonly tallies: readonly string[]
  readonly rings: readonly (readonly [interval: number, rows: readonly RingRow[]])[]
}

/**
 * Counts what the queue did, based on the traffic log.
 * An entry costs the same however much was counted before, and a series costs as much as its points. When a minute is
 * over or a report is requested, the minute is added to one ring per interval length. Counts are kept when their log
 * entries expire. [statistics.md 6]
 */
export class Ledger implements TallySource {
  /** Counts of the current minute. */
  readonly #row = new Float64Array(tallies.length)
  #minute = Number.NEGATIVE_INFINITY
  #isEmpty = true
  /**
   * Rings by length of their interval. They are created with the first count, because most sandboxes never count
   * anything.
   */
  #rings: ReadonlyMap<number, Ring> | undefined
  /** `seq` of attempts that have not ended. */
  readonly #underway = new Set<number>()
  #lastSeq = 0

  /** Listener for the traffic log. It receives each new entry, and an attempt again when it ends. */
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

  /** Returns all counts as JSON: rows by length of the interval. */
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
      // Every attempt is billed, also attempts of callbacks.
      this.#count(entry.at, 'attempts')
      this.#count(entry.at, 'active')
      this.#count(entry.at, 'bytes', entry.body.length)
      if (entry.workflowRunId !== undefined) this.#count(entry.at, 'workflowAttempts')
      this.#underway.add(entry.seq)
    }
    // A late response ends an attempt a second time.
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

  /** Adds the counts of the current minute to the rings. Every interval begins and ends at a full minute. */
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
