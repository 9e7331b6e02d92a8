import type { Grid } from './periods.js'

/** Names of the counters of the queue, which are called tallies. */
export const tallies = [
  'attempts',
  'workflowAttempts',
  'bytes',
  'created',
  'active',
  'delivered',
  'retried',
  'error',
  'failed',
  'canceled',
  'runsStarted',
  'runsSucceeded',
  'runsFailed',
  'runsCanceled',
] as const

export type TallyName = (typeof tallies)[number]

/** Source of the tallies of the queue: the ledger, which counts traffic, or a script. */
export interface TallySource {
  /** Returns the value of one tally in each interval of a grid. */
  series(tally: TallyName, grid: Grid): number[]
}

export function sumOf(one: TallySource, other: TallySource): TallySource {
  return {
    series(tally, grid) {
      const added = other.series(tally, grid)
      return one.series(tally, grid).map((count, index) => count + added[index]!)
    },
  }
}
