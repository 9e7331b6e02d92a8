import fc from 'fast-check'
import { fault } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { queueEndpoints } from '../../src/queue/rest/queue-endpoints.js'
import { runs } from '../support/effort.js'
import { world } from './world.js'

// Fixed parts of paths ignore case, because a published SDK uses `/v2/Schedules/{id}`. [queue.md 1.1]

const base = 'Name.Of-It'

/** Each path of the table with its names filled in, and the positions of letters that belong to fixed parts. */
const paths = queueEndpoints
  .filter(({ path }) => path !== '/v2/keys/rotate')
  .flatMap(({ method, path }) => {
    const rest = /schedules|publish|enqueue|trigger/.test(path) ? 'https://Shop.test/A/b?Q=Z' : `${base}/resetRate`
    const filled = path.replace(/:\w+/g, base).replace('**', rest)
    return [method].flat().map((each) => ({ method: each, path, filled }))
  })

/** Changes the case of letters in the fixed parts, as the bits say. */
function turned(path: string, filled: string, bits: readonly boolean[]): string {
  const pattern = path.split('/')
  let letter = 0
  return filled
    .split('/')
    .map((segment, index) => {
      const isFixed = pattern[index] === segment && index < pattern.length
      if (!isFixed) return segment
      return [...segment]
        .map((char) => (bits[letter++ % bits.length] ? char.toUpperCase() : char.toLowerCase()))
        .join('')
    })
    .join('/')
}

async function prepared() {
  const at = world({ seed: 7 })
  await at.send('POST', '/v2/queues', { body: { queueName: base } })
  await at.send('POST', `/v2/topics/${base}/endpoints`, { body: { endpoints: [{ url: 'https://shop.test/x' }] } })
  await at.send('POST', '/v2/schedules/https://shop.test/x', {
    headers: { 'service-cron': '* * * * *', 'service-schedule-id': base },
  })
  await at.send('POST', '/v2/publish/https://shop.test/x', {
    headers: { 'service-flow-control-key': base, 'service-flow-control-value': 'rate=1' },
  })
  return at
}

describe('every queue endpoint ignores the case of its path', () => {
  test.each(paths)('responds alike: $method $path', async ({ method, path, filled }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), async (bits) => {
        const [one, other] = [await prepared(), await prepared()]
        const plain = await one.send(method, filled)
        const odd = await other.send(method, turned(path, filled, bits))
        expect([odd.status, odd.answer.body]).toEqual([plain.status, plain.answer.body])
        expect(other.queue.dump()).toEqual(one.queue.dump())
      }),
      { numRuns: runs(6, 6, 60) },
    )
  })
})

describe('names in paths keep their case', () => {
  test('for IDs, names and destinations', async () => {
    const { send } = await prepared()
    expect((await send('GET', `/V2/SCHEDULES/${base}`)).json.scheduleId).toBe(base)
    expect((await send('GET', `/v2/schedules/${base.toLowerCase()}`)).status).toBe(404)
    expect((await send('GET', `/v2/Queues/${base.toLowerCase()}`)).status).toBe(404)
    expect((await send('GET', `/v2/Topics/${base.toUpperCase()}`)).status).toBe(404)
    const { messageId } = (await send('POST', '/v2/PUBLISH/https://Shop.test/A%2fB/Publish?Q=Z')).json
    expect((await send('GET', `/v2/Messages/${messageId}`)).json.url).toBe('https://Shop.test/A%2fB/Publish?Q=Z')
    expect((await send('GET', `/v2/messages/${messageId.toLowerCase()}`)).status).toBe(404)
  })

  test('for a flow-control key that is named like an action', async () => {
    const { send } = world()
    await send('POST', '/v2/FLOWCONTROL/Pause/PAUSE')
    expect((await send('GET', '/v2/flowcontrol/Pause')).json).toMatchObject({ flowControlKey: 'Pause', isPaused: true })
    expect((await send('GET', '/v2/flowControl/pause')).status).toBe(404)
  })

  test('in error texts for unknown paths and wrong methods', async () => {
    const { send } = world()
    expect((await send('GET', '/v2/Nothing')).json.error).toBe('endpoint GET /v2/Nothing not found')
    const refused = await send('PUT', '/v2/Keys')
    expect([refused.status, refused.json.error]).toEqual([405, 'method PUT not allowed for /v2/Keys'])
  })
})

describe('other rules that depend on the path ignore its case', () => {
  test('lets fault rules match the endpoint and its names', async () => {
    const { sandbox, send } = await prepared()
    sandbox.faults.add({
      on: 'queue.request',
      match: { path: '/v2/schedules/*', scheduleId: base },
      fault: fault.status(503),
    })
    expect((await send('GET', `/V2/Schedules/${base}`)).status).toBe(503)
    sandbox.faults.clear()
    sandbox.faults.add({ on: 'queue.request', match: { urlGroup: base }, fault: fault.status(502) })
    expect((await send('POST', `/v2/Publish/${base}`)).status).toBe(502)
    expect((await send('GET', `/v2/TOPICS/${base}`)).status).toBe(502)
  })

  test('counts publishes against their own limit', async () => {
    const { send } = world({ policy: { queueBurstLimit: 1, queueDailyLimit: 2 } })
    const statuses: number[] = []
    for (const path of ['/v2/Publish/', '/V2/PUBLISH/', '/v2/publish/'])
      statuses.push((await send('POST', `${path}https://shop.test/x`)).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('requires the token', async () => {
    const { send } = world()
    expect((await send('GET', '/v2/Keys', { token: null })).status).toBe(401)
    expect((await send('GET', '/V2/Readiness', { token: null })).status).toBe(200)
  })
})

describe('requests without a destination', () => {
  const sentence = 'invalid destination: a non-empty destination must be provided'

  test.each([
    '/v2/publish/',
    '/v2/publish',
    '/v2/publish/?service-retries=1',
    '/v2/enqueue/line/',
    '/v2/enqueue/line',
    '/v2/schedules/',
    '/v2/schedules',
  ])('are rejected by POST %s', async (path) => {
    const { send, queue } = world()
    const answer = await send('POST', path, {
      headers: path.includes('schedules') ? { 'service-cron': '* * * * *' } : {},
    })
    expect([answer.status, answer.json]).toEqual([400, { error: sentence }])
    expect(queue.messages).toEqual([])
  })

  test.each([{}, { destination: '' }, { destination: null }])(
    'are rejected as an item of a batch: %j',
    async (item) => {
      const { send, queue } = world()
      const answer = await send('POST', '/v2/batch', { body: [{ destination: 'https://shop.test/x' }, item] })
      expect([answer.status, answer.json]).toEqual([400, { error: sentence }])
      expect(queue.messages).toEqual([])
    },
  )
})
