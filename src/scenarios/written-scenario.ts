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
  /** Endpoints of each URL group, by the name of the group. */
  readonly urlGroups?: Readonly<Record<string, readonly GroupMember[]>>
  /** FIFO queues by name. Default `parallelism`: 1. */
  readonly queues?: Readonly<Record<string, { readonly parallelism?: number; readonly paused?: boolean }>>
  /** Schedules that exist at the start. */
  readonly schedules?: readonly ScheduleStep[]
  /** Limits of flow-control keys, by key. Messages cannot change these limits. */
  readonly flowControl?: Readonly<Record<string, Omit<FlowControlStep, 'key'> & { readonly paused?: boolean }>>
  /** Keys that sign deliveries: the current one and the next one. Default: public keys. */
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
  /** Name of the scenario, for reports and error messages. */
  readonly name: string
  /** Description for people. */
  readonly description?: string
  /** Seed of all random values: IDs, random replies and draws of fault rules. Default 1. */
  readonly seed?: string | number
  /** Virtual time at the start: ISO text or milliseconds since the epoch. Default `2030-01-01T00:00:00Z`. */
  readonly startAt?: string | number
  /** Spelling of headers, parameters and variables. Default: `auto`. */
  readonly dialect?: DialectName
  /** Policies that differ from the defaults, by name. */
  readonly policy?: Partial<Policy>
  /** Initial state of the sandbox, before the first step. */
  readonly given?: ScenarioGiven
  /** URLs that deliveries go to, and how they respond. */
  readonly destinations?: readonly ScenarioDestination[]
  /** External hosts that the app sends requests to, and how they respond. */
  readonly outbound?: readonly ScenarioCall[]
  /** Fault rules, in the order in which they are evaluated. */
  readonly faults?: readonly FaultRule[]
  /** Steps of the scenario, which run in this order. */
  readonly steps?: readonly ScenarioStep[]
  /** Expectations that are checked at the end, even if a step failed. */
  readonly expect?: readonly Expectation[]
}
