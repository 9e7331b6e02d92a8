export type { RunnerTimers, SinonClock } from './adapters/timers.js'
export { hostTimers } from './adapters/timers.js'
export type { CallOptions, Calls } from './calls/calls.js'
export type { ForeignCall } from './calls/foreign-call.js'
export type { CallHandler, PlainCallAnswer, PlainCallHandler } from './calls/outbound-responses.js'
export type { CallStep } from './calls/outbound-steps.js'
export type { RateLimitedOptions, ReplyOptions } from './faults/answer-faults.js'
export { faultKinds } from './faults/catalog.js'
export * as fault from './faults/constructors.js'
export type {
  DeliveryFault,
  Fault,
  FaultKind,
  FaultMatch,
  FaultOf,
  FaultRule,
  HeaderRecord,
  RateLimitedFault,
  RetryAfter,
  StatusFault,
} from './faults/fault.js'
export type { InjectionPoint } from './faults/points.js'
export { injectionPoints } from './faults/points.js'
export type { Breach, Invariant } from './invariants/invariant.js'
export type { Check, CheckOptions } from './invariants/invariant-check.js'
export { BrokenPromise } from './invariants/invariant-check.js'
export type { World } from './invariants/invariant-index.js'
export { invariants } from './invariants/invariant-table.js'
export type { Bytes } from './kernel/bytes.js'
export type { Clock, ClockMode, DriveCall, Follower, MoveOptions } from './kernel/clock.js'
export { VirtualClock } from './kernel/clock.js'
export type { Duration } from './kernel/duration.js'
export type { Instant } from './kernel/instant.js'
export type { PendingTimer, Task, Timer } from './kernel/time.js'
export type * from './kernel/traffic-log.js'
export { entryTypes, Traffic } from './kernel/traffic-log.js'
export type { Policy } from './policy/policy.js'
export { defaultPolicy } from './policy/policy.js'
export type { Addresses, AddressOptions, QueueRegion } from './protocol/address.js'
export type { Vocabulary, VocabularyName } from './protocol/dialect.js'
export { neutralDialect, upstashDialect } from './protocol/dialect.js'
export type { Answer, Call, Exchange } from './protocol/service.js'
export type { DeadLetter } from './queue/delivery/dead-letters.js'
export type { NetworkError, Step } from './queue/destinations/delivery-script.js'
export type { PlainAnswer } from './queue/destinations/destination-responses.js'
export type { DestinationHandler, PlainHandler, Reach } from './queue/destinations/destinations.js'
export { Destinations } from './queue/destinations/destinations.js'
export type { Recorder } from './queue/destinations/recorder.js'
export type { DirectPublish, PublishedTo } from './queue/direct-queue.js'
export { DirectQueue as Queue } from './queue/direct-queue.js'
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
export type { Explained } from './queue/explain/explain.js'
export type { Forecast, ForecastCause } from './queue/explain/forecast.js'
export type { Message } from './queue/message/message.js'
export { rateLimitHeaders } from './queue/publish/call-limits.js'
export type { GroupEndpoint, UrlGroup } from './queue/publish/url-groups.js'
export type { Schedule } from './queue/schedules/schedule.js'
export type { Credentials } from './queue/signing/public-users.js'
export { devUsers } from './queue/signing/public-users.js'
export type { SignatureFlaw, SignatureOverrides, SignedRequest } from './queue/signing/signature-lab.js'
export { signatureFlaws } from './queue/signing/signature-lab.js'
export type { SigningKeyPair } from './queue/signing/signing.js'
export type { CausalNode, CausalTree } from './report/causal-tree.js'
export type { DecodedBody, DecodedEntry } from './report/decoded.js'
export type { Har, HarEntry, HarOptions } from './report/har.js'
export type { NormalizedEntry } from './report/normalized.js'
export type { TimelineOptions } from './report/timeline.js'
export type { Trace, TraceEntry, TraceOptions } from './report/trace.js'
export type { StoreCosts, TrafficContext } from './report/traffic-context.js'
export type { DiagramOptions, EntryPattern, Mark } from './report/traffic-view.js'
export { TrafficView } from './report/traffic-view.js'
export type { FaultHandle, ListedFault, UnusedFault } from './rules/fault-rules.js'
export { Faults } from './rules/fault-rules.js'
export type { ForkOptions, PastInstant } from './sandbox/past.js'
export type { PastSandbox, PastStore } from './sandbox/past-sandbox.js'
export type { SandboxOptions, SandboxTokens } from './sandbox/sandbox.js'
export { createSandbox, Sandbox } from './sandbox/sandbox.js'
export type { SandboxDump } from './sandbox/sandbox-dump.js'
export type { Expectation } from './scenarios/expectations.js'
export { defineScenario } from './scenarios/scenario.js'
export type { ScenarioStep } from './scenarios/step-values.js'
export type { Given, Scenario, ScenarioDestination } from './scenarios/written-scenario.js'
export type { QueueStatistics, SearchStatistics, Statistics } from './stats/statistics.js'
export { ReplyError } from './store/command/reply.js'
export type { ConnectionOptions, DirectConnection } from './store/connection.js'
export type { PlainReply, Word } from './store/direct-store.js'
export { DirectStore } from './store/direct-store.js'
export type { StoreDifference } from './store/dump/snapshot.js'
export type { DumpedKey, StoreDump } from './store/dump/store-dump.js'
export type { Spend } from './store/meter.js'
export type { RunEnd } from './workflow/advance-run.js'
export type { DirectWorkflows, WorkflowRun } from './workflow/direct-workflows.js'
export type { History, HistoryEntry, HistoryOptions } from './workflow/run-history.js'
export type { StepError } from './workflow/stubs.js'
