export type { RunnerTimers, SinonClock } from './adapters/timers.js'
export { fakeTimers } from './adapters/timers.js'
export type { Outbound, UnusedScript } from './calls/outbound.js'
export type { OutboundRequest } from './calls/outbound-request.js'
export type { OutboundHandler, OutboundResponder, OutboundResponse } from './calls/outbound-responses.js'
export type { OutboundStep } from './calls/outbound-steps.js'
export { faultKinds } from './faults/catalog.js'
export * as fault from './faults/constructors.js'
export type {
  DeliveryFault,
  Fault,
  FaultAt,
  FaultConditions,
  FaultKind,
  FaultMatch,
  FaultOf,
  FaultRule,
  HeaderRecord,
  RateLimitedFault,
  RetryAfter,
  StatusFault,
} from './faults/fault.js'
export type { DeliveryInjectionPoint, InjectionPoint } from './faults/points.js'
export { injectionPoints } from './faults/points.js'
export type { RateLimitedOptions, StatusOptions } from './faults/response-faults.js'
export type { Invariant, InvariantViolation } from './invariants/invariant.js'
export type { InvariantOptions, InvariantReport } from './invariants/invariant-check.js'
export { InvariantError } from './invariants/invariant-check.js'
export { invariants } from './invariants/invariant-table.js'
export type { Bytes } from './kernel/bytes.js'
export type { AdvanceOptions, Clock, ClockFollower, ClockMode, ClockMove } from './kernel/clock.js'
export type { Duration, DurationText } from './kernel/duration.js'
export type { HeaderList } from './kernel/http.js'
export type { Instant } from './kernel/instant.js'
export type { PendingTimer, Task, Timer, TimerOptions } from './kernel/time.js'
export type {
  AttemptEntry,
  AttemptOutcome,
  BulkActionEntry,
  ClockEntry,
  CommandEntry,
  DeadLetterEntry,
  DroppedEntry,
  EntriesByType,
  Entry,
  EntryBase,
  EntryOf,
  EntryType,
  FaultEntry,
  FlowControlEntry,
  InvokeEntry,
  KeyspaceEntry,
  LoggedOutboundResponse,
  LoggedResponse,
  MessageEntry,
  MessageKind,
  NotifyEntry,
  OutboundEntry,
  PublishedEntry,
  RedactedFields,
  RequestEntry,
  ServiceName,
  SettingEntry,
  StepEntry,
  StoreDiff,
  TrafficLog,
  WaitEntry,
  WorkflowEntry,
} from './kernel/traffic-log.js'
export { entryTypes } from './kernel/traffic-log.js'
export type {
  Policy,
  QueueLimits,
  QueuePlan,
  ResolvedPolicy,
  ResolvedQueueLimits,
} from './policy/policy.js'
export { defaultPolicy } from './policy/policy.js'
export type { QueueRegion, SandboxUrls, UrlOptions } from './protocol/address.js'
export type { Dialect, DialectName } from './protocol/dialect.js'
export { neutralDialect, upstashDialect } from './protocol/dialect.js'
export type { Exchange, RawRequest, RawResponse } from './protocol/service.js'
export type { BulkAction, BulkActionView, DumpedBulkAction } from './queue/bulk-actions.js'
export type { DeadLetter, DeadLetterView } from './queue/delivery/callbacks-and-dead-letters.js'
export type { NetworkError } from './queue/destinations/delivery-script.js'
export type { DestinationResponse } from './queue/destinations/destination-responses.js'
export type {
  DeliveryHosts,
  DestinationHandler,
  DestinationResponder,
  Destinations,
} from './queue/destinations/destinations.js'
export type { RawOutcome } from './queue/destinations/raw-response.js'
export type { Recorder } from './queue/destinations/recorder.js'
export type { CommonFilter, FilterValue, MessageFilter } from './queue/direct-filters.js'
export type {
  FireTimeSpan,
  PublishOptions,
  PublishResult,
  Queue,
  QueueSchedules,
  QueueUrlGroups,
  UpsertQueueOptions,
} from './queue/direct-queue.js'
export type {
  DumpedPart,
  DumpedReply,
  DumpedRun,
  DumpedStep,
  DumpedStepBody,
  DumpedWait,
} from './queue/dump/dumped-run-rows.js'
export type {
  DumpedDeadLetter,
  DumpedDuplicate,
  DumpedEndpoint,
  DumpedFlowKey,
  DumpedGroup,
  DumpedLogEntry,
  DumpedMessage,
  DumpedQueue,
  DumpedSchedule,
  QueueDump,
} from './queue/dump/queue-dump.js'
export type { ExplainTarget } from './queue/explain/explain.js'
export type { Forecast, ForecastBlocker } from './queue/explain/forecast.js'
export type { Message, MessageView } from './queue/message/message.js'
export type { LoggedState } from './queue/message/state.js'
export type { UrlGroup, UrlGroupEndpoint, UrlGroupView } from './queue/publish/url-groups.js'
export type { Schedule, ScheduleView } from './queue/schedules/schedule.js'
export type { DevUser } from './queue/signing/public-users.js'
export { devUsers } from './queue/signing/public-users.js'
export type { SignatureFlaw, SignedRequest, SignOptions } from './queue/signing/signature-lab.js'
export { signatureFlaws } from './queue/signing/signature-lab.js'
export type { SignatureClaims, SignatureWindow, SigningKeyPair, SigningKeys } from './queue/signing/signing.js'
export type { CausalNode, CausalTree } from './report/causal-tree.js'
export type { DecodedBody, DecodedEntry } from './report/decoded.js'
export type { Har, HarEntry, HarOptions } from './report/har.js'
export type { NormalizedEntry } from './report/normalized.js'
export type { TextDiagramOptions } from './report/text-diagram.js'
export type { TimelineOptions } from './report/timeline.js'
export type { Trace, TraceEntry, TraceOptions } from './report/trace.js'
export type { StoreCostTotals } from './report/traffic-context.js'
export type { DiagramOptions, EntryPattern, Traffic, TrafficMark } from './report/traffic-view.js'
export type { FaultHandle, FaultRuleStatus, Faults, UnusedFault } from './rules/fault-rules.js'
export type { ForkOptions, PastInstant } from './sandbox/past.js'
export type { PastSandbox, PastStore } from './sandbox/past-sandbox.js'
export type { DatabaseTokens, Sandbox, SandboxOptions, SandboxTokens, TokenOptions } from './sandbox/sandbox.js'
export { createSandbox } from './sandbox/sandbox.js'
export type { DatabaseDump, SandboxDump } from './sandbox/sandbox-dump.js'
export type { LoadOptions } from './sandbox/sandbox-options.js'
export type { Expectation } from './scenarios/expectations.js'
export { defineScenario } from './scenarios/scenario.js'
export type { FlowControlStep, PublishStep, RequestStep, ScenarioStep, ScheduleStep } from './scenarios/step-values.js'
export type { Scenario, ScenarioCall, ScenarioDestination, ScenarioGiven } from './scenarios/written-scenario.js'
export type { QueueStatistics, SearchStatistics, StatisticsUser, Stats } from './stats/statistics.js'
export type { LedgerDump } from './stats/tally-book.js'
export type { AccessDump } from './store/access/access-control.js'
export { ReplyError } from './store/command/reply.js'
export type { ConnectionOptions, StoreConnection } from './store/connection.js'
export type { CommandArg, CommandArgs, PlainReply, Store } from './store/direct-store.js'
export type { PortableValue } from './store/dump/portable-values.js'
export type { DumpedKey, StoreDump } from './store/dump/store-dump.js'
export type { StoreCost } from './store/meter.js'
export type { Embed, Language } from './store/values/search-definition.js'
export type { WorkflowRunEnd } from './workflow/advance-run.js'
export type {
  EventStubBuilder,
  NotifyOptions,
  RunView,
  StepStubBuilder,
  Workflow,
  WorkflowRun,
  WorkflowRunFilter,
} from './workflow/direct-workflows.js'
export type { RunHistory, RunHistoryEntry, RunHistoryOptions, StepIdentity } from './workflow/run-history.js'
export type { StubError } from './workflow/stubs.js'
export type { VendorRunState } from './workflow/workflow-run.js'
