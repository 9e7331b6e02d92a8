import * as v from 'valibot'
import type { FaultFacts } from '../../faults/fault.js'
import { text, toBase64, utf8 } from '../../kernel/bytes.js'
import { decodeSegment, headerMap } from '../../kernel/http.js'
import { empty, json } from '../../protocol/call.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { PublishCall } from '../../queue/publisher.js'
import { batchSchema, itemCall, publishCall, requestDialect } from '../../queue/rest/publishing.js'
import { open, parsed, type QueueApi, type QueueEndpoint, row } from '../../queue/rest/reading.js'
import { type HeaderValue, joined } from '../../queue/settings/message-settings.js'
import { parseServiceDuration } from '../../queue/settings/publish-options.js'
import type { QueueDialect } from '../../queue/settings/queue-dialect.js'
import { QueueRejection, refusals } from '../../queue/settings/queue-rejections.js'
import { checkReach, checkUrl } from '../../queue/settings/url.js'
import { headerArrays, stepSchema } from '../invoke.js'
import type { TriggeredRun } from '../triggers.js'
import type { WorkflowEngine } from '../workflow-engine.js'
import { allFeatures, forwardNames } from '../workflow-protocol.js'
import type { Wait } from '../workflow-run.js'

/** Endpoints that begin runs, and endpoints that act on running runs. [workflow.md 1] */
export function runningEndpoints(workflows: WorkflowEngine): readonly QueueEndpoint[] {
  return [
    row(
      'POST',
      '/v2/trigger/**',
      'Begin a run of a workflow.',
      (call, api) => json(begunShape(prepared(publishCall(call, api), workflows)())),
      {
        limit: 'daily',
      },
    ),
    row('POST', '/v2/batch/trigger', 'Begin many runs.', (call, api) => triggerMany(call, api, workflows), {
      limit: 'daily',
    }),
    row('POST', '/v2/wait/**', 'A step of a run waits for an event.', (call) => wait(call, workflows), {
      point: 'workflow.wait',
      facts: (call) => waitFacts(call, workflows),
    }),
    row(
      'POST',
      '/v2/notify/**',
      'Send an event to the runs that wait for it, or keep it for the next wait of one run.',
      (call) => notify(call, workflows),
    ),
    row('GET', '/v2/waiters/**', 'List the steps that wait for an event.', (call) =>
      json(workflows.waits.of(decodeSegment(call.rest)).map((one) => waiterShape(one))),
    ),
    row('GET', '/v2/workflows/runs/:id', 'Read the steps of a running run, for lazy fetch.', (call) =>
      steps(call, workflows),
    ),
    row('DELETE', '/v2/workflows/runs/:id', 'End a run with its result, or cancel it.', (call) => end(call, workflows)),
    open(
      ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      '/v2/workflows/hooks/:user/:run/**',
      'Receive a webhook of a run: the request becomes an event.',
      (call) => hook(call, workflows),
    ),
  ]
}

function begunShape({ run, deduplicated }: TriggeredRun): object {
  return { workflowRunId: run.id, workflowCreatedAt: run.createdAt, ...(deduplicated && { deduplicated }) }
}

/**
 * Prepares a run that begins without an SDK, by the REST API. The SDK at the endpoint is assumed to support all
 * features until it names its features. [workflow.md 2.4]
 */
function prepared(call: PublishCall, workflows: WorkflowEngine): () => TriggeredRun {
  const url = workflows.urlOf(call.target)
  const settings = new Map(call.settings)
  const isAsked = /^true$/i.test(joined(settings.get('workflow-unknown-sdk')) ?? '')
  const given = joined(settings.get('workflow-runid'))?.trim()
  const runId = given === undefined || given === '' ? undefined : given.startsWith('wfr_') ? given : `wfr_${given}`
  workflows.checkRunId(runId, call.words)
  const read = workflows.triggers.read(call, url, withProtocol(settings, call.words))
  const trigger = { ...read, runId, features: allFeatures, byRest: true }
  workflows.triggers.check(trigger)
  return () => workflows.triggers.begin({ ...trigger, announce: workflows.triggers.announcesTo(url, isAsked) })
}

/** Adds the header with the protocol version, as an SDK does. */
function withProtocol(settings: Map<string, HeaderValue>, words: QueueDialect): Map<string, HeaderValue> {
  for (const name of forwardNames('Workflow-Sdk-Version', words)) if (!settings.has(name)) settings.set(name, '1')
  return settings
}

function triggerMany(call: ServiceRequest, api: QueueApi, workflows: WorkflowEngine): RawResponse {
  const all = parsed(call, batchSchema).map((item) => prepared(itemCall(item, call, api), workflows))
  return json(
    all.map((begin) => {
      try {
        return begunShape(begin())
      } catch (error) {
        // An earlier item of the same batch has taken the ID.
        if (error instanceof QueueRejection) return { error: error.message }
        throw error
      }
    }),
    201,
  )
}

const waitBody = v.object({
  url: v.string(),
  timeout: v.optional(v.union([v.string(), v.number()]), '7d'),
  timeoutUrl: v.optional(v.string()),
  timeoutHeaders: v.optional(headerArrays, {}),
  step: stepSchema,
})

/**
 * Returns the fields of a wait that fault rules can match. Invalid fields are ignored here. Parsing the request reports
 * them later.
 */
function waitFacts({ settings, body }: ServiceRequest, workflows: WorkflowEngine): FaultFacts {
  const runId = settings.get('workflow-runid')
  const workflow = settings.get('workflow-url') ?? (runId === undefined ? undefined : workflows.get(runId)?.url)
  const step = v.safeParse(v.pipe(v.string(), v.parseJson(), v.object({ step: stepSchema })), text(body))
  const { stepName, stepType } = step.success ? step.output.step : {}
  return { runId, workflow, step: stepName, stepType }
}

function wait(call: ServiceRequest, workflows: WorkflowEngine): RawResponse {
  const run = workflows.get(call.settings.get('workflow-runid') ?? '')
  return workflows.submitting(run, () => waiting(call, workflows))
}

function waiting(call: ServiceRequest, workflows: WorkflowEngine): RawResponse {
  const eventId = decodeSegment(call.rest)
  if (eventId === '') throw refusals.invalid('eventId', 'it is empty')
  const runId = call.settings.get('workflow-runid')
  const { url, timeout: given, timeoutUrl = url, timeoutHeaders, step } = parsed(call, waitBody)
  if (runId === undefined)
    throw refusals.invalid(requestDialect(call, workflows).header('Workflow-RunId'), 'it is missing')
  const timeout = typeof given === 'number' || /^\d+$/.test(given) ? `${given}s` : given
  const after = parseServiceDuration(timeout)
  if (after === undefined) throw refusals.invalid('timeout', `${JSON.stringify(given)} is not a duration`)
  for (const [field, target] of [
    ['url', url],
    ['timeoutUrl', timeoutUrl],
  ] as const) {
    checkUrl(target, field)
    checkReach(target, workflows.queue.policy)
  }
  workflows.events.wait(
    runId,
    { eventId, step, url, timeout, after, timeoutUrl, timeoutHeaders },
    call.cause,
    createdAt(call),
  )
  return empty()
}

/**
 * Sends an event. The path contains the event's ID, and before it the run's ID if only one run receives the event. The
 * event's ID may contain slashes. [workflow.md 7]
 */
function notify(call: ServiceRequest, workflows: WorkflowEngine): RawResponse {
  const slash = call.rest.indexOf('/')
  const first = slash < 0 ? '' : decodeSegment(call.rest.slice(0, slash))
  const isForRun = first.startsWith('wfr_') && slash < call.rest.length - 1
  const eventId = decodeSegment(isForRun ? call.rest.slice(slash + 1) : call.rest)
  if (eventId === '') throw refusals.invalid('eventId', 'it is empty')
  const told = workflows.notify(eventId, call.body, isForRun ? first : undefined, call.cause)
  return json(
    told.map(({ wait: one, message }) => ({
      waiter: waiterShape(one),
      messageId: message.id,
      workflowRunId: one.run.id,
      workflowCreatedAt: one.run.createdAt,
    })),
    201,
  )
}

/** Returns a wait in the form of the API. [queue.md 1.12] */
function waiterShape({ url, deadline, timeoutUrl, timeoutHeaders, step, eventId }: Wait): object {
  const timeoutBody = toBase64(utf8(JSON.stringify({ ...step, waitEventId: eventId, waitTimeout: true })))
  return {
    url,
    deadline: Math.floor(deadline / 1000),
    headers: timeoutHeaders,
    timeoutUrl,
    timeoutBody,
    timeoutHeaders,
  }
}

/**
 * Returns the creation time of the run that a request names. Newer SDKs send it, because several runs may have the same
 * ID. [workflow.md 3.6]
 */
function createdAt(call: ServiceRequest): string | undefined {
  return call.settings.get('workflow-createdat')
}

function steps(call: ServiceRequest, workflows: WorkflowEngine): RawResponse {
  const run = workflows.running(call.params.id!, createdAt(call))
  workflows.hide(run, call.cause)
  return { status: 200, headers: [['content-type', 'application/json']], body: run.listUpTo(run.entries.length - 1) }
}

/**
 * Ends a run. With `cancel=false`, the run succeeds and the body is its result. Otherwise, the run is canceled.
 * [workflow.md 1]
 */
function end(call: ServiceRequest, workflows: WorkflowEngine): RawResponse {
  const { id } = call.params
  const cancel = new URLSearchParams(call.query).get('cancel')
  if (cancel === 'false') workflows.completion.end(id!, call.body, call.cause, createdAt(call))
  else workflows.completion.cancel(id!, call.cause, createdAt(call))
  return empty()
}

/**
 * Handles a request to a webhook of a run. It becomes an event for this run. If the run does not wait yet, its next
 * wait receives the event. [workflow.md 8]
 */
function hook(call: ServiceRequest, workflows: WorkflowEngine): RawResponse {
  const { run: runId } = call.params
  const eventId = decodeSegment(call.rest)
  workflows.running(runId!)
  if (eventId === '') throw refusals.invalid('eventId', 'it is empty')
  const event = utf8(JSON.stringify(webhookCall(call)))
  workflows.notify(eventId, event, runId!, call.cause)
  return empty()
}

/** Returns the request as JSON. The SDK creates a `Request` from it, with the URL of the webhook. */
function webhookCall(call: ServiceRequest): object {
  const base = new URL(call.base)
  const query = call.query === '' ? '' : `?${call.query}`
  const path = base.pathname.replace(/\/$/, '') + call.path
  return {
    method: call.method,
    header: headerMap(call.headers),
    body: toBase64(call.body),
    proto: base.protocol.slice(0, -1),
    host: base.host,
    url: path + query,
  }
}
