import type { Grid } from './periods.js'
import type { TallyName, TallySource } from './tallies.js'
import type { UsageScript } from './usage-script.js'
import type { UsageMetrics } from './usage-steps.js'

/** Options of a usage script for the queue: sizes. */
export interface QueueUsageOptions {
  /** Bytes that one attempt sends and receives. Default: 1024. */
  readonly messageSize?: number
  /** Number of messages per workflow run. Each message is delivered at its first attempt. Default: 1. */
  readonly messagesPerRun?: number
}

const rates = ['delivered', 'retried', 'failed', 'canceled', 'runsSucceeded', 'runsFailed', 'runsCanceled'] as const
type Rate = (typeof rates)[number]

export const queueMetrics: UsageMetrics = {
  caller: 'stats.queue.script()',
  rates,
  levels: ['deadLetters'],
  operations: [],
  counters: rates,
}

/**
 * Rates that are added to compute each tally. All tallies are computed from the same rates, so they are consistent in
 * every interval.
 */
const parts: Readonly<Record<Exclude<TallyName, 'bytes' | 'workflowAttempts'>, readonly (Rate | 'workflow')[]>> = {
  attempts: ['delivered', 'workflow', 'retried', 'failed'],
  active: ['delivered', 'workflow', 'retried', 'failed'],
  created: ['delivered', 'workflow', 'failed', 'canceled'],
  delivered: ['delivered', 'workflow'],
  retried: ['retried'],
  error: ['retried', 'failed'],
  failed: ['failed'],
  canceled: ['canceled'],
  runsStarted: ['runsSucceeded', 'runsFailed', 'runsCanceled'],
  runsSucceeded: ['runsSucceeded'],
  runsFailed: ['runsFailed'],
  runsCanceled: ['runsCanceled'],
}

/** Usage of the queue that a script describes. It is added to the usage that is counted from the traffic. */
export class QueueUsage implements TallySource {
  readonly #story: UsageScript
  readonly #now: () => number
  readonly #messageSize: number
  readonly #messagesPerRun: number

  constructor(story: UsageScript, now: () => number, { messageSize = 1024, messagesPerRun = 1 }: QueueUsageOptions) {
    this.#story = story
    this.#now = now
    this.#messageSize = messageSize
    this.#messagesPerRun = messagesPerRun
  }

  get deadLetters(): number {
    return this.#story.level('deadLetters', this.#now())
  }

  series(tally: TallyName, grid: Grid): number[] {
    if (tally === 'bytes') return this.series('attempts', grid).map((count) => count * this.#messageSize)
    if (tally === 'workflowAttempts') return this.series('runsStarted', grid).map((runs) => runs * this.#messagesPerRun)
    const sums = new Array<number>(grid.points).fill(0)
    for (const part of parts[tally]) {
      const counts = part === 'workflow' ? this.series('workflowAttempts', grid) : this.#story.series(part, grid)
      for (const [index, count] of counts.entries()) sums[index]! += count
    }
    return sums
  }
}
