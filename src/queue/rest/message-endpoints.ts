import { empty, json } from '../../protocol/call.js'
import type { LateResponse, RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { Message } from '../message/message.js'
import { readAsync, readMessageCancel } from '../message/message-filters.js'
import type { QueueEngine } from '../queue-engine.js'
import { refusals } from '../settings/queue-rejections.js'
import { bulkActionEndpoints, cancelMatching } from './bulk-action-endpoints.js'
import { found, type QueueApi, type QueueEndpoint, queryAndBody, row } from './reading.js'
import { messageShape } from './response-shapes.js'

/** Endpoints of messages. [queue.md 1.5] */
export const messageEndpoints: readonly QueueEndpoint[] = [
  row('GET', '/v2/messages/:id', 'Read a message that is pending or was delivered.', (call, { queue }) =>
    json(messageShape(found(queue.readable(call.params.id!), 'message', call.params.id!))),
  ),
  row('DELETE', '/v2/messages/:id', 'Cancel one message.', (call, { queue }) =>
    json({ cancelled: queue.courier.cancel(pending(queue, call)) ? 1 : 0 }, queue.policy.cancelStatus),
  ),
  row('DELETE', '/v2/messages', 'Cancel many messages, by IDs or filters.', (call, api) => cancelMany(call, api)),
  ...bulkActionEndpoints('messages', '/v2/bulkActions'),
  row('POST', '/v2/messages/:id/retry', 'Deliver a waiting message now.', (call, { queue }) => retryNow(call, queue)),
]

function pending(queue: QueueEngine, call: ServiceRequest): Message {
  return found(queue.message(call.params.id!), 'message', call.params.id!)
}

/** Cancels messages by IDs, or everything that matches the filters as a bulk action. [queue.md 1.5] */
function cancelMany(call: ServiceRequest, { queue }: QueueApi): RawResponse | LateResponse {
  const query = queryAndBody(call)
  const selection = readMessageCancel<Message>(query, queue.policy)
  if (!selection.filters!.has('messageIds')) return cancelMatching(call, query, { queue, resource: 'messages' })
  readAsync(query)
  let cancelled = 0
  for (const message of queue.courier.live.select(selection).items) if (queue.courier.cancel(message)) cancelled++
  return json({ cancelled }, queue.policy.cancelStatus)
}

/** [queue.md 1.5] */
function retryNow(call: ServiceRequest, queue: QueueEngine): RawResponse {
  const id = call.params.id!
  const message = found(queue.courier.byId.get(id), 'message', id)
  if (message.isEnded) throw refusals.notWaiting(id, 404)
  if (message.settings.queue !== undefined)
    throw refusals.invalid('message', `${id} belongs to queue ${message.settings.queue}`)
  if (message.cancelRequested || message.running) throw refusals.notWaiting(id, queue.policy.runNowBusy)
  queue.courier.release(message)
  return empty()
}
