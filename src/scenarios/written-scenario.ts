import type { DeliveryFault, Fault, FaultRule, HeaderRecord } from '../faults/fault.js'
import type { Duration } from '../kernel/duration.js'
import type { Policy } from '../policy/policy.js'
import type { DialectName } from '../protocol/dialect.js'
import type { Expectation } from './expectations.js'
import type { FlowControlStep, GroupMember, ScenarioStep, ScheduleStep } from './step-values.js'
import type { ScenarioArgument } from './values.js'

/** Initial state of a scenario. */
export interface ScenarioGiven {
  /** Result of `store.dump()`. */
  readonly store?: object
  /** Commands of the store, run in order. */
  readonly commands?: readonly (readonly ScenarioArgument[])[]
  readonly urlGroups?: Readonly<Record<string, readonly GroupMember[]>>
  readonly queues?: Readonly<Record<string, { readonly parallelism?: number; readonly paused?: boolean }>>
  readonly schedules?: readonly ScheduleStep[]
  readonly flowControl?: Readonly<Record<string, Omit<FlowControlStep, 'key'> & { readonly paused?: boolean }>>
  readonly signingKeys?: { readonly current: string; readonly next: string }
}

/** A URL that deliveries go to, and how it responds. */
export interface ScenarioDestination {
  /** URL; `*` matches any characters. */
  readonly url: string
  /** Steps for the first deliveries, one each; a number is the status of a response. */
  readonly script?: readonly (DeliveryFault | number)[]
  /**
   * What production returned, one step per attempt.
   * Played as a script unless code under test responds at the URL: a handler that `setup` registers, or the app that
   * `--to` names.
   */
  readonly recorded?: readonly (DeliveryFault | number)[]
  /** Response to all other deliveries. Default: status 200. */
  readonly response?: {
    readonly status?: number
    readonly headers?: HeaderRecord
    readonly body?: unknown
    /** Time until the response, in virtual time. */
    readonly delay?: Duration
  }
}

/** An external host that the app sends requests to, and how it responds. */
export interface ScenarioCall {
  /** URL; `*` matches any characters, and a method may precede it. */
  readonly url: string
  /**
   * Steps for the first requests, one each: faults of the point `outbound.request`; a number is the status of a
   * response.
   */
  readonly script?: readonly (Fault | number)[]
  /** Response to all other requests. Default: status 200. */
  readonly response?: ScenarioDestination['response']
}

/** A test case as data: what exists, what goes wrong, what happens, and what must hold at the end. */
export interface Scenario {
  readonly name: string
  /** Description for people. */
  readonly description?: string
  readonly seed?: string | number
  readonly startAt?: string | number
  readonly dialect?: DialectName
  readonly policy?: Partial<Policy>
  readonly given?: ScenarioGiven
  readonly destinations?: readonly ScenarioDestination[]
  readonly outbound?: readonly ScenarioCall[]
  readonly faults?: readonly FaultRule[]
  readonly steps?: readonly ScenarioStep[]
  readonly expect?: readonly Expectation[]
}
