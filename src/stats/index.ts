// The entry `stuntdouble/stats`: types of the usage reports, and steps that script them.
export type { StatsOverrides } from './figures.js'
export type { StatsPeriod } from './periods.js'
export type { QueueUsageOptions } from './queue-usage.js'
export type { IndexSums, NamedSeries, QueueReport, RequestPoint, SearchReport, SeriesPoint } from './reports.js'
export type { SearchUsageOptions } from './search-usage.js'
export type { QueueStatistics, SearchStatistics, Stats, StoreStatistics } from './statistics.js'
export type { CommandSeries, StoreReport } from './store-report.js'
export type { StoreUsageOptions } from './store-usage.js'
export * as usage from './usage.js'
export type {
  CounterResetStep,
  GapStep,
  LatenciesStep,
  LatencyFigures,
  LatencyTable,
  MonthEndStep,
  QueueRates,
  QueueUsageStep,
  SearchRates,
  SearchUsageStep,
  SpikeStep,
  SteadyStep,
  StoreLatencyTable,
  StoreRates,
  StoreUsageStep,
  UsageInstant,
} from './usage-steps.js'
