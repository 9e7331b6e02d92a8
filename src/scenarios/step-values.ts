import type { FaultRule } from '../faults/fault.js'
import type { Duration } from '../kernel/duration.js'
import type { Expectation } from './expectations.js'
import type { MessageContent, MessageOptions, ScenarioArgument, ScenarioHeaders } from './values.js'

/** A scenario step that publishes messages. */
export interface PublishStep extends MessageOptions, MessageContent {
  /** URL, or name of a URL group. */
  readonly to: string
  /** Name of the message for later steps and expectations. */
  readonly as?: string
  /** Name of the FIFO queue. */
  readonly queue?: string
  /** Number of messages; `{n}` in strings is the number of each. Default: 1. */
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
  /** Path below the base URL of the service. */
  readonly path: string
  readonly method?: string
  readonly headers?: ScenarioHeaders
  readonly body?: unknown
  /** Token of the request. Default: `standard`. */
  readonly token?: 'standard' | 'read-only' | 'none'
  /** Expected status; 0 if the connection must break. */
  readonly status?: number
  /** Fields that the JSON of the response must have. */
  readonly response?: unknown
}

/** The settings of a flow-control key in a scenario. */
export interface FlowControlStep {
  readonly key: string
  readonly parallelism?: number
  readonly rate?: number
  /** Rate period: whole seconds, at least one. */
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
/** One step: an object with the name of the step as its only field. */
export type ScenarioStep = { readonly [K in StepName]: { readonly [P in K]: StepValues[K] } }[StepName]

export type GroupMember = string | { readonly url: string; readonly name?: string }
