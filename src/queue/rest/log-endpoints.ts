import { json } from '../../protocol/call.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { LogEntry } from '../message/message.js'
import { logFilters, readFilters, readTrimBody } from '../message/message-filters.js'
import { refusals } from '../settings/queue-rejections.js'
import { type QueueApi, type QueueEndpoint, queryOf, row } from './reading.js'
import { logShape } from './response-shapes.js'

/** Endpoints of the message log. [queue.md 1.10] */
export const logEndpoints: readonly QueueEndpoint[] = [
  row('GET', '/v2/events', 'Read the message log, newest first.', (call, api) =>
    logs(call, api, (events, cursor) => ({ events, cursor })),
  ),
  row('GET', '/v2/logs', 'Read the message log (newer path).', (call, api) =>
    logs(call, api, (events, cursor) => ({ logs: events, events, cursor })),
  ),
]

const inProgress = ['ACTIVE', 'RETRY', 'ERROR']
const states = ['CREATED', ...inProgress, 'DELIVERED', 'FAILED', 'CANCEL_REQUESTED', 'CANCELLED']

function logs(
  call: ServiceRequest,
  api: QueueApi,
  shape: (entries: readonly object[], cursor: string | undefined) => object,
): RawResponse {
  const { queue } = api
  const query = new Map(queryOf(call))
  const wantedStates = query.get('state')?.flatMap((value) => value.split(',')) ?? []
  if (wantedStates.length > 0) query.set('state', wantedStates.flatMap(statesNamed))
  const { logPageSize, maxLogPageSize } = queue.policy
  const selection = readFilters<LogEntry>(query, {
    filters: logFilters,
    defaultCount: logPageSize,
    maxCount: maxLogPageSize,
    order: 'latestFirst',
    others: ['trimBody', 'groupBy', 'api'],
  })
  const trim = readTrimBody(query)
  const page = queue.log.select(selection, queue.now())
  const groupBy = query.get('groupBy')?.[0]
  if (groupBy === undefined || groupBy === '') {
    return json(
      shape(
        page.items.map((entry) => logShape(entry, queue.policy, trim)),
        page.cursor,
      ),
    )
  }
  if (groupBy !== 'messageId') throw refusals.invalid('groupBy', `${JSON.stringify(groupBy)} is not messageId`)
  const groups = new Map<string, object[]>()
  for (const entry of page.items) {
    const events = groups.get(entry.message.id) ?? []
    events.push(logShape(entry, queue.policy, trim))
    groups.set(entry.message.id, events)
  }
  return json({ messages: [...groups].map(([messageId, events]) => ({ messageId, events })), cursor: page.cursor })
}

/**
 * Returns the states of the message log that a value of the filter `state` selects. `IN_PROGRESS` selects several.
 * [queue.md 1.10, 4.1]
 */
function statesNamed(given: string): readonly string[] {
  const state = given.trim().toUpperCase()
  if (state === 'IN_PROGRESS') return inProgress
  if (state === 'CANCELED') return ['CANCELLED']
  if (states.includes(state)) return [state]
  throw refusals.invalid('state', `${JSON.stringify(given)} is not a state`)
}
