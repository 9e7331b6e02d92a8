import type { Bytes } from '../../../../src/kernel/bytes.js'
import { text } from '../../../../src/kernel/bytes.js'
import type { HeaderList } from '../../../../src/kernel/http.js'
import { headerOf } from '../../../../src/kernel/http.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { Attempt } from '../../../../src/queue/message/message-entries.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import { StepMessage } from '../../../../src/workflow/run-messages.js'
import { readStep, type StepBody } from '../../../../src/workflow/step.js'

// One delivery of a workflow run, with the effects and submissions of its code. The process can die between them.

/** One effect of the code of a delivery. */
export interface BodyEffect {
  /** Short description. */
  readonly what: string
  /** Whether other systems can see it. Reading the data store has no visible effect. */
  readonly isSeen: boolean
  /** For an outbound request: the values with which a fault rule matches it. */
  readonly call?: ForeignPlace
}

/** Values with which a fault rule matches one outbound request. */
interface ForeignPlace {
  readonly method: string
  readonly url: string
  /** Number of requests with the same method and URL before it, in the whole run. */
  readonly skip: number
  /** Index of the request in its delivery, from 0. */
  readonly nth: number
}

/** A request with which the code of a delivery submits a result of its run to the queue. */
export interface Submission {
  readonly method: string
  /** Path below the base URL of the queue. */
  readonly endpoint: string
  readonly headers: HeaderList
  readonly body: Bytes
  /** Number of requests with the same method and path before it. */
  readonly skip: number
  /** Short description of what it submits. */
  readonly what: string
  /** Virtual time of the submission, in milliseconds since the Unix epoch. */
  readonly at: number
  /** For a wait that an event has ended: the event's ID, and after how many milliseconds it arrived. */
  waited?: { readonly eventId: string; readonly heldMs: number }
}

/** One delivery to the endpoint of a run. */
export interface RunDelivery {
  /** Number of the delivery in its run of the check, from 1. */
  readonly ordinal: number
  /** Key that is the same in every crash plan: the run, and what the delivery carries. */
  readonly key: string
  readonly runId: string
  readonly attempt: Attempt
  /** Short description of what the delivery carries. */
  readonly carries: string
  readonly isPlan: boolean
  /** Whether the delivery carries the response of an external host or the failure of the run, and no list of steps. */
  readonly isCallback: boolean
  /** Virtual time at which the delivery begins, in milliseconds since the Unix epoch. */
  readonly at: number
  /** Milliseconds until the attempt times out. */
  readonly timeout: number
  /** Injection point of the delivery, and the number of earlier deliveries that a fault rule must skip. */
  readonly place: { readonly point: 'queue.delivery' | 'queue.callback'; readonly skip: number }
  readonly submissions: readonly Submission[]
  /** Effects of the delivery's code other than submissions; recorded only in the undisturbed run. */
  readonly effects: BodyEffect[]
  /** Short description of what the delivery last submits or, without a submission, of what it carries. */
  readonly told: string
  /** Contents of the data store before the delivery; recorded only in the undisturbed run. */
  readonly storeBefore?: StoreDump
  /** The SDK's own text, if the SDK rejected the delivery. */
  readonly refusal?: string | undefined
}

/** Returns what a delivery carries, with a key that is the same in every crash plan. */
export function carriedBy(attempt: Attempt): {
  readonly key: string
  readonly carries: string
  readonly step?: StepBody
} {
  const { message, kind } = attempt
  if (kind === 'failure-callback') return { key: 'failure', carries: 'the failure of the run' }
  const called = headerEndingIn(message.headers, 'workflow-stepname')
  if (called !== undefined) {
    const id = headerEndingIn(message.headers, 'workflow-stepid') ?? ''
    return { key: `callback ${id} ${called}`, carries: `the response of the call '${called}'` }
  }
  const step = readStep(message.body)
  if (step === undefined || !isStep(message.body)) return { key: 'begin', carries: 'the beginning of the run' }
  const { stepId, targetStep, stepName } = step
  if (targetStep === undefined)
    return { key: `step ${stepId} ${stepName}`, carries: `the result of '${stepName}'`, step }
  return { key: `plan ${targetStep} ${stepName}`, carries: `the branch '${stepName}'`, step }
}

/**
 * Returns the key from which time and randomness of a delivery are derived: the steps that are finished when the
 * delivery arrives. Its own key would not do: in another order of branches, another delivery follows these steps.
 */
export function deliveryPointOf({ message }: Attempt, key: string): string {
  const { part } = message
  const isBranch = readStep(message.body)?.targetStep !== undefined
  if (!(part instanceof StepMessage) || part.index === 0 || isBranch) return key
  const steps = part.run.entries.slice(1, part.index + 1).map((entry) => readStep(entry.message.body))
  const finished = steps.flatMap((step) => (step === undefined || step.targetStep !== undefined ? [] : [step.stepId]))
  return `after ${finished.sort((a, b) => a - b).join(' ')}`
}

/** Returns whether a body is a step. The payload of a run is JSON too, but is unlikely to match. */
function isStep(body: Bytes): boolean {
  return body.startsWith('{"stepId":') || body.includes('"waitEventId"')
}

export function headerEndingIn(headers: HeaderList, end: string): string | undefined {
  const [name] = headers.find(([each]) => each.toLowerCase().endsWith(end)) ?? []
  return name === undefined ? undefined : headerOf(headers, name.toLowerCase())
}

/** Returns the steps that a request submits. */
export function stepsIn({ endpoint, body }: Pick<Submission, 'endpoint' | 'body'>): readonly Record<string, unknown>[] {
  const parsed = parsedJson(text(body))
  if (endpoint === '/v2/batch' && Array.isArray(parsed)) return parsed.map((item) => ({ ...asStep(item.body), item }))
  const step = (parsed as { step?: unknown } | undefined)?.step ?? parsed
  return typeof step === 'object' && step !== null && 'stepName' in step ? [step as Record<string, unknown>] : []
}

function asStep(body: unknown): Record<string, unknown> {
  const step = typeof body === 'string' ? parsedJson(body) : body
  return typeof step === 'object' && step !== null && 'stepName' in step ? (step as Record<string, unknown>) : {}
}

/** Returns a short description of what a request of a run submits. */
export function submitted(endpoint: string, method: string, body: Bytes): string {
  if (method === 'DELETE') return 'the end of the run'
  if (endpoint.startsWith('/v2/notify/')) return 'its event'
  const steps = stepsIn({ endpoint, body })
  const names = [...new Set(steps.map(({ stepName, item }) => stepName ?? callNamed(item)).filter(Boolean))]
  const kind = endpoint.startsWith('/v2/wait/')
    ? 'the wait'
    : steps.some(({ targetStep }) => targetStep)
      ? 'the plan of'
      : 'step'
  return names.length === 0 ? 'its submission' : `${kind} ${names.map((name) => `'${name}'`).join(', ')}`
}

/** Returns the name of a call's step, which is in the headers of the call's callback. */
function callNamed(item: unknown): string | undefined {
  const { headers = {} } = item as { headers?: Record<string, string> }
  return headerEndingIn(Object.entries(headers), 'workflow-stepname')
}
