export type { DeliveryPoint } from '../../../src/faults/points.js'
export type { DeliveryCheck } from './delivery/check-delivery.js'
export { checkDelivery, DeliveryBroken } from './delivery/check-delivery.js'
export type { CheckDeliveryOptions } from './delivery/check-delivery-options.js'
export type { CoverageCell, CoverageFigure, ReachedCell } from './delivery/coverage.js'
export type { EffectOptions } from './delivery/delivery-effects.js'
export type { DeliveryHandler, DeliverySubject } from './delivery/delivery-run.js'
export type {
  AnyFaultRulesOptions,
  CallFaultsOptions,
  DeliveryFaultsOptions,
  FaultRulesOptions,
} from './delivery/fault-arbitraries.js'
export {
  callFaults,
  deliveryFaultKinds,
  deliveryFaults,
  deliveryScripts,
  faultRules,
} from './delivery/fault-arbitraries.js'
export type { IdempotenceOptions, Repetition } from './delivery/idempotence.js'
export { expectIdempotent } from './delivery/idempotence.js'
export type { PolicyChoice, PolicyChoices } from './delivery/policy-choices.js'
export { disputedPolicies } from './delivery/policy-choices.js'
export type { CommandOptions } from './values/arbitraries.js'
export { commands } from './values/arbitraries.js'
export type { GeneratedMessage, GeneratedSchedule, MessageArbitraryOptions } from './values/message-arbitraries.js'
export { clockMoves, crons, messages, schedules } from './values/message-arbitraries.js'
export type { StoreTurn, StoreTurnOptions } from './values/session-arbitraries.js'
export { storeTurns, takeTurns } from './values/session-arbitraries.js'
export { expectVerified } from './verification/verification.js'
export type { VerificationCase } from './verification/verification-cases.js'
export type { AppKeys, VerificationOptions, VerificationSubject } from './verification/verification-options.js'
