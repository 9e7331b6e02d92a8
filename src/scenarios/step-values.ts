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
  /** Number of messages. In strings, `{n}` is replaced with the number of the message. Default: 1. */
  readonly times?: number
}

/** A scenario step that creates a schedule. */
export interface ScheduleStep extends MessageOptions, MessageContent {
  /** ID of the schedule. An existing schedule with this ID is replaced. */
  readonly id: string
  /** Cron expression of five fields, optionally after a time zone: `CRON_TZ=Europe/Berlin 0 3 * * *`. */
  readonly cron: string
  /** URL, or name of a URL group. */
  readonly to: string
  /** Name of the FIFO queue. */
  readonly queue?: string
  /** Whether the schedule is paused. Default: `false` for a new schedule, otherwise unchanged. */
  readonly paused?: boolean
}

/** A scenario step that sends an HTTP request. */
export interface RequestStep {
  /** Service to which the request is sent. */
  readonly service: 'store' | 'queue' | 'stats'
  /** Added database of the store to which the request is sent. Default: the first database. */
  readonly database?: string
  /** Path below the base URL of the service. */
  readonly path: string
  /** HTTP method of the request. Default: `POST` with a body, otherwise `GET`. */
  readonly method?: string
  /**
   * Additional headers of the request. The step itself sets `authorization`, and `content-type` if the body is JSON.
   */
  readonly headers?: ScenarioHeaders
  /** Body of the request: a string, or a value that becomes JSON. Default: no body. */
  readonly body?: unknown
  /** Kind of the token that the request contains. Default: `standard`. */
  readonly token?: 'standard' | 'read-only' | 'none'
  /** Expected status. 0 means that the connection must break. */
  readonly status?: number
  /** Expected response: a string, or fields that its JSON must contain. */
  readonly response?: unknown
}

/** The settings of a flow-control key in a scenario. */
export interface FlowControlStep {
  /** Flow-control key whose limits the step pins, so that messages cannot change them. */
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
  /** HTTP request to one of the services. It is sent in the same way as by an app. */
  readonly request: RequestStep
  /**
   * Name and arguments of a store command, or an object with these and an added database. In the traffic log, it is a
   * command of the test and not of an app.
   */
  readonly command:
    | readonly ScenarioArgument[]
    | { readonly database: string; readonly argv: readonly ScenarioArgument[] }
  /** Duration by which time moves. All timers in this period run. */
  readonly advance: Duration
  /** Instant to which time moves: ISO text or milliseconds since the epoch. All timers up to this instant run. */
  readonly advanceTo: string | number
  /** Moves time until only schedules are left. Value: `true`, or a maximum number of timers. */
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
  /** Flow-control key that is paused. Messages with this key wait. */
  readonly pauseFlowControl: string
  /** Flow-control key that is resumed. */
  readonly resumeFlowControl: string
  /** Flow-control key, and its new limits. Later messages cannot change these limits. */
  readonly pinFlowControl: FlowControlStep
  /** Name of a URL group, and the endpoints to add. If the group does not exist, it is created. */
  readonly addEndpoints: { readonly name: string; readonly endpoints: readonly GroupMember[] }
  /** Name of the URL group that is deleted. */
  readonly deleteUrlGroup: string
  /** Rotation of the signing keys: the next key becomes the current one. */
  readonly rotateSigningKeys: true
  /** Reset of the password of the store, or of an added database. It revokes the tokens. */
  readonly resetPassword: true | { readonly database: string }
  /** Fault rules that are added. Their time windows are relative to this step. */
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
