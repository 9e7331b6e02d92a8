// The entry `stuntdouble/stats`: types of the usage reports, and steps that script them.
export type { StatsOverrides } from './figures.js'
export type { StatsPeriod } from './periods.js'
export type { QueueUsageOptions } from './queue-usage.js'
export type { NamedSeries, QueueReport, RequestPoint, SearchReport, SeriesPoint } from './reports.js'
export type { SearchUsageOptions } from './search-usage.js'
export type { QueueStatistics, SearchStatistics, Stats } from './statistics.js'
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
  UsageInstant,
} from './usage-steps.js'
