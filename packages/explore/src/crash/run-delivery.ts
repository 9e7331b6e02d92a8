import type { Bytes } from '../../../../src/kernel/bytes.js'
import { text } from '../../../../src/kernel/bytes.js'
import type { HeaderList } from '../../../../src/kernel/http.js'
import { headerOf } from '../../../../src/kernel/http.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { Attempt } from '../../../../src/queue/message/message-entries.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import { StepMessage } from '../../../../src/workflow/run-messages.js'
import { readStep, type StepBody } from '../../../../src/workflow/step.js'

// What the code of a delivery does to others before it submits anything: the process can die between two of these.

/** One thing that code did to others. */
export interface BodyEffect {
  /** In a few words. */
  readonly what: string
  /** Whether others can see it: a reading of the data store leaves nothing behind. */
  readonly isSeen: boolean
  /** A call of a foreign host: where a fault rule finds it. */
  readonly call?: ForeignPlace
}

/** Which call of a foreign host. */
interface ForeignPlace {
  readonly method: string
  readonly url: string
  /** Calls of the same method and url before it, in the whole run. */
  readonly skip: number
  /** Which call of its delivery, 0 for the first. */
  readonly nth: number
}

/** A request by which the code of a delivery tells the queue how its run goes on. */
export interface Submission {
  readonly method: string
  /** Path below the address of the queue. */
  readonly endpoint: string
  readonly headers: HeaderList
  readonly body: Bytes
  /** Requests of the same method and path before it. */
  readonly skip: number
  /** What it submits, in a few words. */
  readonly what: string
  /** Virtual time. */
  readonly at: number
  /** A wait that an event has ended: which, and how much later it came. */
  waited?: { readonly eventId: string; readonly heldMs: number }
}

/** One delivery to the endpoint of a run, as it was in a schedule. */
export interface RunDelivery {
  /** 1 for the first of the schedule. */
  readonly ordinal: number
  /** The same in every schedule: the run, and what the delivery carries. */
  readonly key: string
  readonly runId: string
  readonly attempt: Attempt
  /** What it carries, in a few words. */
  readonly carries: string
  readonly isPlan: boolean
  /** Carries the answer of a third party, or the failure of the run, instead of the list of steps. */
  readonly isCallback: boolean
  /** Virtual time. */
  readonly at: number
  /** Milliseconds until the attempt is given up. */
  readonly timeout: number
  /** Where a fault rule finds it. */
  readonly place: { readonly point: 'queue.delivery' | 'queue.callback'; readonly skip: number }
  readonly submissions: readonly Submission[]
  /** What its code did to others beside these; of the run that nothing disturbs. */
  readonly effects: BodyEffect[]
  /** What it is about, in a few words: what it submits, or carries. */
  readonly told: string
  /** The data store before it; of the run that nothing disturbs. */
  readonly storeBefore?: StoreDump
  /** Why the SDK refused it, in its words. */
  readonly refusal?: string | undefined
}

/** What a delivery carries, by a name that is the same in every schedule. */
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
    return { key: `callback ${id} ${called}`, carries: `the answer of the call '${called}'` }
  }
  const step = readStep(message.body)
  if (step === undefined || !isStep(message.body)) return { key: 'begin', carries: 'the beginning of the run' }
  const { stepId, targetStep, stepName } = step
  if (targetStep === undefined)
    return { key: `step ${stepId} ${stepName}`, carries: `the result of '${stepName}'`, step }
  return { key: `plan ${targetStep} ${stepName}`, carries: `the branch '${stepName}'`, step }
}

/**
 * What time and chance of a delivery's work hang on: the steps that are finished when it arrives. Branches may end in
 * another order, and what follows them is then carried by another one of them.
 */
export function deliveryPointOf({ message }: Attempt, key: string): string {
  const { part } = message
  const isBranch = readStep(message.body)?.targetStep !== undefined
  if (!(part instanceof StepMessage) || part.index === 0 || isBranch) return key
  const steps = part.run.entries.slice(1, part.index + 1).map((entry) => readStep(entry.message.body))
  const finished = steps.flatMap((step) => (step === undefined || step.targetStep !== undefined ? [] : [step.stepId]))
  return `after ${finished.sort((a, b) => a - b).join(' ')}`
}

/** The payload of a run may look like a step, but hardly like this. */
function isStep(body: Bytes): boolean {
  return body.startsWith('{"stepId":') || body.includes('"waitEventId"')
}

export function headerEndingIn(headers: HeaderList, end: string): string | undefined {
  const [name] = headers.find(([each]) => each.toLowerCase().endsWith(end)) ?? []
  return name === undefined ? undefined : headerOf(headers, name.toLowerCase())
}

/** Names of the steps that a request submits. */
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

/** What a request of a run submits, in a few words. */
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

/** The step of a call stands in the headers of its callback. */
function callNamed(item: unknown): string | undefined {
  const { headers = {} } = item as { headers?: Record<string, string> }
  return headerEndingIn(Object.entries(headers), 'workflow-stepname')
}
