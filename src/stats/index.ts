// The entry `stuntdouble/stats`: what a sandbox's statistics report, for code that shows or scripts it.
export type { Figures } from './figures.js'
export type { Period } from './periods.js'
export type { QueueScale } from './queue-usage.js'
export type { NamedSeries, Point, QueueReport, RequestPoint, SearchReport } from './reports.js'
export type { SearchScale } from './search-usage.js'
export type { QueueStatistics, SearchStatistics, Statistics } from './statistics.js'
export * as usage from './usage.js'
export type {
  CounterResetStep,
  GapStep,
  LatenciesStep,
  LatencyFigures,
  LatencyTable,
  Moment,
  MonthEndStep,
  QueueRates,
  QueueStep,
  SearchRates,
  SearchStep,
  SpikeStep,
  SteadyStep,
} from './usage-steps.js'
