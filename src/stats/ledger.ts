import type { AttemptEntry, Entry, EntryStamp } from '../kernel/traffic.js'
import { day, minute } from './calendar.js'

/** What is counted; one number of each per minute. */
export type Tally = keyof Counts

interface Counts {
  attempts: number
  workflowAttempts: number
  bytes: number
  created: number
  active: number
  delivered: number
  retried: number
  error: number
  failed: number
  canceled: number
  runsStarted: number
  runsSucceeded: number
  runsFailed: number
  runsCanceled: number
}

/** The longest month and the longest period, with some room. */
const kept = 35 * day

/**
 * Counts what the queue did, minute by minute, as the traffic log tells it. One entry costs the same however much
 * was counted before. [statistics.md 6]
 */
export class Ledger {
  /** By minute since the epoch, in order of time. */
  readonly #minutes = new Map<number, Counts>()
  /** `seq` of attempts that have not ended. */
  readonly #underway = new Set<number>()
  #lastSeq = 0
  #current: Counts | undefined
  #currentMinute = -1

  /** To be subscribed to the traffic log: hears of each new entry, and again when an attempt ends. */
  readonly note = (entry: Entry): void => {
    const isNew = entry.seq > this.#lastSeq
    if (isNew) this.#lastSeq = entry.seq
    if (entry.type === 'attempt') this.#attempt(entry, isNew)
    else if (!isNew) return
    else if (entry.type === 'published') {
      // A duplicate makes no message.
      if (!entry.deduplicated) this.#count(entry.at).created++
    } else if (entry.type === 'message') {
      if (entry.state === 'CANCELLED') this.#count(entry.at).canceled++
    } else if (entry.type === 'workflow') this.#count(entry.at)[runTallies[entry.state]]++
  }

  /** Adds up one tally from an instant until before another. */
  sum(tally: Tally, from: number, until: number): number {
    let sum = 0
    this.#between(from, until, (_, counts) => {
      sum += counts[tally]
    })
    return sum
  }

  /** One tally in consecutive intervals of one length. */
  series(tally: Tally, from: number, interval: number, points: number): number[] {
    const sums = new Array<number>(points).fill(0)
    this.#between(from, from + interval * points, (at, counts) => {
      const index = Math.floor((at - from) / interval)
      sums[index] = sums[index]! + counts[tally]
    })
    return sums
  }

  /** All intervals begin and end at whole minutes. */
  #between(from: number, until: number, visit: (at: number, counts: Counts) => void): void {
    for (const [number, counts] of this.#minutes) {
      const at = number * minute
      if (at >= until) return
      if (at >= from) visit(at, counts)
    }
  }

  #attempt(entry: EntryStamp & AttemptEntry, isNew: boolean): void {
    if (isNew) {
      const counts = this.#count(entry.at)
      // Every attempt is billed, those of callbacks too.
      counts.attempts++
      counts.active++
      counts.bytes += entry.body.length
      if (entry.workflowRunId !== undefined) counts.workflowAttempts++
      this.#underway.add(entry.seq)
    }
    // A late answer ends an attempt a second time.
    if (entry.outcome === undefined || !this.#underway.delete(entry.seq)) return
    const { state, at, body } = entry.outcome
    const counts = this.#count(at)
    counts.bytes += body.length
    if (state === 'DELIVERED') counts.delivered++
    else counts.error++
    if (state === 'RETRY') counts.retried++
    else if (state === 'FAILED') counts.failed++
  }

  #count(at: number): Counts {
    const number = Math.floor(at / minute)
    if (this.#current !== undefined && number === this.#currentMinute) return this.#current
    const known = this.#minutes.get(number)
    const counts = known ?? empty()
    if (known === undefined) {
      this.#minutes.set(number, counts)
      this.#forgetBefore(at - kept)
    }
    this.#current = counts
    this.#currentMinute = number
    return counts
  }

  /** Time never goes back, so the oldest minutes stand first. */
  #forgetBefore(at: number): void {
    for (const number of this.#minutes.keys()) {
      if (number * minute >= at) return
      this.#minutes.delete(number)
    }
  }
}

const runTallies = {
  RUN_STARTED: 'runsStarted',
  RUN_SUCCESS: 'runsSucceeded',
  RUN_FAILED: 'runsFailed',
  RUN_CANCELED: 'runsCanceled',
} as const satisfies Record<string, Tally>

function empty(): Counts {
  return {
    attempts: 0,
    workflowAttempts: 0,
    bytes: 0,
    created: 0,
    active: 0,
    delivered: 0,
    retried: 0,
    error: 0,
    failed: 0,
    canceled: 0,
    runsStarted: 0,
    runsSucceeded: 0,
    runsFailed: 0,
    runsCanceled: 0,
  }
}
