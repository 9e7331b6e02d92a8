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
  /** ID of the schedule. If it exists, the schedule is replaced. */
  readonly id: string
  /** Cron expression of five fields, optionally after a time zone: `CRON_TZ=Europe/Berlin 0 3 * * *`. */
  readonly cron: string
  /** URL, or name of a URL group. */
  readonly to: string
  /** Name of the FIFO queue. */
  readonly queue?: string
  /** Whether the schedule is paused. Default: unchanged, and `false` for a new schedule. */
  readonly paused?: boolean
}

/** A scenario step that sends an HTTP request. */
export interface RequestStep {
  /** Service that the request is sent to. */
  readonly service: 'store' | 'queue' | 'stats'
  /** Path below the base URL of the service. */
  readonly path: string
  /** HTTP method of the request. Default: `POST` with a body, otherwise `GET`. */
  readonly method?: string
  /** Further headers of the request. The step sets `authorization`, and `content-type` for a JSON body. */
  readonly headers?: ScenarioHeaders
  /** Body of the request: a string, or a value that becomes JSON. Default: no body. */
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
  /** Flow-control key whose limits are fixed. */
  readonly key: string
  /** Maximum number of attempts in flight. Default: unchanged. */
  readonly parallelism?: number
  /** Maximum number of attempts in one period. Default: unchanged. */
  readonly rate?: number
  /** Rate period: whole seconds, at least one. */
  readonly period?: Duration
}

export interface StepValues {
  /** Message that is published, once or several times. */
  readonly publish: PublishStep
  /** HTTP request that is sent to one of the services, as an app would. */
  readonly request: RequestStep
  /** Name and arguments of a store command, which runs as a command of the test itself. */
  readonly command: readonly ScenarioArgument[]
  /** Duration by which time moves. Everything that is due on the way runs. */
  readonly advance: Duration
  /** Instant to which time moves: ISO text or milliseconds since the epoch. Everything that is due runs. */
  readonly advanceTo: string | number
  /** `true`, or a maximum number of timers. Time moves until only schedules are left. */
  readonly drain: true | { readonly maxTimers: number }
  /** Name of the publish steps whose messages are canceled. */
  readonly cancel: string
  /** Name of the publish steps whose waiting messages are delivered now. */
  readonly deliverNow: string
  /** Name of the publish steps whose dead letters are published again, or `all`. */
  readonly retryDeadLetters: string
  /** Name of the publish steps whose dead letters are deleted, or `all`. */
  readonly deleteDeadLetters: string
  /** Name of the FIFO queue that is paused. */
  readonly pauseQueue: string
  /** Name of the FIFO queue that is resumed. */
  readonly resumeQueue: string
  /** Name and parallelism of the FIFO queue that is created or changed. */
  readonly upsertQueue: { readonly name: string; readonly parallelism: number }
  /** Schedule that is created, or that replaces the one with the same ID. */
  readonly schedule: ScheduleStep
  /** ID of the schedule that is fired now. */
  readonly fireSchedule: string
  /** ID of the schedule that is paused. */
  readonly pauseSchedule: string
  /** ID of the schedule that is resumed. */
  readonly resumeSchedule: string
  /** ID of the schedule that is deleted. Its messages stay. */
  readonly deleteSchedule: string
  /** Flow-control key that is paused. Its messages wait. */
  readonly pauseFlowControl: string
  /** Flow-control key that is resumed. */
  readonly resumeFlowControl: string
  /** Flow-control key and its limits, which messages cannot change afterwards. */
  readonly pinFlowControl: FlowControlStep
  /** Name of a URL group, and endpoints that are added to it. A missing group is created. */
  readonly addEndpoints: { readonly name: string; readonly endpoints: readonly GroupMember[] }
  /** Name of the URL group that is deleted. */
  readonly deleteUrlGroup: string
  /** Rotation of the signing keys: the next key becomes the current one. */
  readonly rotateSigningKeys: true
  /** Reset of the password of the store, which revokes its tokens. */
  readonly resetPassword: true
  /** Fault rules that are added. Their time windows begin now. */
  readonly addFaults: FaultRule | readonly FaultRule[]
  /** Name of the fault rules that are removed. */
  readonly removeFaults: string
  /** Expectations that are checked at this point. */
  readonly expect: Expectation | readonly Expectation[]
}

export type StepName = keyof StepValues
/** One step: an object with the name of the step as its only field. */
export type ScenarioStep = { readonly [K in StepName]: { readonly [P in K]: StepValues[K] } }[StepName]

export type GroupMember =
  | string
  | {
      /** URL of the endpoint. */
      readonly url: string
      /** Name of the endpoint in its URL group. Default: none. */
      readonly name?: string
    }
