import { blocksOf, runsOf, type Shard } from '../campaign/blocks.js'
import { amountOf, type CoverageRow, united } from '../campaign/coverage-rows.js'
import type { Tried } from '../campaign/index-space.js'
import { type BlockReport, type CountedCheck, maxNotes, type ShardReport } from '../campaign/shard-report.js'
import { newSlot, slotOf } from './job.js'
import { JobFailed, type WorkerPool } from './workers.js'

export type ShardOptions = Omit<ShardReport, 'counted' | 'blocks' | 'notRun' | 'coverage' | 'notes'>

export interface ShardProgress {
  readonly runs: number
  /** Number of all runs, or `undefined` while they are counted. */
  readonly of: number | undefined
  readonly failed: number
  readonly reached: number
  readonly possible: number
  /** Numbers of the runs in progress. */
  readonly underWay: readonly number[]
}

const notYet = 'no worker has run this part yet'

/** Runs the blocks of one shard in workers. `report()` returns a valid report at any time. */
export class ShardRun {
  readonly #orders: ShardOptions
  readonly #workers: WorkerPool
  #counted: CountedCheck | undefined
  #owned: readonly number[] = []
  readonly #done = new Map<number, BlockReport>()
  readonly #left = new Map<number, string>()
  readonly #slots = new Map<number, Int32Array>()
  #coverage: readonly CoverageRow[] = []
  readonly #notes = new Set<string>()
  /** Reason why no block was run. */
  #why: string | undefined = notYet

  constructor(orders: ShardOptions, workers: WorkerPool) {
    this.#orders = orders
    this.#workers = workers
  }

  get shard(): Shard {
    return this.#orders.shard
  }

  get counted(): CountedCheck | undefined {
    return this.#counted
  }

  /** Counts the runs. @throws JobFailed if the check cannot be loaded or counted */
  async count(): Promise<CountedCheck> {
    try {
      const counted = (await this.#workers.perform({ do: 'count' })) as CountedCheck
      this.#counted = { check: counted.check, size: counted.size }
      this.#owned = blocksOf(this.shard, counted.size)
      for (const block of this.#owned) this.#left.set(block, notYet)
      this.#why = undefined
      return this.#counted
    } catch (error) {
      this.#why = whyOf(error)
      throw error
    }
  }

  /** Runs all blocks, and continues after a failing block. @param changed called when a block has ended */
  async play(changed: () => void): Promise<void> {
    await Promise.all(
      this.#owned.map(async (block) => {
        try {
          const slot = newSlot()
          this.#slots.set(block, slot)
          const { from, to } = runsOf(block, this.#counted!.size)
          const { tried } = (await this.#workers.perform({ do: 'attempt', from, to }, slot)) as { tried: Tried }
          const { failed, skipped, first, coverage, notes = [] } = tried
          this.#done.set(block, { block, failed, skipped, ...(first && { first }) })
          this.#left.delete(block)
          this.#coverage = united([this.#coverage, coverage])
          for (const note of notes) if (this.#notes.size < maxNotes) this.#notes.add(note)
        } catch (error) {
          this.#left.set(block, whyOf(error))
        }
        this.#slots.delete(block)
        changed()
      }),
    )
  }

  /** Stops the run. Blocks that have not finished stay unfinished. */
  stop(why: string): void {
    if (this.#counted === undefined) this.#why = why
    for (const [block, known] of this.#left) if (known === notYet || known === stopped) this.#left.set(block, why)
  }

  get progress(): ShardProgress {
    const size = this.#counted?.size ?? 0
    const lengthOf = (block: number): number => runsOf(block, size).to - runsOf(block, size).from
    const done = [...this.#done.values()]
    const begun = [...this.#slots].filter(([, slot]) => Atomics.load(slot, slotOf.thread) > 0)
    const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
    return {
      runs:
        sum(done.map(({ block }) => lengthOf(block))) + sum(begun.map(([, slot]) => Atomics.load(slot, slotOf.runs))),
      of: this.#counted && sum(this.#owned.map(lengthOf)),
      failed: sum(done.map(({ failed }) => failed)) + sum(begun.map(([, slot]) => Atomics.load(slot, slotOf.failed))),
      ...amountOf(this.#coverage),
      underWay: begun.map(([block, slot]) => runsOf(block, size).from + Atomics.load(slot, slotOf.runs)),
    }
  }

  report(): ShardReport {
    const reasons = new Map<string, number[]>()
    if (this.#why !== undefined) reasons.set(this.#why, [])
    for (const [block, why] of this.#left) reasons.set(why, [...(reasons.get(why) ?? []), block])
    return {
      ...this.#orders,
      ...(this.#counted && { counted: this.#counted }),
      blocks: [...this.#done.values()].sort((a, b) => a.block - b.block),
      notRun: [...reasons].map(([why, blocks]) => ({ why, blocks: blocks.sort((a, b) => a - b) })),
      coverage: this.#coverage,
      notes: [...this.#notes].sort(),
    }
  }
}

const stopped = 'It was stopped.'
export const longest = 2000

function whyOf(error: unknown): string {
  if (!(error instanceof JobFailed)) throw error
  return error.message.slice(0, longest)
}
