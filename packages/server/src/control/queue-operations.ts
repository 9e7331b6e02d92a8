import * as v from 'valibot'
import { wordOfWire } from '../../../../src/client/portable-reply.js'
import { deadLetterView, messageView } from '../../../../src/client/remote-views.js'
import { iso } from '../../../../src/kernel/instant.js'
import { HttpError } from '../../../../src/protocol/call.js'
import type { PublishOptions, Queue } from '../../../../src/queue/direct-queue.js'
import type { QueueDump } from '../../../../src/queue/dump/queue-dump.js'
import type { Message } from '../../../../src/queue/message/message.js'
import { engineOf } from '../../../../src/queue/queue-internals.js'
import { signatureFlaws } from '../../../../src/queue/signing/signature-lab.js'
import { refuseLarge, roomAtOnce, sizeOfQueue } from './large.js'
import { type ControlOperation, order, regional } from './operation.js'
import { bulkActionList, listed, partOf } from './operation-parts.js'
import { refusing } from './refusing.js'
import { base64, filtered, nothing, time } from './schemas.js'

const publish = v.looseObject({
  to: v.string(),
  body: v.optional(v.unknown()),
  bytes: v.optional(base64),
  headers: v.optional(v.record(v.string(), v.string())),
  queue: v.optional(v.string()),
})
const endpoint = v.union([v.string(), v.strictObject({ url: v.string(), name: v.optional(v.string()) })])

const explained = v.union([
  v.strictObject({ queue: v.string() }),
  v.strictObject({ flowControlKey: v.string() }),
  v.strictObject({ scheduleId: v.string() }),
  v.strictObject({ deduplicationId: v.string() }),
])

const dump = v.custom<QueueDump>(
  (given) => typeof given === 'object' && given !== null,
  'must be a response of GET /queue/dump',
)

/** Maximum number of fire times in one response, because computing each one takes time. */
export const maxSlots = 500

export const queueOrders: readonly ControlOperation[] = regional([
  order({
    method: 'POST',
    path: '/queue/publish',
    summary: 'Publishes a message with the options of `queue.publish()`; `bytes` takes a binary body.',
    body: publish,
    example: { to: 'https://shop.test/orders', body: { id: 42 }, retries: 2 },
    tool: {
      name: 'publish_message',
      does: 'Publishes a message.',
      when: 'Use it to send a message to a URL, now or later. Further options are those of the queue: delay, notBefore, retries, retryDelay, callback, failureCallback, deduplicationId, flowControlKey, flowControlValue, queue, label.',
      effect: 'changes',
      next: 'drain_clock or advance_clock to deliver it, explain_message for its state.',
      args: {
        to: 'URL, or name of a URL group',
        body: 'text, or JSON that is sent as JSON',
        bytes: 'body as base64, instead of `body`',
      },
      tells: true,
    },
    run: ({ queue }, { bytes, ...direct }) =>
      refusing(() => {
        const body = bytes === undefined ? direct.body : wordOfWire(bytes)
        const published = queue.publish({ ...direct, body } as PublishOptions)
        return Array.isArray(published) ? published.map(messageView) : messageView(published as Message)
      }),
  }),
  {
    method: 'GET',
    path: '/queue/messages',
    summary: 'Returns all messages that have not ended.',
    query: partOf,
    tool: {
      name: 'list_messages',
      does: 'Returns messages that are waiting, being delivered or about to be retried.',
      when: 'Use it to find the ID of a message.',
      effect: 'reads',
      next: 'explain_message or forecast_message with the `id` of a message.',
      defaults: { limit: 20 },
    },
    run: ({ queue }, _, asked) =>
      listed(queue.messages, asked, { of: 'messages', view: messageView, size: ({ body }) => body.length }),
  },
  {
    method: 'GET',
    path: '/queue/messages/:id',
    summary: 'Returns one message, as long as the log contains it.',
    run: ({ queue }, _, { params }) => messageView(known(queue, params)),
  },
  {
    method: 'GET',
    path: '/queue/messages/:id/explain',
    summary: 'Explains the state of a message, and when the message continues.',
    tool: {
      name: 'explain_message',
      when: 'Call this first when a message was not delivered, or not at the expected time.',
      effect: 'reads',
      next: 'list_entries with `message` for its requests and responses, forecast_message for its next attempt.',
      args: { id: 'ID of a message, from list_messages or get_timeline' },
    },
    run: ({ queue }, _, { params }) => ({ explanation: queue.explain(params.id ?? '') }),
  },
  {
    method: 'GET',
    path: '/queue/messages/:id/forecast',
    summary:
      'Forecasts when the next attempt of a message starts if nothing else happens: `at` in milliseconds. If the message waits for the response to another message or for the end of a pause, returns `notBefore` and `blockedBy` instead. `forecast` is null for an ended message.',
    tool: {
      name: 'forecast_message',
      does: 'Returns when the next attempt of a message starts if nothing else happens.',
      when: 'Use it to find out how far to advance time.',
      effect: 'reads',
      next: 'advance_clock_to that instant.',
      args: { id: 'ID of a message' },
    },
    run: ({ queue }, _, { params }) => ({ forecast: queue.forecast(known(queue, params).id) ?? null }),
  },
  order({
    method: 'POST',
    path: '/queue/explain',
    summary: 'Explains the state of a FIFO queue, a flow-control key, a schedule or a deduplication ID.',
    body: explained,
    example: { flowControlKey: 'user-1' },
    tool: {
      name: 'explain_resource',
      does: 'Explains the state of a FIFO queue, a flow-control key, a schedule or a deduplication ID. Give exactly one of these four arguments.',
      when: 'Use it when messages wait although their own delay has ended.',
      effect: 'reads',
      next: 'list_messages for the waiting messages.',
      args: {
        queue: 'name of a FIFO queue',
        flowControlKey: 'name of a flow-control key',
        scheduleId: 'ID of a schedule',
        deduplicationId: 'deduplication ID',
      },
    },
    run: ({ queue }, what) => ({ explanation: queue.explain(what) }),
  }),
  order({
    method: 'POST',
    path: '/queue/messages/:id/cancel',
    summary: 'Cancels a message; `canceled` is false if the message had already ended.',
    body: nothing,
    tool: {
      name: 'cancel_message',
      does: 'Removes a message from the queue.',
      when: 'Use it to see how the app behaves without the message.',
      effect: 'destroys',
      next: 'list_messages for the remaining messages.',
      args: { id: 'ID of a message' },
    },
    run: ({ queue }, _, { params }) => ({ canceled: queue.cancel(known(queue, params).id) }),
  }),
  order({
    method: 'POST',
    path: '/queue/messages/cancel',
    summary:
      'Cancels all pending messages that match the filters of `queue.cancelMessages()`, and returns the bulk action. Without filters, cancels all.',
    body: filtered,
    example: { filter: { label: 'campaign' } },
    run: ({ queue }, { filter }) => refusing(() => queue.cancelMessages(filter).toJSON()),
  }),
  {
    method: 'GET',
    path: '/queue/bulk-actions',
    summary: 'Returns the bulk actions that cancel messages, of the last seven days, oldest first.',
    query: partOf,
    run: ({ queue }, _, asked) => listed(queue.bulkActions, asked, bulkActionList),
  },
  order({
    method: 'POST',
    path: '/queue/messages/:id/deliver-now',
    summary:
      'Delivers a waiting message now. Returns the message; `wasWaiting` is false if it was being delivered, canceled or had ended.',
    body: nothing,
    run: ({ queue }, _, { params }) => {
      const message = known(queue, params)
      const wasWaiting = queue.deliverNow(message.id)
      return { ...messageView(message), wasWaiting }
    },
  }),
  {
    method: 'GET',
    path: '/queue/dead-letters',
    summary: 'Returns the dead letters, oldest first.',
    query: partOf,
    tool: {
      name: 'list_dead_letters',
      does: 'Returns messages that failed permanently, with the last response of their endpoint.',
      when: 'Use it after drain_clock, and whenever something did not arrive.',
      effect: 'reads',
      next: 'list_entries with `message` set to the ID of the message for its attempts, retry_dead_letter when the cause is fixed.',
      defaults: { limit: 20 },
    },
    run: ({ queue }, _, asked) =>
      listed(queue.deadLetters, asked, {
        of: 'dead letters',
        view: deadLetterView,
        size: ({ message, response: reply }) => message.body.length + reply.body.length,
      }),
  },
  order({
    method: 'POST',
    path: '/queue/dead-letters/:id/retry',
    summary: 'Publishes a dead letter again and removes it from the dead-letter queue.',
    body: nothing,
    tool: {
      name: 'retry_dead_letter',
      when: 'Use it when the endpoint works again.',
      effect: 'changes',
      next: 'drain_clock to deliver it.',
      args: { id: 'ID of a dead letter, from list_dead_letters' },
      tells: true,
    },
    run: ({ queue }, _, { params }) => {
      const { id = '' } = params
      if (engineOf(queue).courier.deadLetters.get(id) !== undefined) return messageView(queue.retryDeadLetter(id))
      throw new HttpError(404, `There is no dead letter ${JSON.stringify(id)}. GET /queue/dead-letters lists them.`)
    },
  }),
  {
    method: 'GET',
    path: '/queue/url-groups',
    summary: 'Returns the URL groups.',
    query: partOf,
    run: ({ queue }, _, asked) =>
      listed(queue.urlGroups.list(), asked, {
        of: 'URL groups',
        view: (group) => group.toJSON(),
        size: ({ endpoints }) => endpoints.length * 100,
      }),
  },
  order({
    method: 'POST',
    path: '/queue/url-groups/:name/endpoints',
    summary: 'Adds endpoints to a URL group, and creates the group if necessary.',
    body: v.strictObject({ endpoints: v.array(endpoint) }),
    example: { endpoints: ['https://a.test', { url: 'https://b.test', name: 'b' }] },
    run: ({ queue }, { endpoints }, { params }) =>
      refusing(() => queue.urlGroups.addEndpoints(params.name ?? '', endpoints).toJSON()),
  }),
  {
    method: 'DELETE',
    path: '/queue/url-groups/:name',
    summary: 'Deletes a URL group.',
    run: ({ queue }, _, { params }) => void queue.urlGroups.delete(params.name ?? ''),
  },
  order({
    method: 'POST',
    path: '/queue/queues/:name',
    summary: 'Creates or changes a FIFO queue.',
    body: v.strictObject({
      parallelism: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
      paused: v.optional(v.boolean()),
    }),
    example: { parallelism: 2, paused: false },
    run: ({ queue }, { parallelism, paused }, { params }) =>
      refusing(() => queue.upsertQueue(params.name ?? '', { parallelism, paused })),
  }),
  {
    method: 'DELETE',
    path: '/queue/queues/:name',
    summary: 'Deletes a FIFO queue and cancels its messages.',
    run: ({ queue }, _, { params }) => queue.deleteQueue(params.name ?? ''),
  },
  ...(['pause', 'resume'] as const).map((verb) =>
    order({
      method: 'POST',
      path: `/queue/queues/:name/${verb}`,
      summary: `${verb === 'pause' ? 'Pauses' : 'Resumes'} a FIFO queue.`,
      body: nothing,
      run: ({ queue }, _, { params }) => refusing(() => queue[`${verb}Queue`](params.name ?? '')),
    }),
  ),
  {
    method: 'GET',
    path: '/queue/schedules',
    summary: 'Returns the schedules.',
    query: partOf,
    tool: {
      name: 'list_schedules',
      does: 'Returns the schedules and their next fire times.',
      when: 'Use it to find the ID of a schedule.',
      effect: 'reads',
      next: 'list_fire_times for its fire times, explain_resource with `scheduleId` to see why a schedule does not fire.',
      defaults: { limit: 20 },
    },
    run: ({ queue }, _, asked) =>
      listed(queue.schedules.list(), asked, { of: 'schedules', view: (schedule) => schedule.toJSON() }),
  },
  order({
    method: 'POST',
    path: '/queue/schedules/:id/fire',
    summary: 'Fires a schedule now; its planned fire times do not change.',
    body: nothing,
    run: ({ queue }, _, { params }) => queue.schedules.fire(params.id ?? '').map(messageView),
  }),
  order({
    method: 'POST',
    path: '/queue/schedules/:id/upcoming',
    summary: `Returns the fire times of a schedule between two instants, in milliseconds, at most ${maxSlots}; nothing fires.`,
    body: v.strictObject({ from: time, to: time }),
    example: { from: '2030-03-30T00:00:00Z', to: '2030-04-01T00:00:00Z' },
    tool: {
      name: 'list_fire_times',
      when: 'Use it to check a cron expression or a time zone.',
      effect: 'reads',
      next: 'advance_clock_to one of the fire times.',
      args: { id: 'ID of a schedule', from: 'ISO text or milliseconds', to: 'ISO text or milliseconds' },
    },
    run: ({ queue }, { from, to }, { params }) =>
      upcoming(queue, params.id ?? '', new Date(from).getTime(), new Date(to).getTime()),
  }),
  {
    method: 'GET',
    path: '/queue/signing-keys',
    summary: 'Returns the signing keys: the current key, the next key, and former keys with the latest first.',
    run: ({ queue: { signingKeys } }) => ({
      current: signingKeys.current,
      next: signingKeys.next,
      former: signingKeys.former,
    }),
  },
  order({
    method: 'POST',
    path: '/queue/signing-keys/rotate',
    summary: 'Rotates the signing keys: the next key becomes the current key, and a new next key is created.',
    body: nothing,
    run: ({ queue }) => queue.signingKeys.rotate(),
  }),
  order({
    method: 'POST',
    path: '/queue/sign',
    summary: 'Returns the signature that a delivery of this request would have now, or a signature with one flaw.',
    body: v.strictObject({
      url: v.string(),
      body: v.optional(v.string()),
      flaw: v.optional(v.picklist(Object.keys(signatureFlaws) as (keyof typeof signatureFlaws)[])),
    }),
    example: { url: 'https://shop.test/orders', body: '{"id":42}', flaw: 'expired' },
    run: ({ queue }, { url, body, flaw }) => ({
      signature: queue.sign({ url, ...(body !== undefined && { body }) }, flaw === undefined ? {} : { flaw }),
    }),
  }),
  {
    method: 'GET',
    path: '/queue/diagnostics',
    summary: 'Returns warnings about mistakes in requests that the queue accepted.',
    tool: {
      name: 'list_diagnostics',
      when: 'Use it when a request is accepted but has no effect. It lists misspelled headers, and options without effect.',
      effect: 'reads',
      next: 'get_timeline for the requests themselves.',
    },
    run: ({ queue }) => queue.diagnostics,
  },
  {
    method: 'GET',
    path: '/queue/dump',
    summary: 'Returns the content of the queue.',
    run: ({ queue }) => {
      refuseLarge(sizeOfQueue(queue), roomAtOnce, 'The queue', 'Use GET /queue/messages?limit=100.')
      return queue.dump()
    },
  },
  order({
    method: 'PUT',
    path: '/queue/dump',
    summary: 'Replaces the content of the queue with a response of GET /queue/dump.',
    body: dump,
    run: ({ queue }, given) => queue.load(given),
  }),
  order({
    method: 'POST',
    path: '/queue/reset',
    summary: 'Empties the queue. Signing keys and destinations stay.',
    body: nothing,
    run: ({ queue }) => queue.reset(),
  }),
])

function upcoming(queue: Queue, id: string, from: number, to: number): readonly number[] {
  const slots = engineOf(queue).schedules.upcoming(id, Math.max(from, 0), to, maxSlots + 1)
  if (slots.length <= maxSlots) return slots
  const last = iso(slots[maxSlots - 1]!)
  throw new HttpError(
    400,
    `There are more than ${maxSlots} fire times between these instants. Request the fire times up to ${last} first, and then those from ${iso(slots[maxSlots]!)}.`,
  )
}

function known(queue: Queue, { id = '' }: Readonly<Record<string, string>>): Message {
  const message = engineOf(queue).courier.byId.get(id)
  if (message !== undefined) return message
  throw new HttpError(
    404,
    `There is no message ${JSON.stringify(id)}. GET /queue/messages lists the messages that have not ended.`,
  )
}
