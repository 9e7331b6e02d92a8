import { type Bytes, fromBase64, utf8 } from '../kernel/bytes.js'
import { headerMap } from '../kernel/http.js'
import type { Message } from '../queue/message/message.js'
import { redactedBody, redactedHeaders } from '../queue/settings/redacted-fields.js'
import type { RunEntry } from './run-list.js'
import { respondedIn } from './workflow-protocol.js'
import type { StepRecord, WorkflowRunState } from './workflow-run.js'

type Shape = Record<string, unknown>

/** Functions that the log of a run calls to read the run's messages. */
export interface LogView {
  readonly now: number
  /** Returns the failed attempts of a message, oldest first. */
  readonly errors: (message: Message) => readonly Shape[]
  /**
   * Returns a body as text, shortened to `trimBody` characters. Returns `undefined` if the log must not contain bodies.
   */
  readonly shown: (body: Bytes) => string | undefined
}

/** Returns a run in the form of `GET /v2/workflows/logs`. `JSON.stringify` omits undefined fields. [workflow.md 10] */
export function runShape(run: WorkflowRunState, view: LogView): Shape {
  const { labels, invoker, result, failure } = run
  return {
    workflowRunId: run.id,
    workflowUrl: run.url,
    workflowState: run.state,
    workflowRunCreatedAt: run.createdAt,
    workflowRunCompletedAt: run.completedAt,
    workflowRunCallerIp: run.callerIp,
    steps: groupsOf(run, view),
    workflowRunResponse: result === undefined || result === '' ? undefined : ofRun(run, result, view.shown),
    invoker: invoker && {
      workflowRunId: invoker.runId,
      workflowUrl: invoker.url,
      workflowRunCreatedAt: invoker.createdAt,
    },
    failureFunction: failureFunctionShape(run, view),
    dlqId: failure?.dlqId,
    label: labels?.join(','),
    labels,
    flowControlKey: run.configuration.settings.flowControl?.key,
  }
}

function groupsOf(run: WorkflowRunState, view: LogView): Shape[] {
  const groups: Shape[] = [{ type: 'sequential', steps: [initShape(run, view)] }]
  const { steps } = run
  const attempted = nextOf(run)
  for (let at = 0; at < steps.length; ) {
    const { concurrent } = steps[at]!
    const group = steps.slice(at, at + Math.max(1, concurrent))
    at += group.length
    const type = concurrent > 1 ? 'parallel' : 'sequential'
    groups.push({ type, steps: group.map((record) => stepShape(run, record, attempted, view)) })
  }
  const next = attempted && nextShape(run, attempted, view)
  return next === undefined ? groups : [...groups, { type: 'next', steps: [next] }]
}

function initShape({ entries, createdAt: time, configuration }: WorkflowRunState, { shown }: LogView): Shape {
  const first = entries[0]?.message
  return {
    stepName: 'init',
    stepType: 'Initial',
    callType: 'step',
    messageId: first?.id,
    out: first && shownBody(first, shown),
    concurrent: 1,
    state: 'STEP_SUCCESS',
    createdAt: time,
    retries: configuration.settings.retries,
    retryDelay: configuration.settings.retryDelay?.text,
    headers: first && headerMap(redactedHeaders(first.headers, first.settings.redact)),
  }
}

function shownBody({ body, settings }: Message, shown: LogView['shown']): string | undefined {
  return redactedBody(body, settings.redact) ?? (body === '' ? undefined : shown(body))
}

function stepShape(run: WorkflowRunState, record: StepRecord, attempted: Message | undefined, view: LogView): Shape {
  const { message, result, plan } = record
  const state = stateOf(run, record, view.now)
  const errors = message === undefined || message === attempted ? [] : view.errors(message)
  const sleep = result ?? plan
  const waiting =
    message !== undefined && !message.isEnded && message.notBefore > view.now ? message.notBefore : undefined
  return {
    stepId: record.stepId,
    stepName: record.stepName,
    stepType: record.stepType,
    callType: 'step',
    messageId: message?.id,
    out: outOf(record, view),
    retries: message?.maxRetries ?? run.configuration.settings.retries,
    retryDelay: message?.settings.retryDelay?.text,
    concurrent: record.concurrent,
    state,
    createdAt: record.createdAt,
    headers: message && headerMap(redactedHeaders(message.headers, message.settings.redact)),
    nextDeliveryTime: waiting,
    sleepFor: sleep?.sleepFor,
    sleepUntil: sleep?.sleepUntil,
    ...(errors.length > 0 && { errors }),
    ...callShape(run, record, view),
    ...waitShape(record),
    ...invokeShape(record, view),
  }
}

/** Returns the result of a step of any type as text. */
function outOf({ result, message }: StepRecord, { shown }: LogView): string | undefined {
  const out = result?.out
  if (out === undefined || message === undefined) return undefined
  if (message.settings.redact?.body === true) return shownBody(message, shown)
  const isEvent = result?.waitEventId !== undefined && typeof out === 'string'
  return shown(isEvent ? (fromBase64(out) ?? ('' as Bytes)) : utf8(typeof out === 'string' ? out : JSON.stringify(out)))
}

function stateOf(run: WorkflowRunState, { result, message, plan }: StepRecord, now: number): string {
  const isAsleep = message !== undefined && !message.isEnded && message.notBefore > now
  if (result !== undefined && !isAsleep) return 'STEP_SUCCESS'
  if (message?.state === 'FAILED') return 'STEP_FAILED'
  if (run.state === 'RUN_CANCELED' || run.state === 'RUN_FAILED') return 'STEP_CANCELED'
  return plan !== undefined && message !== undefined && message.retried > 0 ? 'STEP_RETRY' : 'STEP_PROGRESS'
}

/**
 * Returns a text that does not come from a message, such as the result of the run. The redaction of the run's trigger
 * applies to it.
 */
function ofRun({ configuration }: WorkflowRunState, body: Bytes, shown: LogView['shown']): string | undefined {
  return redactedBody(body, configuration.settings.redact) ?? shown(body)
}

function callShape(run: WorkflowRunState, { call }: StepRecord, { shown }: LogView): Shape {
  if (call === undefined) return {}
  const { message, reply } = call
  const { redact } = message.settings
  return {
    callUrl: message.url,
    callMethod: message.method,
    callHeaders: headerMap(redactedHeaders(message.headers, redact)),
    callBody: shownBody(message, shown),
    callResponseStatus: reply?.status,
    callResponseBody: reply && ofRun(run, reply.body, shown),
    callResponseHeaders: reply && headerMap(redactedHeaders(reply.headers, run.configuration.settings.redact)),
  }
}

function waitShape({ wait, result }: StepRecord): Shape {
  if (wait === undefined) return {}
  return {
    waitEventId: wait.eventId,
    waitTimeoutDuration: wait.timeout,
    waitTimeoutDeadline: wait.deadline,
    waitTimeout: result?.waitTimeout === true,
  }
}

function invokeShape({ invoked }: StepRecord, { shown }: LogView): Shape {
  if (invoked === undefined) return {}
  const first = invoked.entries[0]?.message
  return {
    invokedWorkflowRunId: invoked.id,
    invokedWorkflowUrl: invoked.url,
    invokedWorkflowCreatedAt: invoked.createdAt,
    invokedWorkflowRunBody: first && shownBody(first, shown),
    invokedWorkflowRunHeaders: first && headerMap(redactedHeaders(first.headers, first.settings.redact)),
  }
}

/**
 * Returns the message at which the run is: the last message that has not been delivered. If the run failed, it is the
 * message that failed. Plans are excluded.
 */
function nextOf({ entries, steps }: WorkflowRunState): Message | undefined {
  const isNext = ({ callType, message }: RunEntry): boolean => callType !== 'toCallback' && !hasDelivered(message)
  const open = entries.findLast(isNext)?.message
  return open === undefined || steps.some(({ planMessage }) => planMessage === open) ? undefined : open
}

function hasDelivered({ state }: Message): boolean {
  return state === 'DELIVERED'
}

function nextShape(run: WorkflowRunState, message: Message, view: LogView): Shape | undefined {
  if (run.isStarted && message.notBefore > view.now) return undefined
  const errors = view.errors(message)
  const last = run.failure?.message === message ? run.failure : undefined
  return {
    messageId: message.id,
    stepName: last && respondedIn(last.headers, message, ({ errorStepName }) => errorStepName),
    state: nextState(run, message),
    retries: message.maxRetries,
    retryDelay: message.settings.retryDelay?.text,
    ...(errors.length > 0 && { errors }),
  }
}

function nextState({ isStarted }: WorkflowRunState, message: Message): string {
  if (message.state === 'FAILED') return 'STEP_FAILED'
  if (!isStarted) return 'STEP_CANCELED'
  return message.retried > 0 ? 'STEP_RETRY' : 'STEP_PROGRESS'
}

/** State of a failure function, in the spelling of the service. [workflow.md 10] */
export type FailureFunctionState = 'CALLBACK_INPROGRESS' | 'CALLBACK_SUCCESS' | 'CALLBACK_FAIL' | 'CALLBACK_CANCELED'

/**
 * Returns the state of the failure function of a run. Returns `undefined` if it was not called, or if the endpoint has
 * no failure function.
 */
export function failureFunctionState({
  failureFunction,
  failureReply,
}: WorkflowRunState): FailureFunctionState | undefined {
  if (failureFunction === undefined) return undefined
  const notFound = failureReply && respondedIn(failureReply.headers, failureFunction, (words) => words.failureNotFound)
  if (notFound !== undefined) return undefined
  const { state } = failureFunction
  if (state === 'DELIVERED') return 'CALLBACK_SUCCESS'
  if (state === 'FAILED') return 'CALLBACK_FAIL'
  return state === 'CANCELLED' || state === 'CANCEL_REQUESTED' ? 'CALLBACK_CANCELED' : 'CALLBACK_INPROGRESS'
}

function failureFunctionShape(run: WorkflowRunState, view: LogView): Shape | undefined {
  const { failureFunction: message, failureReply: reply, failure } = run
  const state = failureFunctionState(run)
  if (message === undefined || failure === undefined || state === undefined) return undefined
  const errors = view.errors(message)
  return {
    messageId: message.id,
    url: message.url,
    state,
    failHeaders: headerMap(failure.headers),
    failStatus: failure.status,
    failResponse: view.shown(failure.body),
    dlqId: failure.dlqId,
    ...(errors.length > 0 && { errors }),
    responseBody: reply && view.shown(reply.body),
    responseHeaders: reply && headerMap(reply.headers),
    responseStatus: reply?.status,
    maxRetries: message.maxRetries,
  }
}

/** A line of the flat log. [workflow.md 10] */
export interface EventShape extends Shape {
  readonly time: number
  readonly state: string
}

export function eventsOf(run: WorkflowRunState): EventShape[] {
  const common = { workflowRunId: run.id, workflowUrl: run.url, workflowCreatedAt: run.createdAt }
  const events: EventShape[] = [
    { ...common, time: run.createdAt, state: 'RUN_STARTED', messageId: run.entries[0]?.message.id },
  ]
  for (const record of run.steps) {
    const { stepId, stepName, stepType, concurrent, createdAt, message, result, wait, invoked } = record
    const stepInfo = { stepId, stepName, stepType, callType: 'step', concurrent }
    const messageId = message?.id
    if (wait !== undefined) events.push({ ...common, time: createdAt, state: 'WAITER_ADDED', messageId, stepInfo })
    if (invoked !== undefined) events.push({ ...common, time: createdAt, state: 'INVOKED', messageId, stepInfo })
    if (result !== undefined && message !== undefined)
      events.push({ ...common, time: message.createdAt, state: 'STEP_SUCCESS', messageId, stepInfo })
  }
  if (run.completedAt !== undefined) events.push({ ...common, time: run.completedAt, state: run.state })
  return events
}
