import type { AttemptEntry, Entry, EntryBase, EntryType } from '../kernel/traffic-log.js'
import { type Grid, grids } from './periods.js'
import { Ring, type RingRow } from './rings.js'
import { type TallyName, type TallySource, tallies } from './tallies.js'
import { minute } from './usage-calendar.js'

const column = Object.fromEntries(tallies.map((tally, index) => [tally, index])) as Readonly<Record<TallyName, number>>

export const countedTypes: readonly EntryType[] = ['attempt', 'published', 'message', 'workflow']

/** What was counted, as JSON. */
export interface LedgerDump {
  /** Names of the columns. */
  readonly tallies: readonly string[]
  readonly rings: readonly (readonly [interval: number, rows: readonly RingRow[]])[]
}

/**
 * Counts what the queue did as the traffic log tells it. An entry costs the same however much was counted before, and a
 * question what its points cost: each minute is added, once it is over or somebody asks, to one ring for each length
 * of interval. What the log forgets stays counted. [statistics.md 6]
 */
export class Ledger implements TallySource {
  /** The counts of the open minute. */
  readonly #row = new Float64Array(tallies.length)
  #minute = Number.NEGATIVE_INFINITY
  #isEmpty = true
  /** By length of their interval; made with the first count, because most sandboxes never count anything. */
  #rings: ReadonlyMap<number, Ring> | undefined
  /** `seq` of attempts that have not ended. */
  readonly #underway = new Set<number>()
  #lastSeq = 0

  /** To be subscribed to the traffic log: hears of each new entry, and again when an attempt ends. */
  readonly note = (entry: Entry): void => {
    const isNew = entry.seq > this.#lastSeq
    if (isNew) this.#lastSeq = entry.seq
    if (entry.type === 'attempt') this.#attempt(entry, isNew)
    else if (!isNew) return
    else if (entry.type === 'published') {
      // A duplicate makes no message.
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

  /** Everything that was counted, as JSON: rows by length of the interval. */
  dump(): LedgerDump {
    this.#close()
    return {
      tallies: [...tallies],
      rings: [...(this.#rings ?? [])].map(([interval, ring]) => [interval, ring.dump()] as const),
    }
  }

  /** Adds what `dump` gave. Counts of a version that told other things are left out. */
  load({ tallies: columns, rings }: LedgerDump): void {
    if (columns.join() !== tallies.join()) return
    this.#close()
    this.#open()
    for (const [interval, rows] of rings) this.#rings?.get(interval)?.load(rows)
  }

  #attempt(entry: EntryBase & AttemptEntry, isNew: boolean): void {
    if (isNew) {
      // Every attempt is billed, those of callbacks too.
      this.#count(entry.at, 'attempts')
      this.#count(entry.at, 'active')
      this.#count(entry.at, 'bytes', entry.body.length)
      if (entry.workflowRunId !== undefined) this.#count(entry.at, 'workflowAttempts')
      this.#underway.add(entry.seq)
    }
    // A late answer ends an attempt a second time.
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

  /** Hands the counts of the open minute on to the rings; every interval begins and ends with a minute. */
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
