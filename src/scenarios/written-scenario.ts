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
  /** Content of the added databases, by name: a dump, and commands that run after it is loaded. */
  readonly databases?: Readonly<Record<string, Pick<ScenarioGiven, 'store' | 'commands'>>>
  /** Endpoints of each URL group, by the name of the URL group. */
  readonly urlGroups?: Readonly<Record<string, readonly GroupMember[]>>
  /** FIFO queues by name. Default `parallelism`: 1. */
  readonly queues?: Readonly<Record<string, { readonly parallelism?: number; readonly paused?: boolean }>>
  /** Schedules that exist at the start. */
  readonly schedules?: readonly ScheduleStep[]
  /** Limits of flow-control keys, by key. Messages cannot change limits that are set here. */
  readonly flowControl?: Readonly<Record<string, Omit<FlowControlStep, 'key'> & { readonly paused?: boolean }>>
  /** Signing keys: the current one and the next one. Default: the default keys of a sandbox, which are public. */
  readonly signingKeys?: { readonly current: string; readonly next: string }
}

/** Destination of deliveries: a URL, and how it responds. */
export interface ScenarioDestination {
  /** URL; `*` matches any characters. */
  readonly url: string
  /** Steps for the first deliveries. Each delivery uses up one step. A number is the status of a response. */
  readonly script?: readonly (DeliveryFault | number)[]
  /**
   * Responses that production recorded, one step per attempt. The destination sends them as it does with `script`,
   * unless code under test responds at the URL. Such code is a handler that `setup` registers, or the app that `--to`
   * names.
   */
  readonly recorded?: readonly (DeliveryFault | number)[]
  /** Response to all other deliveries. Default: status 200. */
  readonly response?: {
    readonly status?: number
    readonly headers?: HeaderRecord
    readonly body?: unknown
    /** Virtual time from the request to the response. */
    readonly delay?: Duration
  }
}

/** External host to which the app sends requests: a URL, and how it responds. */
export interface ScenarioCall {
  /** URL. `*` matches any characters, and a method may precede the URL. */
  readonly url: string
  /**
   * Steps for the first requests. Each request uses up one step: a fault of the injection point `outbound.request`, or
   * a number, which is the status of a response.
   */
  readonly script?: readonly (Fault | number)[]
  /** Response to all other requests. Default: status 200. */
  readonly response?: ScenarioDestination['response']
}

/** Test case as data: an initial state, faults, steps, and the expectations at the end. */
export interface Scenario {
  /** Name of the scenario, for reports and error messages. */
  readonly name: string
  /** Description for people. */
  readonly description?: string
  /** Seed of all random values: IDs, random replies and draws of fault rules. Default 1. */
  readonly seed?: string | number
  /** Virtual time at the start: ISO text or milliseconds since the epoch. Default `2030-01-01T00:00:00Z`. */
  readonly startAt?: string | number
  /** Dialect: the spelling of headers, parameters and variables. Default: `auto`. */
  readonly dialect?: DialectName
  /** Policies that differ from their defaults, by name. */
  readonly policy?: Partial<Policy>
  /** Names of databases that are added to the data store. */
  readonly databases?: readonly string[]
  /** Initial state of the sandbox, before the first step. */
  readonly given?: ScenarioGiven
  /** Destinations of deliveries, and how they respond. */
  readonly destinations?: readonly ScenarioDestination[]
  /** External hosts to which the app sends requests, and how they respond. */
  readonly outbound?: readonly ScenarioCall[]
  /** Fault rules, in the order in which they are evaluated. */
  readonly faults?: readonly FaultRule[]
  /** Steps of the scenario, which run in this order. */
  readonly steps?: readonly ScenarioStep[]
  /** Expectations that are checked at the end, even if a step failed. */
  readonly expect?: readonly Expectation[]
}
