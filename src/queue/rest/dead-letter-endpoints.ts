import type { RecordQuery } from '../../kernel/indexed-records.js'
import { json } from '../../protocol/call.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { DeadLetter } from '../delivery/callbacks-and-dead-letters.js'
import { dlqFilters, type QueryValues, readFilters, readTrimBody, runFilters } from '../message/message-filters.js'
import { checkRetry } from '../publisher.js'
import type { QueueEngine } from '../queue-engine.js'
import { refusals } from '../settings/queue-rejections.js'
import { requestDialect, resultShape, settingsIn } from './publishing.js'
import { done, found, type QueueApi, type QueueEndpoint, queryAndBody, queryOf, row } from './reading.js'
import { deadLetterShape } from './response-shapes.js'

/** Endpoints of the dead-letter queue. [queue.md 1.9] */
export const deadLetterEndpoints: readonly QueueEndpoint[] = [
  row('GET', '/v2/dlq', 'List the dead letters.', (call, api) => {
    const query = queryOf(call)
    const page = api.queue.courier.deadLetters.select(dlqSelection(query, api.queue))
    return json({
      messages: page.items.map((letter) => deadLetterShape(letter, readTrimBody(query))),
      cursor: page.cursor,
    })
  }),
  row('GET', '/v2/dlq/:id', 'Read a dead letter.', (call, { queue }) => json(deadLetterShape(deadLetter(queue, call)))),
  row('DELETE', '/v2/dlq/:id', 'Delete a dead letter.', (call, { queue }) =>
    done(queue.courier.deadLetters.delete(deadLetter(queue, call))),
  ),
  row('DELETE', '/v2/dlq', 'Delete many dead letters, by IDs or filters.', (call, api) => {
    const page = api.queue.courier.deadLetters.select(dlqSelection(queryAndBody(call), api.queue))
    for (const letter of page.items) api.queue.courier.deadLetters.delete(letter)
    return json({ deleted: page.items.length, cursor: page.cursor })
  }),
  row('POST', '/v2/dlq/retry/:id', 'Publish a dead letter again.', (call, api) => {
    const { message, deduplicated } = api.queue.publisher.retryDeadLetter(
      deadLetter(api.queue, call),
      settingsIn(call),
      requestDialect(call, api),
      call.cause,
    )
    return json({ messageId: message.id, url: message.url, ...(deduplicated && { deduplicated }) }, 201)
  }),
  row('POST', '/v2/dlq/retry', 'Publish many dead letters again, by IDs or filters.', (call, api) =>
    retryMany(call, api),
  ),
]

function deadLetter(queue: QueueEngine, call: ServiceRequest): DeadLetter {
  return found(queue.courier.deadLetters.get(call.params.id!), 'dlq message', call.params.id!)
}

/**
 * Reads the filters of a request about dead letters.
 * @param most maximum number of dead letters in a page; by default the policy `dlqPageSize`
 */
export function dlqSelection(
  query: QueryValues,
  { policy }: QueueEngine,
  most: number = policy.dlqPageSize,
): RecordQuery<DeadLetter> {
  const states = query.get('failureFunctionState')
  const rules = {
    filters: [...dlqFilters, ...runFilters],
    ids: 'dlqIds',
    defaultCount: most,
    maxCount: most,
    others: ['trimBody', 'source', 'api', 'failureFunctionState'],
  }
  const selection = readFilters<DeadLetter>(query, rules)
  if (query.get('source')?.[0] !== 'workflow' && states === undefined) return selection
  return {
    ...selection,
    only: ({ message: { part } }) =>
      part !== undefined && (states === undefined || states.includes(part.failureFunctionState ?? '')),
  }
}

function retryMany(call: ServiceRequest, api: QueueApi): RawResponse {
  const { queue } = api
  const query = queryAndBody(call)
  const selection = dlqSelection(query, queue)
  const ids = query.get('dlqIds') ?? []
  // Dead letters of workflow runs cannot be retried. If the request selects dead letters by filters, omit those of
  // workflow runs. If the request names IDs of dead letters, `checkRetry()` rejects those of workflow runs.
  const only = (letter: DeadLetter): boolean =>
    (ids.length > 0 || letter.message.part === undefined) && (selection.only?.(letter) ?? true)
  const page = queue.courier.deadLetters.select({ ...selection, only })
  for (const letter of page.items) checkRetry(letter)
  if (page.items.length === 0 && ids.length > 0) throw refusals.notFound('dlq message', ids.join(','))
  const overrides = settingsIn(call)
  const responses = page.items.map((letter) =>
    resultShape(queue.publisher.retryDeadLetter(letter, overrides, requestDialect(call, api), call.cause), false),
  )
  return json({ cursor: page.cursor ?? '', responses }, 201)
}
