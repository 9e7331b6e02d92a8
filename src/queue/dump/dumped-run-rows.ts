import * as v from 'valibot'
import type { HeaderList } from '../../kernel/http.js'
import type { PortableString } from '../../kernel/portable.js'
import type { Message, RunMessage } from '../message/message.js'
import { count, headerPairs, headers, id, portable, settings, status, time } from './dump-fields.js'
import type { PortableHeaders, PortableSettings } from './portable-settings.js'

// Workflow runs as JSON. The queue dumps them with its messages; the workflow engine reads and writes them.

/** Step as it was submitted. */
export interface DumpedStepBody {
  /** Number of the step in its workflow run, 0 for the plan of a parallel step. [workflow.md 5] */
  readonly stepId: number
  /** Name of the step in the code of the workflow. */
  readonly stepName: string
  /** Type of the step: `Run`, `SleepFor`, `Call`, `Wait` … */
  readonly stepType: string
  /** Number of steps that run in parallel, including this one. */
  readonly concurrent: number
  readonly [more: string]: unknown
}

/** Response of a third party, or of a failure function. */
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
  /** Number of the step that waits, in its workflow run. */
  readonly stepId: number
  /** ID of the event for which the step waits. */
  readonly eventId: string
  /** Step that waits, in the form in which it was submitted. */
  readonly step: DumpedStepBody
  /** URL of the endpoint to which the event is delivered. */
  readonly url: string
  /** Maximum duration of the wait, as the service spells it: `7d`. [workflow.md 7] */
  readonly timeout: string
  /** Virtual time of the timeout, in milliseconds since the Unix epoch. */
  readonly deadline: number
  /** URL of the endpoint to which the timeout is delivered. */
  readonly timeoutUrl: string
  /** Headers for the message that reports the event or the timeout, as lists of values by name. */
  readonly timeoutHeaders: Readonly<Record<string, readonly string[]>>
  /** State of the wait. `dropped`: the run ended before the wait did. */
  readonly state: 'waiting' | 'notified' | 'timed-out' | 'dropped'
  /** Position of this wait in the order of all waits of all runs. */
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
  /** Finished step in the form in which it was submitted. Absent until the step has finished. */
  readonly result?: DumpedStepBody | undefined
  /** Plan of the step in the form in which it was submitted. Absent if it is not a parallel step. */
  readonly plan?: DumpedStepBody | undefined
  /** ID of the message that carries the plan of a parallel step. */
  readonly planMessage?: string | undefined
  /** Request to a third party; `message` is the ID of the message that sends it. */
  readonly call?: { readonly message: string; readonly reply?: DumpedReply | undefined } | undefined
  /** ID of the workflow run that the step started. */
  readonly invoked?: string | undefined
}

/** Workflow run. Messages are given by their IDs. */
export interface DumpedRun {
  /** ID of the workflow run (`wfr_…`). */
  readonly id: string
  /** URL of the workflow. */
  readonly url: string
  /** Creation time in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** State of the run, as the service spells it. [workflow.md 10] */
  readonly state: 'RUN_STARTED' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'
  /** Time at which the run ended, in milliseconds since the Unix epoch. Absent while it runs. */
  readonly completedAt?: number | undefined
  /** Return value of the workflow, as its endpoint sent it. Absent without `RUN_SUCCESS`. */
  readonly result?: PortableString | undefined
  /** Features of the workflow SDK that the run uses. [workflow.md 2.1] */
  readonly features: readonly string[]
  /** Settings that the trigger of the run sets for all messages of the run. */
  readonly settings: PortableSettings
  /** Name of the dialect of the run; omitted for all spellings. */
  readonly words?: string | undefined
  /** Headers of deliveries that the trigger set: Content-Type and forwarded headers. */
  readonly headers: PortableHeaders
  /** Whether `settings` applies to all messages of the run. If not, each message has its own settings. */
  readonly applies: boolean
  /** IP address of the client that triggered the run. */
  readonly callerIp: string
  /** Region of the queue that received the trigger: `us-east-1` or `eu-central-1`. */
  readonly region: string
  /** Entries for the trigger and the steps so far, in the order in which deliveries list them for the endpoint. */
  readonly entries: readonly {
    readonly message: string
    readonly callType: 'step' | 'toCallback' | 'fromCallback' | 'stepConfig'
  }[]
  /** Steps that the endpoint has submitted so far, in the order of their first submissions. */
  readonly steps: readonly DumpedStep[]
  /** Pending waits for events, and the latest wait of each step. */
  readonly waits: readonly DumpedWait[]
  /** Messages (`message`) that are held until the messages that submitted them (`behind`) have their responses. */
  readonly held: readonly { readonly message: string; readonly behind: readonly string[] }[]
  /** Events for which no step has waited yet, oldest first. */
  readonly early: readonly { readonly eventId: string; readonly events: readonly PortableString[] }[]
  /** Step of another run that invoked this run and waits for its end. Absent without one. [workflow.md 9] */
  readonly invoker?:
    | {
        readonly runId: string
        readonly url: string
        readonly createdAt: number
        readonly headers: Readonly<Record<string, readonly string[]>>
        readonly step: DumpedStepBody
      }
    | undefined
  /** ID of the message that calls the failure function. Absent if it was not called. */
  readonly failureFunction?: string | undefined
  /** Latest response of the failure function. Absent before the first one. */
  readonly failureReply?: DumpedReply | undefined
  /** Response, message and dead letter of the failed delivery that made the run fail. Absent for other runs. */
  readonly failure?: (DumpedReply & { readonly message: string; readonly dlqId: string }) | undefined
  /** Whether the queue announced the run to the SDK and the SDK has not begun it yet. [workflow.md 2.4] */
  readonly announced?: true | undefined
  /** Whether `/v2/trigger` began the run. The SDK at its endpoint must then support this. [workflow.md 2.5] */
  readonly byRest?: true | undefined
}

/** Role of a message in its workflow run. */
export interface DumpedPart {
  /** ID of the workflow run (`wfr_…`). */
  readonly id: string
  /**
   * Role of the message: a step, a call to a third party, the callback of a call, or a call of the failure function.
   */
  readonly as: 'step' | 'call' | 'callback' | 'failure'
  /** Index of the step's entry in `DumpedRun.entries`. */
  readonly index?: number | undefined
  /** Whether the delivery of this message asks the SDK to begin the run itself. */
  readonly announces?: true | undefined
  /** Step for which a call is made, or to which a callback belongs. */
  readonly stepId?: number | undefined
}

/** Workflow runs for a dump. */
export interface RunsOfDump {
  readonly runs: readonly DumpedRun[]
  /** URLs that have responded as workflows. */
  readonly urls: readonly string[]
  /** Messages that the runs refer to. */
  readonly messages: Iterable<Message>
  partOf(message: Message): DumpedPart | undefined
}

/** Runs of a dump that are being restored. */
export interface RunsToLoad {
  /**
   * Returns the role of a message; `undefined` if the run is not in the dump.
   * @throws TypeError when the role is invalid
   */
  partOf(dumped: DumpedPart): RunMessage | undefined
  isHeld(messageId: string): boolean
  /**
   * Completes the runs after the messages have been restored.
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
const headerLists = v.record(v.string(), v.array(v.string()))

export const dumpedPart: v.GenericSchema<unknown, DumpedPart> = v.object({
  id,
  as: v.picklist(['step', 'call', 'callback', 'failure']),
  index: v.optional(v.pipe(count, v.maxValue(9_999_999))),
  announces: v.optional(v.literal(true)),
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
  announced: v.optional(v.literal(true)),
  byRest: v.optional(v.literal(true)),
})
