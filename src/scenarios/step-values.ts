import type { FaultRule } from '../faults/fault.js'
import type { Duration } from '../kernel/duration.js'
import type { Expectation } from './expectations.js'
import type { MessageContent, MessageOptions, ScenarioArgument, ScenarioHeaders } from './values.js'

/** A scenario step that publishes messages. */
export interface PublishStep extends MessageOptions, MessageContent {
  /** A url, or the name of a url group. */
  readonly to: string
  /** The name by which later steps and expectations call it. */
  readonly as?: string
  /** The queue to go through. */
  readonly queue?: string
  /** How many; `{n}` in texts is the number of each. Default 1. */
  readonly times?: number
}

/** A scenario step that creates a schedule. */
export interface ScheduleStep extends MessageOptions, MessageContent {
  readonly id: string
  readonly cron: string
  readonly to: string
  readonly queue?: string
  readonly paused?: boolean
}

/** A scenario step that sends an HTTP request. */
export interface RequestStep {
  readonly service: 'store' | 'queue' | 'stats'
  /** Below the service's address. */
  readonly path: string
  readonly method?: string
  readonly headers?: ScenarioHeaders
  readonly body?: unknown
  /** Who asks. Default `standard`. */
  readonly token?: 'standard' | 'read-only' | 'none'
  /** The status that must be answered; 0 when the connection must break. */
  readonly status?: number
  /** Fields that the JSON of the answer must have. */
  readonly response?: unknown
}

/** The settings of a flow-control key in a scenario. */
export interface FlowControlStep {
  readonly key: string
  readonly parallelism?: number
  readonly rate?: number
  /** Whole seconds, at least one. */
  readonly period?: Duration
}

export interface StepValues {
  readonly publish: PublishStep
  readonly request: RequestStep
  readonly command: readonly ScenarioArgument[]
  readonly advance: Duration
  readonly advanceTo: string | number
  readonly drain: true | { readonly maxTimers: number }
  readonly cancel: string
  readonly deliverNow: string
  readonly retryDeadLetters: string
  readonly deleteDeadLetters: string
  readonly pauseQueue: string
  readonly resumeQueue: string
  readonly upsertQueue: { readonly name: string; readonly parallelism: number }
  readonly schedule: ScheduleStep
  readonly fireSchedule: string
  readonly pauseSchedule: string
  readonly resumeSchedule: string
  readonly deleteSchedule: string
  readonly pauseFlowControl: string
  readonly resumeFlowControl: string
  readonly pinFlowControl: FlowControlStep
  readonly addEndpoints: { readonly name: string; readonly endpoints: readonly GroupMember[] }
  readonly deleteUrlGroup: string
  readonly rotateSigningKeys: true
  readonly resetPassword: true
  readonly addFaults: FaultRule | readonly FaultRule[]
  readonly removeFaults: string
  readonly expect: Expectation | readonly Expectation[]
}

export type StepName = keyof StepValues
/** One thing that is done: an object with the name of the step as its only field. */
export type ScenarioStep = { readonly [K in StepName]: { readonly [P in K]: StepValues[K] } }[StepName]

export type GroupMember = string | { readonly url: string; readonly name?: string }
