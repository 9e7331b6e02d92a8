import { type Bytes, text } from '../../kernel/bytes.js'
import { headerMap } from '../../kernel/http.js'
import { cursorSequence, type RecordQuery } from '../../kernel/indexed-records.js'
import { json } from '../../protocol/call.js'
import type { LateResponse, RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { Message } from '../../queue/message/message.js'
import { readAsync, readTrimBody } from '../../queue/message/message-filters.js'
import { bulkActionEndpoints, cancelMatching } from '../../queue/rest/bulk-action-endpoints.js'
import { type QueueEndpoint, queryAndBody, queryOf, row } from '../../queue/rest/reading.js'
import { refusals } from '../../queue/settings/queue-rejections.js'
import { readRunFilters } from '../run-filters.js'
import { eventsOf, type LogView, runShape } from '../run-log.js'
import type { WorkflowEngine } from '../workflow-engine.js'
import type { WorkflowRunState } from '../workflow-run.js'

/** Maximum number of runs per page. [workflow.md 10] */
const runsOfPage = 10
/** Maximum number of lines per page of the flat log. [queue.md 1.12] */
const eventsOfPage = 1000

/**
 * Endpoints that read runs, and the endpoint that cancels many runs, which has the same filters. [workflow.md 1, 10]
 */
export function logEndpoints(workflows: WorkflowEngine): readonly QueueEndpoint[] {
  return [
    row('GET', '/v2/workflows/events', 'The log of runs, grouped by run or flat.', (call) =>
      queryOf(call).get('groupBy')?.[0] === 'workflowRunId' ? runs(call, workflows) : events(call, workflows),
    ),
    row('GET', '/v2/workflows/logs', 'The log of runs.', (call) => runs(call, workflows)),
    row('GET', '/v2/workflows/messageLogs', 'The flat log of runs under its older name.', (call) =>
      events(call, workflows),
    ),
    row('DELETE', '/v2/workflows/runs', 'Cancel many runs, by ids or filters.', (call) => cancelMany(call, workflows)),
    ...bulkActionEndpoints('runs', '/v2/workflows/bulkActions'),
  ]
}

const others = ['groupBy', 'trimBody', 'workflowRuns']

function runs(call: ServiceRequest, workflows: WorkflowEngine): RawResponse {
  const query = queryOf(call)
  const page = workflows.records.select(selectionOf(query))
  const view = viewOf(workflows, readTrimBody(query))
  return json({ cursor: page.cursor ?? '', runs: page.items.map((run) => runShape(run, view)) })
}

/**
 * Returns the query for the log. If the parameter `workflowRuns=ID@TS,ID@TS` is set, all other filters are ignored.
 * [queue.md 1.12]
 */
function selectionOf(query: ReadonlyMap<string, readonly string[]>): RecordQuery<WorkflowRunState> {
  const named = query.get('workflowRuns')?.flatMap((value) => value.split(','))
  if (named !== undefined) {
    const wanted = new Map(named.map((one) => [one.replace(/@\d*$/, ''), /@(\d+)$/.exec(one)?.[1]]))
    const only = ({ id, createdAt: time }: WorkflowRunState): boolean =>
      (wanted.get(id) ?? String(time)) === String(time)
    const filters = new Map([['workflowRunId', new Set(wanted.keys())]])
    return { filters, order: 'latestFirst', count: wanted.size, only }
  }
  const rules = { defaultCount: runsOfPage, maxCount: runsOfPage, order: 'latestFirst' as const, others }
  return readRunFilters(query, rules, false)
}

/** Returns the functions with which the log of a run reads the run's messages. */
function viewOf(workflows: WorkflowEngine, trim: number | undefined): LogView {
  const { queue } = workflows
  return {
    now: workflows.now(),
    errors: (message: Message) =>
      queue.log.about(message).flatMap(({ state, createdAt: time, detail }) => {
        if (state !== 'ERROR') return []
        const { response } = detail ?? {}
        return [
          {
            error: detail?.error,
            body: response && text(response.body),
            headers: response && headerMap(response.headers),
            status: response?.status ?? 0,
            time,
          },
        ]
      }),
    shown: (body) => (trim === undefined ? text(body) : trim < 0 ? undefined : text(body.slice(0, trim) as Bytes)),
  }
}

/**
 * Returns one page of the flat log, the latest line first. Filters select runs, but the page size is a number of lines.
 */
function events(call: ServiceRequest, workflows: WorkflowEngine): RawResponse {
  const query = new Map(queryOf(call))
  const [state, after] = [query.get('state'), cursorOf(query)]
  query.delete('state')
  query.delete('cursor')
  const rules = { defaultCount: eventsOfPage, maxCount: eventsOfPage, order: 'latestFirst' as const, others }
  const { count = eventsOfPage, ...selection } = readRunFilters(query, rules, false)
  const states = state?.flatMap((value) => value.split(','))
  const lines = workflows.records
    .select(selection)
    .items.flatMap((run) => eventsOf(run).reverse())
    .filter((line) => states === undefined || states.includes(line.state))
    .sort((one, other) => other.time - one.time)
  const shown = lines.slice(after, after + count)
  const last = shown.at(-1)
  const cursor = after + count < lines.length ? `${last!.time}-${after + count}` : ''
  return json({ cursor, events: shown })
}

/**
 * Parses the cursor. Returns the number of lines on all earlier pages, which the cursor contains.
 * @throws Refusal 400
 */
function cursorOf(query: ReadonlyMap<string, readonly string[]>): number {
  const given = query.get('cursor')?.[0]
  if (given === undefined || given === '') return 0
  const sequence = cursorSequence(given)
  if (sequence === undefined) throw refusals.invalid('cursor', `${JSON.stringify(given)} is not a cursor`)
  return sequence
}

/**
 * Cancels runs by IDs, or everything that matches the filters as a bulk action. Unknown IDs and ended runs do not
 * count. [workflow.md 1]
 */
function cancelMany(call: ServiceRequest, workflows: WorkflowEngine): RawResponse | LateResponse {
  const query = queryAndBody(call)
  const { queue } = workflows
  const ids = query.get('workflowRunIds')
  if (ids === undefined) return cancelMatching(call, query, { queue, resource: 'runs' })
  readAsync(query)
  const found = ids.flatMap((value) => value.split(',')).flatMap((id) => workflows.get(id.trim()) ?? [])
  // The same ID twice is one run.
  const open = [...new Set(found)].filter((run) => run.isStarted)
  for (const run of open) if (run.isStarted) workflows.completion.cancel(run.id, call.cause)
  return json({ cancelled: open.length }, queue.policy.cancelStatus)
}
