import type { CoverageRow } from '../campaign/coverage-rows.js'
import { lineOf } from '../campaign/failure-line.js'
import type { FailedRun, IndexSpace, Tried } from '../campaign/index-space.js'
import type { CrashSafetyOptions } from './crash-options.js'
import type { CrashFailure } from './crash-report.js'
import type { Disruption } from './disruption.js'
import type { RunDelivery } from './run-delivery.js'
import type { StepDifference } from './step-differences.js'

/** The parts of `assertCrashSafe()` that a campaign calls. */
interface CrashWork {
  planned(): Promise<readonly string[]>
  attempt: IndexSpace['attempt']
  report(only: CrashSafetyOptions): Promise<unknown>
}

/**
 * Returns the numbered runs of a check. Run 0 has no disruption and repeats each delivery. The following runs are the
 * crash plans in the order of `assertCrashSafe()`: single disruptions first, then pairs.
 */
export function crashSpace(runs: number, work: CrashWork): IndexSpace {
  return {
    check: 'assertCrashSafe',
    count: async () => Math.min(runs, 1 + (await work.planned()).length),
    attempt: (from, to, ended) => work.attempt(from, to, ended),
    async report(run) {
      const planned = await work.planned()
      try {
        // Every report plays run 0 and one crash plan. If the failing run is run 0, that can be any crash plan.
        await work.report({ only: [planned[Math.max(0, run - 1)]!] })
        return undefined
      } catch (error) {
        if (error instanceof Error && error.name === 'CrashSafetyError') return error.message
        throw error
      }
    },
  }
}

export class CrashTally {
  readonly #rows: readonly (CoverageRow & { readonly struck: Record<string, number> })[]
  readonly #all: readonly Disruption[]
  #failed = 0
  #skipped = 0
  #first: FailedRun | undefined

  constructor(deliveries: readonly RunDelivery[], all: readonly Disruption[]) {
    this.#all = all
    this.#rows = all.map(({ id, kind, delivery }, moment) => ({
      state: deliveries[delivery - 1]?.told ?? '',
      point: id,
      seen: 1,
      moment,
      could: [kind],
      struck: {},
    }))
  }

  /** Counts the result of one run. @returns whether the run failed */
  note(
    run: number,
    schedule: readonly Disruption[],
    found: CrashFailure | 'exhausted' | readonly StepDifference[] | undefined,
  ): boolean {
    if (found === 'exhausted') {
      this.#skipped++
      return false
    }
    for (const one of schedule) this.#rows[this.#all.indexOf(one)]!.struck[one.kind] ??= run + 1
    const why = found === undefined ? undefined : whyOf(found)
    if (why === undefined) return false
    this.#failed++
    this.#first ??= { run, why: lineOf(why) }
    return true
  }

  tried(): Tried {
    const [failed, skipped, coverage] = [this.#failed, this.#skipped, this.#rows]
    return { failed, skipped, ...(this.#first && { first: this.#first }), coverage }
  }
}

function whyOf(found: CrashFailure | readonly StepDifference[]): string | undefined {
  if ('id' in found) return `${found.id}: ${found.differences[0]}`
  const [stray] = found
  if (stray === undefined) return undefined
  return `code outside steps differs when a delivery is repeated: ${stray.step}, ${stray.field}`
}
