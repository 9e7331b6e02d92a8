export type { DeliveryPoint } from '../../../src/faults/points.js'
export * as arb from './arb.js'
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
export { deliveryFaultKinds } from './delivery/fault-arbitraries.js'
export type { PolicyChoice, PolicyChoices } from './delivery/policy-choices.js'
export { disputedPolicies } from './delivery/policy-choices.js'
export type { CommandOptions } from './values/arbitraries.js'
export type { GeneratedMessage, GeneratedSchedule, MessageArbitraryOptions } from './values/message-arbitraries.js'
export type { StoreTurn, StoreTurnOptions } from './values/session-arbitraries.js'
export { takeTurns } from './values/session-arbitraries.js'
