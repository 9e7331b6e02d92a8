import { empty, json } from '../../protocol/call.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { Message } from '../message/message.js'
import type { QueueEngine } from '../queue-engine.js'
import { refusals } from '../settings/queue-rejections.js'
import { messageFilters, readFilters } from './message-filters.js'
import { found, type QueueApi, type QueueEndpoint, queryAndBody, row } from './reading.js'
import { messageShape } from './response-shapes.js'

/** Endpoints of messages. [queue.md 1.5] */
export const messageEndpoints: readonly QueueEndpoint[] = [
  row('GET', '/v2/messages/:id', 'Read a message that is pending or was delivered.', (call, { queue }) =>
    json(messageShape(found(queue.readable(call.params.id!), 'message', call.params.id!))),
  ),
  row('DELETE', '/v2/messages/:id', 'Cancel one message.', (call, { queue }) =>
    json({ cancelled: queue.courier.cancel(pending(queue, call)) ? 1 : 0 }),
  ),
  row('DELETE', '/v2/messages', 'Cancel many messages, by IDs or filters.', (call, api) => cancelMany(call, api)),
  row('POST', '/v2/messages/:id/retry', 'Deliver a waiting message now.', (call, { queue }) => retryNow(call, queue)),
]

function pending(queue: QueueEngine, call: ServiceRequest): Message {
  return found(queue.message(call.params.id!), 'message', call.params.id!)
}

function cancelMany(call: ServiceRequest, api: QueueApi): RawResponse {
  const { queue } = api
  const rules = {
    filters: messageFilters,
    ids: 'messageIds',
    defaultCount: undefined,
    maxCount: queue.policy.maxCancelCount,
  }
  const page = queue.courier.live.select(readFilters<Message>(queryAndBody(call), rules))
  let cancelled = 0
  for (const message of page.items) if (queue.courier.cancel(message)) cancelled++
  return json({ cancelled })
}

function retryNow(call: ServiceRequest, queue: QueueEngine): RawResponse {
  const id = call.params.id!
  const message = queue.courier.byId.get(id)
  if (message === undefined || message.isEnded) throw refusals.notFound('message', id)
  if (message.settings.queue !== undefined)
    throw refusals.invalid('message', `${id} belongs to queue ${message.settings.queue}`)
  if (message.cancelRequested) throw refusals.invalid('message', `${id} was canceled`)
  if (message.running) throw refusals.invalid('message', `${id} is being delivered`)
  queue.courier.release(message)
  return empty()
}
