import type { DeliveryFault, Fault, FaultRule, HeaderRecord } from '../faults/fault.js'
import type { Duration } from '../kernel/duration.js'
import type { Policy } from '../policy/policy.js'
import type { DialectName } from '../protocol/dialect.js'
import type { Expectation } from './expectations.js'
import type { FlowControlStep, GroupMember, ScenarioStep, ScheduleStep } from './step-values.js'
import type { ScenarioArgument } from './values.js'

/** What exists when a scenario begins. */
export interface ScenarioGiven {
  /** What `store.dump()` gave. */
  readonly store?: object
  /** Commands of the data store, one after the other. */
  readonly commands?: readonly (readonly ScenarioArgument[])[]
  readonly urlGroups?: Readonly<Record<string, readonly GroupMember[]>>
  readonly queues?: Readonly<Record<string, { readonly parallelism?: number; readonly paused?: boolean }>>
  readonly schedules?: readonly ScheduleStep[]
  readonly flowControl?: Readonly<Record<string, Omit<FlowControlStep, 'key'> & { readonly paused?: boolean }>>
  readonly signingKeys?: { readonly current: string; readonly next: string }
}

/** Where deliveries go: what a destination meets and answers. */
export interface ScenarioDestination {
  /** A url; `*` stands for any characters. */
  readonly url: string
  /** What the first deliveries meet, one each; a number is the status of an answer. */
  readonly script?: readonly (DeliveryFault | number)[]
  /**
   * What production answered, one for each attempt. Played as a script while no code under test answers at the url:
   * code that `setup` registers, or an application that `--to` names, takes its place.
   */
  readonly recorded?: readonly (DeliveryFault | number)[]
  /** The answer to all other deliveries. Default 200. */
  readonly response?: {
    readonly status?: number
    readonly headers?: HeaderRecord
    readonly body?: unknown
    /** How long it takes to answer. */
    readonly delay?: Duration
  }
}

/** A foreign host that the app calls: what a call meets, and what it is answered. */
export interface ScenarioCall {
  /** A url; `*` stands for any characters, and a method may stand in front. */
  readonly url: string
  /** What the first calls meet, one each: faults of the point `outbound.request`; a number is the status of an answer. */
  readonly script?: readonly (Fault | number)[]
  /** The answer to all other calls. Default 200. */
  readonly response?: ScenarioDestination['response']
}

/** A story as data: what exists, what goes wrong, what happens, and what must hold in the end. */
export interface Scenario {
  readonly name: string
  /** What it shows, for people. */
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
