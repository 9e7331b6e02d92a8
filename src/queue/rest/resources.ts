import * as v from 'valibot'
import { empty, json } from '../../protocol/call.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import { plainHeaders } from '../publish/publish.js'
import type { QueueEngine } from '../queue-engine.js'
import type { Schedule } from '../schedules/schedule.js'
import { createSchedule, headerObject, readHeaderObject, targetFacts } from './publishing.js'
import { done, found, name, parsed, type QueueApi, type QueueEndpoint, row } from './reading.js'
import { queueShape, scheduleShape, urlGroupShape } from './response-shapes.js'

/** Endpoints of FIFO queues, schedules and URL groups. [queue.md 1.6, 1.7, 1.8] */
export const resourceEndpoints: readonly QueueEndpoint[] = [
  row('POST', '/v2/queues', 'Create or update a queue.', (call, { queue }) => upsertQueue(call, queue)),
  row('GET', '/v2/queues', 'List the queues.', (_call, { queue }) => json(queue.lanes.list().map(queueShape))),
  row('GET', '/v2/queues/:name', 'Read a queue.', (call, { queue }) =>
    json(queueShape(found(queue.lanes.get(name(call)), 'queue', name(call)))),
  ),
  row('DELETE', '/v2/queues/:name', 'Delete a queue; its messages are canceled.', (call, { queue }) =>
    done(queue.deleteQueue(name(call))),
  ),
  row('POST', '/v2/queues/:name/pause', 'Pause a queue.', (call, { queue }) => done(queue.pauseQueue(name(call)))),
  row('POST', '/v2/queues/:name/resume', 'Resume a queue.', (call, { queue }) => done(queue.resumeQueue(name(call)))),

  row(
    'POST',
    '/v2/schedules/**',
    'Create a schedule, or replace the one with the same ID.',
    (call, api) => createSchedule(call, api),
    { facts: targetFacts },
  ),
  row('GET', '/v2/schedules', 'List the schedules.', (_call, { queue }) =>
    json(queue.schedules.list().map(scheduleShape)),
  ),
  row('GET', '/v2/schedules/:id', 'Read a schedule.', (call, { queue }) => json(scheduleShape(schedule(queue, call)))),
  row('DELETE', '/v2/schedules/:id', 'Delete a schedule; its messages stay.', (call, { queue }) =>
    done(queue.schedules.delete(call.params.id!)),
  ),
  row(['PATCH', 'POST'], '/v2/schedules/:id/pause', 'Pause a schedule.', (call, { queue }) => {
    queue.schedules.setPaused(schedule(queue, call), true)
    return empty()
  }),
  row(['PATCH', 'POST'], '/v2/schedules/:id/resume', 'Resume a schedule.', (call, { queue }) => {
    queue.schedules.setPaused(schedule(queue, call), false)
    return empty()
  }),

  row('GET', '/v2/topics', 'List the URL groups.', (_call, { queue }) =>
    json(queue.urlGroups.list().map(urlGroupShape)),
  ),
  row('GET', '/v2/topics/:name', 'Read a URL group.', (call, { queue }) =>
    json(urlGroupShape(found(queue.urlGroups.get(name(call)), 'topic', name(call)))),
  ),
  row(
    'POST',
    '/v2/topics/:name/endpoints',
    'Add or change endpoints of a URL group, which is created if it does not exist.',
    (call, { queue }) => {
      const { endpoints } = parsed(
        call,
        v.object({ endpoints: v.array(v.object({ url: v.string(), name: v.optional(v.string()) })) }),
      )
      queue.urlGroups.upsert(name(call), endpoints)
      return empty()
    },
  ),
  row('DELETE', '/v2/topics/:name/endpoints', 'Remove endpoints, by name or URL.', (call, { queue }) => {
    const { endpoints } = parsed(
      call,
      v.object({ endpoints: v.array(v.object({ url: v.optional(v.string()), name: v.optional(v.string()) })) }),
    )
    queue.urlGroups.remove(name(call), endpoints)
    return empty()
  }),
  row('PATCH', '/v2/topics/:name', 'Set the default headers of a URL group.', (call, api) => setDefaults(call, api)),
  row('DELETE', '/v2/topics/:name', 'Delete a URL group.', (call, { queue }) =>
    done(queue.urlGroups.delete(name(call))),
  ),
]

function upsertQueue(call: ServiceRequest, queue: QueueEngine): RawResponse {
  const shape = v.object({
    queueName: v.string(),
    parallelism: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
    paused: v.nullish(v.boolean()),
  })
  const { queueName, parallelism, paused } = parsed(call, shape)
  queue.upsertQueue(queueName, parallelism ?? 1, paused ?? undefined)
  return empty()
}

function schedule(queue: QueueEngine, call: ServiceRequest): Schedule {
  return found(queue.schedules.get(call.params.id!), 'schedule', call.params.id!)
}

/**
 * Options with example values, for the check of the defaults of a URL group. A default may require an option that only
 * the later publish contains. The check uses these examples in place of that publish.
 */
const broughtByPublishes: readonly (readonly [string, string])[] = ['', 'callback-', 'failure-callback-'].flatMap(
  (prefix) => [
    [`${prefix}callback`, 'https://callback.test'],
    [`${prefix}failure-callback`, 'https://callback.test'],
    [`${prefix}flow-control-key`, 'key'],
  ],
)

/**
 * Sets the default headers of a URL group.
 * @throws QueueRejection 400 when a publish with these defaults would be rejected
 */
function setDefaults(call: ServiceRequest, api: QueueApi): RawResponse {
  const { headers } = parsed(call, v.object({ headers: headerObject }))
  const list = headers.flatMap(([key, values]) => [values].flat().map((value): [string, string] => [key, value]))
  const { settings, contentType, words } = readHeaderObject(list, call, api)
  api.queue.publisher.settings(new Map([...broughtByPublishes, ...settings]), words, { contentType })
  const plain = list.filter(
    ([key]) => !/^content-type$/i.test(key) && api.queue.words.ownName(key.toLowerCase()) === undefined,
  )
  const defaults = { settings, contentType, headers: plainHeaders(plain) }
  api.queue.urlGroups.setDefaults(name(call), defaults, Object.fromEntries(headers))
  return empty()
}
