// The entry `stuntdouble/checks`: functions that check whether an app is correct under faults, crashes and different
// orders of requests. It has no peer dependency.
export type { ReceiverKeys } from '../../../matchers/signatures.js'
export { RunHistoryError } from '../../../src/workflow/history-file.js'
export { type HistorySource, parseRunHistory } from '../../../src/workflow/history-reading.js'
export type { RunHistory, RunHistoryEntry, RunHistoryOptions, StepIdentity } from '../../../src/workflow/run-history.js'
export { type CampaignContext, defineCampaign } from './campaign/campaign.js'
export type { Campaign } from './campaign/index-space.js'
export type { CrashSafetyOptions } from './crash/crash-options.js'
export { assertCrashSafe } from './crash/crash-points.js'
export { type CrashFailure, CrashSafetyError, type CrashSafetyReport } from './crash/crash-report.js'
export type { WorkflowUnderTest } from './crash/crash-sandbox.js'
export type { Disruption, DisruptionKind } from './crash/disruption.js'
export type { StepDifference } from './crash/step-differences.js'
export { NotRepeatableError } from './delivery/baseline.js'
export type { Coverage, CoverageCell, ReachedCell } from './delivery/coverage.js'
export type { EffectOptions } from './delivery/delivery-effects.js'
export type { DeliveryHandler, DeliveryUnderTest } from './delivery/delivery-run.js'
export type { IdempotenceOptions, RepetitionKind } from './delivery/idempotence.js'
export { assertIdempotent, IdempotenceError } from './delivery/idempotence.js'
export type { ClientOutcome, ConcurrentClient, InterleavingStep } from './interleavings/client-run.js'
export {
  type Exploration,
  type ExploreOptions,
  exploreFaults,
  type FaultExplorationOptions,
} from './interleavings/exploration.js'
export type { Anomaly, AnomalyName } from './interleavings/flaws.js'
export type { InterleavingOptions } from './interleavings/interleave-clients.js'
export { exploreInterleavings } from './interleavings/interleavings.js'
export type { SerialDifference } from './interleavings/order-endings.js'
export type { ExplorationOutcome } from './interleavings/outcome.js'
export type { InterleavingExploration, InterleavingOutcome } from './interleavings/tried-orders.js'
export {
  type Incompatibility,
  type InconclusivePrefix,
  type ReplayOptions,
  type ReplayResult,
  replay,
} from './replay/replay.js'
export { assertVerifiesSignatures } from './verification/verification.js'
export type { VerificationCase } from './verification/verification-cases.js'
export type { AppUnderTest, VerificationOptions } from './verification/verification-options.js'
