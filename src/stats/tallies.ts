import type { Grid } from './periods.js'

/** What is counted of the queue. */
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

/** The source of the queue's figures: the ledger, which counted them, or a story, which makes them up. */
export interface TallySource {
  /** One tally in each interval of a grid. */
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
