import type { Bytes } from '../../../../src/kernel/bytes.js'
import { text } from '../../../../src/kernel/bytes.js'
import type { HeaderList } from '../../../../src/kernel/http.js'
import { headerOf } from '../../../../src/kernel/http.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { Attempt } from '../../../../src/queue/message/message-entries.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import { stepMessageOf } from '../../../../src/workflow/run-messages.js'
import { readStep, type StepBody } from '../../../../src/workflow/step.js'

// Deliveries of a workflow run, with the effects and submissions of the code that handles them. In a crash plan, the
// process can die between any two effects or submissions.

/** One effect of the code that handles a delivery. */
export interface BodyEffect {
  /** Short description. */
  readonly what: string
  /** Whether other systems can see the effect. They cannot see a read of the data store. */
  readonly isSeen: boolean
  /** Only for an outbound request: the values by which a fault rule can match the request. */
  readonly call?: ForeignPlace
}

/** Values by which a fault rule can match one outbound request. */
interface ForeignPlace {
  readonly method: string
  readonly url: string
  /** Number of earlier requests with the same method and URL, which a fault rule must skip. */
  readonly skip: number
  /** Index of the request among the outbound requests of its delivery, from 0. */
  readonly nth: number
}

/** Request to the queue by which the SDK submits a result of the workflow run. */
export interface Submission {
  readonly method: string
  /** Path below the base URL of the queue. */
  readonly endpoint: string
  readonly headers: HeaderList
  readonly body: Bytes
  /** Number of earlier requests with the same method and path. */
  readonly skip: number
  readonly what: string
  /** Virtual time of the submission, in milliseconds since the Unix epoch. */
  readonly at: number
  /**
   * Only for a wait that ended because the event arrived: the ID of the event, and the milliseconds from the submission
   * to the event.
   */
  waited?: { readonly eventId: string; readonly heldMs: number }
}

/** One delivery of a workflow run to its endpoint. */
export interface RunDelivery {
  /** Number of the delivery, from 1, counted over all workflow runs of the sandbox. */
  readonly ordinal: number
  /**
   * Key of the delivery, derived from its workflow run and the step that it carries. It is the same in every crash
   * plan.
   */
  readonly key: string
  readonly runId: string
  readonly attempt: Attempt
  readonly carries: string
  readonly isPlan: boolean
  /**
   * Whether the delivery is a callback. A callback carries the response of an external host or the failure of the
   * workflow run, but no list of steps.
   */
  readonly isCallback: boolean
  /** Virtual time at which the delivery begins, in milliseconds since the Unix epoch. */
  readonly at: number
  /** Milliseconds until the attempt times out. */
  readonly timeout: number
  /**
   * Fault rule that affects only this delivery: its injection point, and the number of earlier deliveries that it
   * skips.
   */
  readonly place: { readonly point: 'queue.delivery' | 'queue.callback'; readonly skip: number }
  readonly submissions: readonly Submission[]
  /** Effects of the code, without submissions. Recorded only in the run without disruptions. */
  readonly effects: BodyEffect[]
  /**
   * Short description of the last submission. If there is no submission, it describes the step that the delivery
   * carries.
   */
  readonly told: string
  /** Contents of the data store before the delivery. Recorded only in the run without disruptions. */
  readonly storesBefore?: readonly StoreDump[]
  /** Error message of the SDK, if the SDK rejected the delivery. */
  readonly refusal?: string | undefined
}

/** Returns a description of the step that a delivery carries, and the key of the delivery. */
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
  const configured = settingsAskedIn(message.body)
  if (configured !== undefined && isSettingsRequest(message))
    return { key: `settings ${configured}`, carries: `the settings of step ${configured}` }
  const step = readStep(message.body)
  if (step === undefined || !isStep(message.body)) return { key: 'begin', carries: 'the beginning of the run' }
  const { stepId, targetStep, stepName } = step
  if (targetStep === undefined)
    return { key: `step ${stepId} ${stepName}`, carries: `the result of '${stepName}'`, step }
  return { key: `plan ${targetStep} ${stepName}`, carries: `the branch '${stepName}'`, step }
}

/**
 * Returns the key from which the time and the random numbers of a delivery are derived. It contains the IDs of the
 * finished steps. The key of the delivery itself can differ between runs: if branches end in another order, another
 * delivery contains the same steps.
 */
export function deliveryPointOf({ message }: Attempt, key: string): string {
  const part = stepMessageOf(message)
  const isBranch = readStep(message.body)?.targetStep !== undefined
  if (part === undefined || part.index === 0 || isBranch) return key
  const steps = part.run.entries.slice(1, part.index + 1).map((entry) => readStep(entry.message.body))
  const finished = steps.flatMap((step) => (step === undefined || step.targetStep !== undefined ? [] : [step.stepId]))
  return `after ${finished.sort((a, b) => a - b).join(' ')}`
}

/** Returns whether a message delivers a request for settings of a step. A payload could look like such a request. */
function isSettingsRequest(message: Attempt['message']): boolean {
  const part = stepMessageOf(message)
  return part?.run.entries[part.index]?.callType === 'stepConfig'
}

/** Returns the number of the step for which a body requests settings. Returns `undefined` for other bodies. */
function settingsAskedIn(body: Bytes): number | undefined {
  const { stepName, targetStep } = (parsedJson(text(body)) ?? {}) as { stepName?: unknown; targetStep?: unknown }
  return stepName === undefined && typeof targetStep === 'number' ? targetStep : undefined
}

/** Returns whether a body is a step. A payload is JSON too, but is unlikely to begin like a step. */
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

/** Returns a short description of a submission. */
export function submitted(endpoint: string, method: string, body: Bytes): string {
  if (method === 'DELETE') return 'the end of the run'
  if (endpoint.startsWith('/v2/notify/')) return 'its event'
  const configured = endpoint.startsWith('/v2/publish/') ? settingsAskedIn(body) : undefined
  if (configured !== undefined) return `the request for settings of step ${configured}`
  const steps = stepsIn({ endpoint, body })
  const names = [...new Set(steps.map(({ stepName, item }) => stepName ?? callNamed(item)).filter(Boolean))]
  const kind = endpoint.startsWith('/v2/wait/')
    ? 'the wait'
    : steps.some(({ targetStep }) => targetStep)
      ? 'the plan of'
      : 'step'
  return names.length === 0 ? 'its submission' : `${kind} ${names.map((name) => `'${name}'`).join(', ')}`
}

/** Returns the name of the step that submits a call. The call contains the name in a header for its callback. */
function callNamed(item: unknown): string | undefined {
  const { headers = {} } = item as { headers?: Record<string, string> }
  return headerEndingIn(Object.entries(headers), 'workflow-stepname')
}
