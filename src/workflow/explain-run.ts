import { text } from '../kernel/bytes.js'
import { parsedJson } from '../kernel/parsed-json.js'
import { explain } from '../queue/explain/explain.js'
import { timeText } from '../queue/explain/time-text.js'
import type { Message } from '../queue/message/message.js'
import type { QueueEngine } from '../queue/queue-engine.js'
import { shownText, shownUrl } from '../secrets/urls.js'
import { StepMessage } from './run-messages.js'
import type { WorkflowEngine } from './workflow-engine.js'
import type { StoredReply, WorkflowRunState } from './workflow-run.js'

/** Explains why a run is in its current state, and what you can do about it. */
export function explainRun(run: WorkflowRunState, { queue }: WorkflowEngine): string {
  const { id, url, createdAt: time, isStarted, waits, failureFunction } = run
  const open = [...queue.courier.byId.values()]
    .filter(({ part, isEnded: ended }) => !ended && part?.runId === id)
    .flatMap((message) => [explain(queue, message.id), ...lastFailure(run, message, queue)])
  const waiting = [...(waits ?? [])].map(
    ({ step, eventId, deadline }) =>
      `Step ${JSON.stringify(step.stepName)} waits for event ${JSON.stringify(eventId)} until ${timeText(deadline)}.`,
  )
  const begun = `Workflow run ${id} of ${shownUrl(url)} began at ${timeText(time)} (${sizeText(run, queue)})`
  if (!isStarted) {
    const told = failureFunction === undefined ? [] : [explain(queue, failureFunction.id)]
    return [`${begun} and ${end(run)}.`, ...told].join(' ')
  }
  const why = [...waiting, ...invoked(run), ...open]
  return [`${begun} and is still running.`, ...(why.length === 0 ? [stuck(run)] : why)].join(' ')
}

/** Compares the size of a run with the limits of a run. */
function sizeText({ finishedSteps, contextBytes }: WorkflowRunState, { policy }: QueueEngine): string {
  const { workflowMaxSteps: steps, workflowMaxContext: bytes } = policy
  const ofLimit = (count: number, limit: number | undefined): string =>
    limit === undefined ? count.toLocaleString('en') : `${count.toLocaleString('en')} of ${limit.toLocaleString('en')}`
  return `${ofLimit(finishedSteps, steps)} steps, ${ofLimit(contextBytes, bytes)} bytes of context`
}

function end(run: WorkflowRunState): string {
  const { state, completedAt, failure, exceeded } = run
  const at = completedAt === undefined ? '' : ` at ${timeText(completedAt)}`
  if (state === 'RUN_SUCCESS') return `succeeded${at}`
  if (state === 'RUN_CANCELED') return `was canceled${at}`
  if (failure === undefined) return `failed${at}`
  // The service itself responded to a delivery beyond a limit, not the endpoint.
  if (exceeded !== undefined && failure.message.part instanceof StepMessage && failure.message.part.overflows)
    return `failed${at}: ${exceeded.replace(/\.$/, '')} (dead letter ${failure.dlqId})`
  return `failed${at}: ${answered(run, failure.message, failure)} (dead letter ${failure.dlqId})`
}

/** Returns a message about the last failed attempt, if the message waits for a retry. */
function lastFailure(run: WorkflowRunState, message: Message, { courier }: QueueEngine): string[] {
  if (message.running) return []
  const { error, response } = courier.log.about(message).findLast(({ state }) => state === 'ERROR')?.detail ?? {}
  return response === undefined ? [] : [`At its last attempt ${answered(run, message, { ...response, error })}.`]
}

/** Returns the result of an attempt as text, such as `https://app.test/run responded 500 "out of stock"`. */
function answered(run: WorkflowRunState, message: Message, { status, error, body }: StoredReply): string {
  const what =
    status === 0 ? `did not respond${error === undefined ? '' : `: ${shownText(error)}`}` : `responded ${status}`
  const isHidden = [run.configuration.settings, message.settings].some(({ redact }) => redact?.body === true)
  return `${shownUrl(message.url)} ${what}${bodyText(text(body), isHidden)}`
}

const maxBody = 300
/** Matches invisible characters that JSON does not escape, such as direction marks and line separators. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu

/**
 * Returns the body of a response as text. If the SDK created the body for an error, returns only the message of the
 * error.
 */
function bodyText(body: string, isHidden: boolean): string {
  if (body === '') return ''
  if (isHidden) return ' (its publisher redacts the body)'
  const error = parsedJson(body) as { message?: unknown } | null | undefined
  const told = shownText(typeof error?.message === 'string' ? error.message : body)
  const shown = JSON.stringify(told.length > maxBody ? `${told.slice(0, maxBody)}…` : told)
  return ` ${shown.replace(unprintable, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)}`
}

/** Returns one message per step that waits for the end of a run that it invoked. */
function invoked({ steps }: WorkflowRunState): string[] {
  return steps
    .filter(({ invoked: other, result }) => other?.isStarted === true && result === undefined)
    .map(({ stepName, invoked: other }) => `Step ${JSON.stringify(stepName)} waits for the end of run ${other!.id}.`)
}

function stuck({ entries, refused }: WorkflowRunState): string {
  if (refused !== undefined) return `No further delivery is planned: ${refusal(refused)}`
  const vanished = entries.some(({ message: { delivery } }) => delivery.is === 'ended' && delivery.as === 'vanished')
  return vanished
    ? 'A fault dropped one of its deliveries, so no further delivery is planned.'
    : 'No further delivery is planned: the endpoint responded to the last delivery without submitting a step. See the response in the traffic log.'
}

/**
 * Returns a message about a submission that the queue rejected. The SDK takes the rejection for a cancellation of the
 * run, although the run was not canceled. [workflow.md 5]
 */
export function refusal(why: string): string {
  return `the queue rejected what the last delivery of the run submitted: ${why.replace(/\.$/, '')}.`
}
