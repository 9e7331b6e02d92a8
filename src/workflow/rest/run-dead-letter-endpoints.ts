import { empty, json } from '../../protocol/call.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { DeadLetter } from '../../queue/delivery/callbacks-and-dead-letters.js'
import { deadLetterEndpoints, dlqSelection } from '../../queue/rest/dead-letter-endpoints.js'
import { requestDialect, settingsIn } from '../../queue/rest/publishing.js'
import { found, type QueueApi, type QueueEndpoint, queryAndBody, row } from '../../queue/rest/reading.js'
import { refusals } from '../../queue/settings/queue-rejections.js'
import { failureFunctionState } from '../run-log.js'
import { runOf } from '../run-messages.js'
import type { WorkflowEngine } from '../workflow-engine.js'
import type { WorkflowRunState } from '../workflow-run.js'

/** Maximum number of runs that one request can resume or restart. [workflow.md 1] */
const atOnce = 50

/**
 * Endpoints for dead letters of runs. They are the queue's endpoints for dead letters, and endpoints to resume a run,
 * restart it, or call its failure function again. [workflow.md 1, 11]
 */
export function runDeadLetterEndpoints(workflows: WorkflowEngine): readonly QueueEndpoint[] {
  const again = (verb: 'resume' | 'restart', summary: string): QueueEndpoint[] => [
    row('POST', `/v2/workflows/dlq/${verb}`, `${summary}, by ids or filters.`, (call, api) =>
      many(call, api, workflows, verb),
    ),
    row('POST', `/v2/workflows/dlq/${verb}/:id`, `${summary}.`, (call) =>
      json(shape(runAgain(workflows, letterOf(call, workflows), call, verb))),
    ),
  ]
  return [
    ...deadLetterEndpoints
      .filter(({ method }) => method !== 'POST')
      .map(({ method, path, run }) =>
        row(
          method,
          path.replace('/v2/dlq', '/v2/workflows/dlq'),
          nameOf(String(method), path),
          (call, api) => run(onlyRuns(call), api) as RawResponse,
        ),
      ),
    ...again('resume', 'Continue failed runs from where they failed'),
    ...again('restart', 'Restart failed runs from the beginning'),
    row('POST', '/v2/workflows/dlq/callback/:id', 'Call a failure function again after it has failed.', (call) => {
      const letter = letterOf(call, workflows)
      const run = failedRun(letter)
      if (failureFunctionState(run) !== 'CALLBACK_FAIL')
        throw refusals.invalid('dlqId', 'its failure function has not failed')
      workflows.retryFailureFunction(run, call.cause)
      return json(shape(run))
    }),
    row('DELETE', '/v2/workflows/dlq/callback/:id', 'Cancel a failure function.', (call) => {
      const run = failedRun(letterOf(call, workflows))
      if (failureFunctionState(run) !== 'CALLBACK_INPROGRESS')
        throw refusals.invalid('dlqId', 'its failure function is not in progress')
      workflows.queue.courier.cancel(run.failureFunction!)
      return empty(302)
    }),
  ]
}

function nameOf(method: string, path: string): string {
  const one = path.endsWith(':id')
  if (method === 'GET') return one ? 'Read the dead letter of a run.' : 'List the dead letters of runs.'
  return one ? 'Delete the dead letter of a run.' : 'Delete many dead letters of runs, by ids or filters.'
}

/** Returns the request with an additional filter, which selects only dead letters of runs. */
function onlyRuns(call: ServiceRequest): ServiceRequest {
  const query = call.query === '' ? 'source=workflow' : `${call.query}&source=workflow`
  return Object.create(call, { query: { value: query } }) as ServiceRequest
}

function letterOf(call: ServiceRequest, { queue }: WorkflowEngine): DeadLetter {
  const { id } = call.params
  return found(queue.courier.deadLetters.get(id!), 'dlq message', id!)
}

/**
 * Returns the run of a dead letter. The run stays available even after its log has expired.
 * @throws Refusal 400 when the dead letter belongs to no run
 */
function failedRun(letter: DeadLetter): WorkflowRunState {
  const run = runOf(letter.message)
  if (run?.failure === undefined) throw refusals.invalid('dlqId', `${letter.id} is not the dead letter of a failed run`)
  return run
}

function runAgain(
  workflows: WorkflowEngine,
  letter: DeadLetter,
  call: ServiceRequest,
  verb: 'resume' | 'restart',
): WorkflowRunState {
  const run = failedRun(letter)
  const begun = workflows.restarts.run(
    run,
    settingsIn(call),
    requestDialect(call, workflows),
    verb === 'resume',
    call.cause,
  )
  workflows.queue.courier.deadLetters.delete(letter)
  return begun
}

function many(call: ServiceRequest, api: QueueApi, workflows: WorkflowEngine, verb: 'resume' | 'restart'): RawResponse {
  const query = new Map(queryAndBody(call))
  query.set('source', ['workflow'])
  const { items, cursor } = api.queue.courier.deadLetters.select(dlqSelection(query, api.queue, atOnce))
  const ids = query.get('dlqIds') ?? []
  if (items.length === 0 && ids.length > 0) throw refusals.notFound('dlq message', ids.join(','))
  const workflowRuns = items.map((letter) => shape(runAgain(workflows, letter, call, verb)))
  return json({ cursor: cursor ?? '', workflowRuns })
}

function shape({ id, createdAt: time }: WorkflowRunState): object {
  return { workflowRunId: id, workflowCreatedAt: time }
}
