import * as v from 'valibot'
import type { HeaderList } from '../../kernel/http.js'
import type { PortableString } from '../../kernel/portable.js'
import type { StepSettings } from '../../kernel/traffic-log.js'
import type { Message, RunMessage } from '../message/message.js'
import { count, headerPairs, headers, id, portable, settings, status, time } from './dump-fields.js'
import type { PortableHeaders, PortableSettings } from './portable-settings.js'

// Types and schemas of workflow runs in a dump of the queue. The workflow engine reads and writes the runs.

/** Step of a workflow run, with the fields that its endpoint submitted. */
export interface DumpedStepBody {
  /** Number of the step in its workflow run. 0 for the plan that announces a parallel step. [workflow.md 5] */
  readonly stepId: number
  /** Name of the step in the code of the workflow. */
  readonly stepName: string
  /** Type of the step: `Run`, `SleepFor`, `Call`, `Wait` … */
  readonly stepType: string
  /** Number of steps that run in parallel, including this one. */
  readonly concurrent: number
  readonly [more: string]: unknown
}

/** Response to a call of a third party, or response of a failure function. */
export interface DumpedReply {
  /** HTTP status, 0 without a response. */
  readonly status: number
  /** Headers of the response as pairs of name and value. Empty without a response. */
  readonly headers: HeaderList
  /** Body of the response. Empty without a response. */
  readonly body: PortableString
  /** Reason why there is no response. */
  readonly error?: string | undefined
}

/** A wait of a workflow run in a dump. */
export interface DumpedWait {
  /** Number of the waiting step in its workflow run. */
  readonly stepId: number
  /** ID of the event for which the step waits. */
  readonly eventId: string
  /** Waiting step, with the fields that its endpoint submitted. */
  readonly step: DumpedStepBody
  /** Endpoint URL to which the event is delivered. */
  readonly url: string
  /** Maximum duration of the wait, in the format of the service: `7d`. [workflow.md 7] */
  readonly timeout: string
  /** Time at which the wait times out, in virtual milliseconds since the Unix epoch. */
  readonly deadline: number
  /** Endpoint URL to which a timeout is delivered. */
  readonly timeoutUrl: string
  /** Headers for the message that delivers the event or the timeout. Each header name has a list of values. */
  readonly timeoutHeaders: Readonly<Record<string, readonly string[]>>
  /** State of the wait. `dropped`: the workflow run ended while the step was still waiting. */
  readonly state: 'waiting' | 'notified' | 'timed-out' | 'dropped'
  /** Number that orders the waits of all workflow runs. */
  readonly turn?: number | undefined
}

/** A step of a workflow run in a dump. */
export interface DumpedStep {
  /** Number of the step in its workflow run. The first step after `init` has number 1. */
  readonly stepId: number
  /** Name of the step in the code of the workflow. */
  readonly stepName: string
  /** Type of the step: `Run`, `SleepFor`, `Call`, `Wait` … */
  readonly stepType: string
  /** Number of steps that run in parallel, including this one. */
  readonly concurrent: number
  /** Time of the first submission of the step, in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** ID of the latest message about this step. */
  readonly message?: string | undefined
  /** The step as the endpoint submitted it when it had finished. Absent until then. */
  readonly result?: DumpedStepBody | undefined
  /** The plan that announced a parallel step, as the endpoint submitted it. Absent for other steps. */
  readonly plan?: DumpedStepBody | undefined
  /** ID of the message that delivers the plan of a parallel step. */
  readonly planMessage?: string | undefined
  /** Call to a third party. `message` is the ID of the message that makes the call. */
  readonly call?: { readonly message: string; readonly reply?: DumpedReply | undefined } | undefined
  /** ID of the workflow run that the step invoked. */
  readonly invoked?: string | undefined
  /** For `invoked`: number of earlier runs in the dump with the same ID. Absent for 0. */
  readonly invokedIncarnation?: number | undefined
}

/** A workflow run in a dump. It refers to messages by their IDs. */
export interface DumpedRun {
  /** ID of the workflow run (`wfr_…`). */
  readonly id: string
  /** URL of the workflow. */
  readonly url: string
  /** Creation time in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** State of the run, in the spelling of the service. [workflow.md 10] */
  readonly state: 'RUN_STARTED' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'
  /** Time at which the run ended, in milliseconds since the Unix epoch. Absent while it runs. */
  readonly completedAt?: number | undefined
  /**
   * Return value of the workflow, in the form in which its endpoint sent it. Absent unless the state is `RUN_SUCCESS`.
   */
  readonly result?: PortableString | undefined
  /** Features of the workflow SDK that the run uses. [workflow.md 2.1] */
  readonly features: readonly string[]
  /** Settings for the messages of the run, from the options of the request that triggered it. */
  readonly settings: PortableSettings
  /**
   * Name of the dialect in which messages of the run are delivered. Absent if deliveries have the headers of all
   * dialects.
   */
  readonly words?: string | undefined
  /** Headers that the trigger set for all deliveries: Content-Type and forwarded headers. */
  readonly headers: PortableHeaders
  /** Whether `settings` applies to all messages of the run. If `false`, each message has settings of its own. */
  readonly applies: boolean
  /** IP address of the client that triggered the run. */
  readonly callerIp: string
  /** Region of the queue that received the trigger: `us-east-1` or `eu-central-1`. */
  readonly region: string
  /** Entries for the trigger and for the steps so far. Each delivery to the endpoint sends them in this order. */
  readonly entries: readonly {
    readonly message: string
    readonly callType: 'step' | 'toCallback' | 'fromCallback' | 'stepConfig'
  }[]
  /** Steps that the endpoint has submitted so far, ordered by their first submission. */
  readonly steps: readonly DumpedStep[]
  /** Pending waits for events, and the latest wait of each step. */
  readonly waits: readonly DumpedWait[]
  /**
   * Messages that wait for a response. `message` is the ID of such a message. It was submitted in responses to the
   * messages in `behind`, and is delivered after the queue has these responses.
   */
  readonly held: readonly { readonly message: string; readonly behind: readonly string[] }[]
  /** Events that arrived before a step waited for them, oldest first. */
  readonly early: readonly { readonly eventId: string; readonly events: readonly PortableString[] }[]
  /**
   * Step of another workflow run that invoked this run and waits for its result. Absent if the run was not invoked.
   * [workflow.md 9]
   */
  readonly invoker?:
    | {
        readonly runId: string
        readonly url: string
        readonly createdAt: number
        readonly headers: Readonly<Record<string, readonly string[]>>
        readonly step: DumpedStepBody
      }
    | undefined
  /** ID of the message that calls the failure function. Absent before such a call. */
  readonly failureFunction?: string | undefined
  /** Latest response of the failure function. Absent before its first response. */
  readonly failureReply?: DumpedReply | undefined
  /**
   * The failed delivery that made the run fail: its response, message and dead letter. Absent if no delivery failed
   * permanently.
   */
  readonly failure?: (DumpedReply & { readonly message: string; readonly dlqId: string }) | undefined
  /** Limit that the run exceeds, as an error text. Absent if it exceeds none. [workflow.md 12] */
  readonly exceeded?: string | undefined
  /** Whether the queue has asked the SDK to begin the run, and the SDK has not begun it yet. [workflow.md 2.4] */
  readonly announced?: true | undefined
  /**
   * Whether a request to `/v2/trigger` began the run. The SDK at the endpoint must support such runs. [workflow.md 2.5]
   */
  readonly byRest?: true | undefined
}

/** Role of a message in its workflow run. */
export interface DumpedPart {
  /** ID of the workflow run (`wfr_…`). */
  readonly id: string
  /** Number of earlier runs in the dump with the same ID. Absent for 0. */
  readonly incarnation?: number | undefined
  /**
   * Role of the message: delivers a step, calls a third party, delivers the result of such a call, or calls the failure
   * function.
   */
  readonly as: 'step' | 'call' | 'callback' | 'failure'
  /** Position of the step's entry in `DumpedRun.entries`. */
  readonly index?: number | undefined
  /** Whether this message asks the SDK to begin the run. */
  readonly announces?: true | undefined
  /** Settings of the step that the delivery of this message runs. Absent if it was sent without. [workflow.md 5.1] */
  readonly stepSettings?: StepSettings | undefined
  /** Whether the message exceeds a limit of its run. The queue then responds to the delivery itself. */
  readonly overflows?: true | undefined
  /** Number of the step that makes the call. Set for a call and for the callback with its result. */
  readonly stepId?: number | undefined
}

/** Workflow runs that a dump of the queue contains. */
export interface RunsOfDump {
  readonly runs: readonly DumpedRun[]
  /** URLs whose responses have shown that they are workflow endpoints. */
  readonly urls: readonly string[]
  /** Messages to which the runs refer. The dump must contain them. */
  readonly messages: Iterable<Message>
  partOf(message: Message): DumpedPart | undefined
}

/** Loads the workflow runs of a dump: one part before the messages are restored, and the other part after that. */
export interface RunsToLoad {
  /**
   * Returns the role of a message in its workflow run. Returns `undefined` if the dump does not contain the run.
   * @throws TypeError when the role is invalid
   */
  partOf(dumped: DumpedPart): RunMessage | undefined
  isHeld(messageId: string): boolean
  /**
   * Replaces the message IDs in the runs with the restored messages.
   * @throws TypeError when a message is missing
   */
  complete(messages: ReadonlyMap<string, Message>): void
}

const step: v.GenericSchema<unknown, DumpedStepBody> = v.looseObject({
  stepId: v.number(),
  stepName: v.string(),
  stepType: v.string(),
  concurrent: v.number(),
  targetStep: v.optional(v.number()),
  sleepFor: v.optional(v.union([v.string(), v.number()])),
  sleepUntil: v.optional(v.union([v.string(), v.number()])),
  waitEventId: v.optional(v.string()),
  timeout: v.optional(v.string()),
  waitTimeout: v.optional(v.boolean()),
})
const reply = { status, headers: headerPairs, body: portable, error: v.optional(v.string()) }
const stepSettings: v.GenericSchema<unknown, StepSettings> = v.object({
  retries: v.exactOptional(v.number()),
  retryDelay: v.exactOptional(v.string()),
  flowControl: v.exactOptional(
    v.object({
      key: v.string(),
      parallelism: v.optional(v.number()),
      rate: v.optional(v.number()),
      period: v.exactOptional(v.number()),
    }),
  ),
})
const headerLists = v.record(v.string(), v.array(v.string()))

export const dumpedPart: v.GenericSchema<unknown, DumpedPart> = v.object({
  id,
  incarnation: v.optional(count),
  as: v.picklist(['step', 'call', 'callback', 'failure']),
  index: v.optional(v.pipe(count, v.maxValue(9_999_999))),
  announces: v.optional(v.literal(true)),
  stepSettings: v.optional(stepSettings),
  overflows: v.optional(v.literal(true)),
  stepId: v.optional(v.number()),
})

export const dumpedRun: v.GenericSchema<unknown, DumpedRun> = v.object({
  id,
  url: v.string(),
  createdAt: time,
  state: v.picklist(['RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED']),
  completedAt: v.optional(time),
  result: v.optional(portable),
  features: v.array(v.string()),
  settings,
  words: v.optional(v.string()),
  headers,
  applies: v.boolean(),
  callerIp: v.string(),
  region: v.string(),
  entries: v.pipe(
    v.array(v.object({ message: id, callType: v.picklist(['step', 'toCallback', 'fromCallback', 'stepConfig']) })),
    v.minLength(1, 'A run begins with the entry of its trigger.'),
  ),
  steps: v.array(
    v.object({
      stepId: v.number(),
      stepName: v.string(),
      stepType: v.string(),
      concurrent: v.number(),
      createdAt: time,
      message: v.optional(id),
      result: v.optional(step),
      plan: v.optional(step),
      planMessage: v.optional(id),
      call: v.optional(v.object({ message: id, reply: v.optional(v.object(reply)) })),
      invoked: v.optional(id),
      invokedIncarnation: v.optional(count),
    }),
  ),
  waits: v.array(
    v.object({
      stepId: v.number(),
      eventId: v.string(),
      step,
      url: v.string(),
      timeout: v.string(),
      deadline: time,
      timeoutUrl: v.string(),
      timeoutHeaders: headerLists,
      state: v.picklist(['waiting', 'notified', 'timed-out', 'dropped']),
      turn: v.optional(count),
    }),
  ),
  held: v.array(v.object({ message: id, behind: v.array(id) })),
  early: v.array(v.object({ eventId: v.string(), events: v.array(portable) })),
  invoker: v.optional(v.object({ runId: id, url: v.string(), createdAt: time, headers: headerLists, step })),
  failureFunction: v.optional(id),
  failureReply: v.optional(v.object(reply)),
  failure: v.optional(v.object({ ...reply, message: id, dlqId: v.string() })),
  exceeded: v.optional(v.string()),
  announced: v.optional(v.literal(true)),
  byRest: v.optional(v.literal(true)),
})
