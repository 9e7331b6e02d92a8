import * as v from 'valibot'
import { wordOfWire } from '../../../../src/client/portable-reply.js'
import { deadLetterView, messageView } from '../../../../src/client/remote-views.js'
import { iso } from '../../../../src/kernel/instant.js'
import { HttpError } from '../../../../src/protocol/call.js'
import { engineOf, type PublishOptions, type Queue } from '../../../../src/queue/direct-queue.js'
import type { QueueDump } from '../../../../src/queue/dump/queue-dump.js'
import type { Message } from '../../../../src/queue/message/message.js'
import { signatureFlaws } from '../../../../src/queue/signing/signature-lab.js'
import { refuseLarge, roomAtOnce, sizeOfQueue } from './large.js'
import { type ControlOperation, order, regional } from './operation.js'
import { listed, partOf } from './operation-parts.js'
import { refusing } from './refusing.js'
import { base64, nothing, time } from './schemas.js'

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
  'is not what GET /queue/dump returned',
)

/** Slots of one answer at most: each is looked for in a calendar. */
export const maxSlots = 500

export const queueOrders: readonly ControlOperation[] = regional([
  order({
    method: 'POST',
    path: '/queue/publish',
    summary: 'Publishes a message, with the options of `queue.publish()`; a body of bytes goes into `bytes`.',
    body: publish,
    example: { to: 'https://shop.test/orders', body: { id: 42 }, retries: 2 },
    tool: {
      name: 'publish_message',
      does: 'Publishes a message.',
      when: 'To send something to a url, now or later. Further options are those of the queue: delay, notBefore, retries, retryDelay, callback, failureCallback, deduplicationId, flowControlKey, flowControlValue, queue, label.',
      effect: 'changes',
      next: 'drain_clock or advance_clock to deliver it, explain_message for where it stands.',
      args: {
        to: 'url, or name of a url group',
        body: 'text, or JSON that is sent as such',
        bytes: 'instead of body, bytes as base64',
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
    summary: 'Every message that has not ended.',
    query: partOf,
    tool: {
      name: 'list_messages',
      does: 'Messages that wait, are under way or will be retried.',
      when: 'To find the id of one.',
      effect: 'reads',
      next: 'explain_message with the `id` of one, or forecast_message.',
      defaults: { limit: 20 },
    },
    run: ({ queue }, _, asked) =>
      listed(queue.messages, asked, { of: 'messages', view: messageView, size: ({ body }) => body.length }),
  },
  {
    method: 'GET',
    path: '/queue/messages/:id',
    summary: 'One message, as long as the log knows it.',
    run: ({ queue }, _, { params }) => messageView(known(queue, params)),
  },
  {
    method: 'GET',
    path: '/queue/messages/:id/explain',
    summary: 'Why a message is where it is and when it goes on, in sentences.',
    tool: {
      name: 'explain_message',
      when: 'The first thing to ask when a message was not delivered, or not when it should have been.',
      effect: 'reads',
      next: 'list_entries with `message` for its requests and answers, forecast_message for when it goes on.',
      args: { id: 'id of a message, as list_messages and get_timeline tell it' },
    },
    run: ({ queue }, _, { params }) => ({ explanation: queue.explain(params.id ?? '') }),
  },
  {
    method: 'GET',
    path: '/queue/messages/:id/forecast',
    summary:
      'When the next attempt of a message starts, as things stand: `at` in milliseconds, or `notBefore` and `blockedBy` of which answer or pause; null for one that has ended.',
    tool: {
      name: 'forecast_message',
      does: 'When the next attempt of a message starts if nothing else happens.',
      when: 'To know how far to move time.',
      effect: 'reads',
      next: 'advance_clock_to that instant.',
      args: { id: 'id of a message' },
    },
    run: ({ queue }, _, { params }) => ({ forecast: queue.forecast(known(queue, params).id) ?? null }),
  },
  order({
    method: 'POST',
    path: '/queue/explain',
    summary: 'How a queue, a flow-control key, a schedule or a deduplication id stands, in sentences.',
    body: explained,
    example: { flowControlKey: 'user-1' },
    tool: {
      name: 'explain_resource',
      does: 'How a queue, a flow-control key, a schedule or a deduplication id stands: give exactly one.',
      when: 'When messages wait for something else than their own time.',
      effect: 'reads',
      next: 'list_messages for what waits there.',
      args: {
        queue: 'name of a FIFO queue',
        flowControlKey: 'name of a flow-control key',
        scheduleId: 'id of a schedule',
        deduplicationId: 'id that a duplicate was recognised by',
      },
    },
    run: ({ queue }, what) => ({ explanation: queue.explain(what) }),
  }),
  order({
    method: 'POST',
    path: '/queue/messages/:id/cancel',
    summary: 'Cancels a message; `canceled` is false when it had ended before.',
    body: nothing,
    tool: {
      name: 'cancel_message',
      does: 'Takes a message out of the queue.',
      when: 'To see what the app does without it.',
      effect: 'destroys',
      next: 'list_messages for what is left.',
      args: { id: 'id of a message' },
    },
    run: ({ queue }, _, { params }) => ({ canceled: queue.cancel(known(queue, params).id) }),
  }),
  order({
    method: 'POST',
    path: '/queue/messages/:id/deliver-now',
    summary: 'Delivers a waiting message now.',
    body: nothing,
    run: ({ queue }, _, { params }) => {
      const message = known(queue, params)
      queue.deliverNow(message.id)
      return messageView(message)
    },
  }),
  {
    method: 'GET',
    path: '/queue/dead-letters',
    summary: 'The dead letters, oldest first.',
    query: partOf,
    tool: {
      name: 'list_dead_letters',
      does: 'Messages that failed for good, with the last answer of their endpoint.',
      when: 'After drain_clock, and whenever something never arrived.',
      effect: 'reads',
      next: 'list_entries with the `id` of the message as `message` for its attempts, retry_dead_letter once the cause is gone.',
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
    summary: 'Publishes a dead letter again; it leaves the dead-letter queue.',
    body: nothing,
    tool: {
      name: 'retry_dead_letter',
      when: 'Once the endpoint works.',
      effect: 'changes',
      next: 'drain_clock to deliver it.',
      args: { id: 'id of a dead letter, as list_dead_letters tells it' },
      tells: true,
    },
    run: ({ queue }, _, { params }) => {
      const { id = '' } = params
      if (engineOf(queue).courier.deadLetters.get(id) !== undefined) return messageView(queue.retryDeadLetter(id))
      throw new HttpError(404, `There is no dead letter ${JSON.stringify(id)}.`)
    },
  }),
  {
    method: 'GET',
    path: '/queue/url-groups',
    summary: 'The url groups.',
    query: partOf,
    run: ({ queue }, _, asked) =>
      listed(queue.urlGroups.list(), asked, {
        of: 'url groups',
        view: (group) => group.toJSON(),
        size: ({ endpoints }) => endpoints.length * 100,
      }),
  },
  order({
    method: 'POST',
    path: '/queue/url-groups/:name/endpoints',
    summary: 'Adds endpoints to a url group, creating it.',
    body: v.strictObject({ endpoints: v.array(endpoint) }),
    example: { endpoints: ['https://a.test', { url: 'https://b.test', name: 'b' }] },
    run: ({ queue }, { endpoints }, { params }) =>
      refusing(() => queue.urlGroups.addEndpoints(params.name ?? '', endpoints).toJSON()),
  }),
  {
    method: 'DELETE',
    path: '/queue/url-groups/:name',
    summary: 'Deletes a url group.',
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
    summary: 'Deletes a FIFO queue; its messages are cancelled.',
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
    summary: 'The schedules.',
    query: partOf,
    tool: {
      name: 'list_schedules',
      does: 'What is published again and again, and when next.',
      when: 'To find the id of one.',
      effect: 'reads',
      next: 'list_fire_times for its calendar, explain_resource with `scheduleId` for why one does not fire.',
      defaults: { limit: 20 },
    },
    run: ({ queue }, _, asked) =>
      listed(queue.schedules.list(), asked, { of: 'schedules', view: (schedule) => schedule.toJSON() }),
  },
  order({
    method: 'POST',
    path: '/queue/schedules/:id/fire',
    summary: 'Triggers a schedule now; its slots stay as they are.',
    body: nothing,
    run: ({ queue }, _, { params }) => queue.schedules.fire(params.id ?? '').map(messageView),
  }),
  order({
    method: 'POST',
    path: '/queue/schedules/:id/upcoming',
    summary: `The slots of a schedule within a span, in milliseconds, at most ${maxSlots}; nothing fires.`,
    body: v.strictObject({ from: time, to: time }),
    example: { from: '2030-03-30T00:00:00Z', to: '2030-04-01T00:00:00Z' },
    tool: {
      name: 'list_fire_times',
      when: 'To check a cron expression or a time zone.',
      effect: 'reads',
      next: 'advance_clock_to one of the slots.',
      args: { id: 'id of a schedule', from: 'ISO text or milliseconds', to: 'ISO text or milliseconds' },
    },
    run: ({ queue }, { from, to }, { params }) =>
      upcoming(queue, params.id ?? '', new Date(from).getTime(), new Date(to).getTime()),
  }),
  {
    method: 'GET',
    path: '/queue/signing-keys',
    summary: 'The signing keys: the current one, the next one, and those that were current once, the latest first.',
    run: ({ queue: { signingKeys } }) => ({
      current: signingKeys.current,
      next: signingKeys.next,
      former: signingKeys.former,
    }),
  },
  order({
    method: 'POST',
    path: '/queue/signing-keys/rotate',
    summary: 'The next signing key becomes the current one, a fresh one the next.',
    body: nothing,
    run: ({ queue }) => queue.signingKeys.rotate(),
  }),
  order({
    method: 'POST',
    path: '/queue/sign',
    summary: 'The signature that a delivery of this request would carry now, or one with exactly one thing wrong.',
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
    summary: 'Mistakes in requests that were accepted all the same, as sentences.',
    tool: {
      name: 'list_diagnostics',
      when: 'When something is accepted but does nothing: misspelled headers, options without effect.',
      effect: 'reads',
      next: 'get_timeline for the requests themselves.',
    },
    run: ({ queue }) => queue.diagnostics,
  },
  {
    method: 'GET',
    path: '/queue/dump',
    summary: 'Everything that is in the queue.',
    run: ({ queue }) => {
      refuseLarge(sizeOfQueue(queue), roomAtOnce, 'The queue', 'Ask for GET /queue/messages?limit=100.')
      return queue.dump()
    },
  },
  order({
    method: 'PUT',
    path: '/queue/dump',
    summary: 'Replaces everything that is in the queue with what GET returned.',
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
    `There are more than ${maxSlots} slots in this span. Ask up to ${last}, and then from ${iso(slots[maxSlots]!)} on.`,
  )
}

function known(queue: Queue, { id = '' }: Readonly<Record<string, string>>): Message {
  const message = engineOf(queue).courier.byId.get(id)
  if (message !== undefined) return message
  throw new HttpError(404, `There is no message ${JSON.stringify(id)}. Ask GET /queue/messages for those that wait.`)
}
