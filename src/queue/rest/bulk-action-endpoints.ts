import { json } from '../../protocol/call.js'
import type { LateResponse, RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { BulkAction, BulkResource } from '../bulk-actions.js'
import { type QueryValues, readAsync, readFilters } from '../message/message-filters.js'
import type { QueueEngine } from '../queue-engine.js'
import { refusals } from '../settings/queue-rejections.js'
import { found, type QueueEndpoint, queryOf, row } from './reading.js'
import { bulkActionShape } from './response-shapes.js'

/** Endpoints that read the bulk actions of messages, or of workflow runs. [queue.md 1.5] */
export function bulkActionEndpoints(resource: BulkResource, path: string): readonly QueueEndpoint[] {
  const noun = resource === 'messages' ? 'messages' : 'workflow runs'
  return [
    row('GET', path, `List the bulk actions of ${noun}, newest first.`, (call, { queue }) =>
      list(call, queue, resource),
    ),
    row('GET', `${path}/:id`, `Read a bulk action of ${noun}.`, ({ params }, { queue }) =>
      json(bulkActionShape(found(queue.bulkActions.get(resource, params.id!), 'bulk action', params.id!))),
    ),
  ]
}

const rules = { filters: [], others: ['state'], defaultCount: 100, maxCount: 1000, order: 'latestFirst' } as const

/** The state selects within a page, so a page may be short or empty although another page follows. [queue.md 1.5] */
function list(call: ServiceRequest, queue: QueueEngine, resource: BulkResource): RawResponse {
  const query = queryOf(call)
  const page = queue.bulkActions.select(resource, readFilters<BulkAction>(query, rules))
  const state = readState(query)
  const shown = page.items.filter((action) => state === undefined || action.state === state)
  return json({ bulkActions: shown.map(bulkActionShape), cursor: page.cursor })
}

function readState(query: QueryValues): string | undefined {
  const [state = ''] = query.get('state') ?? []
  if (state === '') return undefined
  if (state === 'IN_PROGRESS' || state === 'FINISHED') return state
  throw refusals.invalid('state', `${JSON.stringify(state)} is neither IN_PROGRESS nor FINISHED`)
}

/** Time for which a cancel waits for the end of its bulk action, in milliseconds. [queue.md 1.5] */
const awaitedFor = 60_000

/**
 * Cancels everything that matches the filters of a request. The response waits for the end of the bulk action, at most
 * one minute. With `async`, it does not wait and contains the ID of the action. [queue.md 1.5]
 */
export function cancelMatching(
  { cause }: ServiceRequest,
  query: QueryValues,
  { queue, resource }: { readonly queue: QueueEngine; readonly resource: BulkResource },
): RawResponse | LateResponse {
  const { cancelStatus } = queue.policy
  const isAsync = readAsync(query)
  const action = queue.bulkActions.begin(resource, query, cause)
  const { id: actionId, total: cancelled, endsAt } = action
  if (isAsync) return json({ cancelled, actionId }, cancelStatus)
  const wait = endsAt - queue.now()
  if (wait <= 0) return json({ cancelled }, cancelStatus)
  return {
    afterMs: Math.min(wait, awaitedFor),
    respond() {
      if (wait > awaitedFor) throw refusals.stillCanceling()
      return json({ cancelled }, cancelStatus)
    },
  }
}
