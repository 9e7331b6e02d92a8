export type { RunnerTimers, SinonClock } from './adapters/timers.js'
export { fakeTimers } from './adapters/timers.js'
export type { CallOptions, Outbound } from './calls/calls.js'
export type { OutboundRequest } from './calls/foreign-call.js'
export type { OutboundHandler, OutboundResponder, OutboundResponse } from './calls/outbound-responses.js'
export type { OutboundStep } from './calls/outbound-steps.js'
export { faultKinds } from './faults/catalog.js'
export * from './faults/constructors.js'
export type {
  DeliveryFault,
  Fault,
  FaultKind,
  FaultMatch,
  FaultOf,
  FaultRule,
} from './faults/fault.js'
export type { InjectionPoint } from './faults/points.js'
export { faultPoints } from './faults/points.js'
export type { Invariant, InvariantViolation } from './invariants/invariant.js'
export type { InvariantOptions, InvariantReport } from './invariants/invariant-check.js'
export { InvariantError } from './invariants/invariant-check.js'
export type { World } from './invariants/invariant-index.js'
export { invariants } from './invariants/invariant-table.js'
export type { Bytes } from './kernel/bytes.js'
export type { AdvanceOptions, ClockFollower, ClockMode, ClockMove, ServiceClock } from './kernel/clock.js'
export { Clock } from './kernel/clock.js'
export type { Duration } from './kernel/duration.js'
export type { Instant } from './kernel/instant.js'
export type { PendingTimer, Task, Timer } from './kernel/time.js'
export type * from './kernel/traffic-log.js'
export { entryTypes, TrafficLog } from './kernel/traffic-log.js'
export type { Policy } from './policy/policy.js'
export { defaultPolicy } from './policy/policy.js'
export type { QueueRegion, SandboxUrls, UrlOptions } from './protocol/address.js'
export type { Dialect, DialectName } from './protocol/dialect.js'
export { neutralDialect, upstashDialect } from './protocol/dialect.js'
export type { Exchange, RawRequest, RawResponse } from './protocol/service.js'
export type { DeadLetter } from './queue/delivery/dead-letters.js'
export type { HeaderRecord, NetworkError, Step } from './queue/destinations/delivery-script.js'
export type { DestinationResponse } from './queue/destinations/destination-responses.js'
export type { DeliveryHosts, DestinationHandler, DestinationResponder } from './queue/destinations/destinations.js'
export { Destinations } from './queue/destinations/destinations.js'
export type { Recorder } from './queue/destinations/recorder.js'
export type {
  FireTimeSpan,
  PublishOptions,
  PublishResult,
  QueueSchedules,
  QueueUrlGroups,
  UpsertQueueOptions,
} from './queue/direct-queue.js'
export { Queue } from './queue/direct-queue.js'
export type { DumpedRun } from './queue/dump/dumped-run-rows.js'
export type {
  DumpedDeadLetter,
  DumpedEndpoint,
  DumpedFlowKey,
  DumpedGroup,
  DumpedMessage,
  DumpedQueue,
  DumpedSchedule,
  QueueDump,
} from './queue/dump/queue-dump.js'
export type { ExplainTarget } from './queue/explain/explain.js'
export type { Forecast, ForecastBlocker } from './queue/explain/forecast.js'
export type { Message } from './queue/message/message.js'
export { rateLimitHeaders } from './queue/publish/call-limits.js'
export type { UrlGroup, UrlGroupEndpoint } from './queue/publish/url-groups.js'
export type { Schedule } from './queue/schedules/schedule.js'
export type { DevUser } from './queue/signing/public-users.js'
export { devUsers } from './queue/signing/public-users.js'
export type { SignatureFlaw, SignedRequest, SignOptions } from './queue/signing/signature-lab.js'
export { signatureFlaws } from './queue/signing/signature-lab.js'
export type { SigningKeyPair } from './queue/signing/signing.js'
export type { CausalNode, CausalTree } from './report/causal-tree.js'
export type { DecodedBody, DecodedEntry } from './report/decoded.js'
export type { Har, HarEntry, HarOptions } from './report/har.js'
export type { NormalizedEntry } from './report/normalized.js'
export type { TimelineOptions } from './report/timeline.js'
export type { Trace, TraceEntry, TraceOptions } from './report/trace.js'
export type { StoreCostTotals, TrafficContext } from './report/traffic-context.js'
export type { DiagramOptions, EntryPattern, TrafficMark } from './report/traffic-view.js'
export { Traffic } from './report/traffic-view.js'
export type { FaultHandle, FaultRuleStatus, UnusedFault } from './rules/fault-rules.js'
export { Faults } from './rules/fault-rules.js'
export type { ForkOptions, PastInstant } from './sandbox/past.js'
export type { PastSandbox, PastStore } from './sandbox/past-sandbox.js'
export type { SandboxOptions, SandboxTokens } from './sandbox/sandbox.js'
export { createSandbox, Sandbox } from './sandbox/sandbox.js'
export type { SandboxDump } from './sandbox/sandbox-dump.js'
export type { Expectation } from './scenarios/expectations.js'
export { defineScenario } from './scenarios/scenario.js'
export type { ScenarioStep } from './scenarios/step-values.js'
export type { Scenario, ScenarioDestination, ScenarioGiven } from './scenarios/written-scenario.js'
export type { StatsOverrides } from './stats/figures.js'
export type { StatsPeriod } from './stats/periods.js'
export type { QueueUsageOptions } from './stats/queue-usage.js'
export type { NamedSeries, QueueReport, RequestPoint, SearchReport, SeriesPoint } from './stats/reports.js'
export type { SearchUsageOptions } from './stats/search-usage.js'
export { QueueStatistics, SearchStatistics, Stats } from './stats/statistics.js'
export type {
  LatencyFigures,
  LatencyTable,
  QueueRates,
  QueueUsageStep,
  SearchRates,
  SearchUsageStep,
  UsageInstant,
} from './stats/usage-steps.js'
export { counterReset, gap, latencies, monthEnd, spikeAt, steady } from './stats/usage-steps.js'
export { ReplyError } from './store/command/reply.js'
export type { ConnectionOptions, StoreConnection } from './store/connection.js'
export type { CommandArg, CommandArgs, PlainReply } from './store/direct-store.js'
export { Store } from './store/direct-store.js'
export type { DumpedKey, StoreDump } from './store/dump/store-dump.js'
export type { StoreCost } from './store/meter.js'
export type { WorkflowRunEnd } from './workflow/advance-run.js'
export type { NotifyOptions, Workflow, WorkflowRun } from './workflow/direct-workflows.js'
export type { RunHistory, RunHistoryEntry, RunHistoryOptions } from './workflow/run-history.js'
export type { StubError } from './workflow/stubs.js'
