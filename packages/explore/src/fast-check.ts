import fc from 'fast-check'
import { checkPeer } from '../../../src/kernel/peers.js'

export type { ReceiverKeys } from '../../../matchers/signatures.js'
export type { DeliveryInjectionPoint } from '../../../src/faults/points.js'
export * as arb from './arb.js'
export type { ResilienceReport } from './delivery/check-delivery.js'
export { assertResilient, ResilienceError } from './delivery/check-delivery.js'
export type { ResilienceOptions } from './delivery/check-delivery-options.js'
export type { Coverage, CoverageCell, ReachedCell } from './delivery/coverage.js'
export type { EffectOptions } from './delivery/delivery-effects.js'
export type { DeliveryHandler, DeliveryUnderTest } from './delivery/delivery-run.js'
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
export type { StoreRequest, StoreRequestOptions } from './values/session-arbitraries.js'
export { sendStoreRequests } from './values/session-arbitraries.js'

checkPeer('stuntdouble/fast-check', fc.Value !== undefined, {
  peer: 'fast-check',
  instead: 'use stuntdouble/checks, which does not need it',
})
