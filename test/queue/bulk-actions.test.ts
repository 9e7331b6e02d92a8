import { createSandbox, type Policy } from 'stuntdouble'
import { loadTrace } from 'stuntdouble/report'
import { describe, expect, test } from 'vitest'
import { connectedSandbox } from '../support/sandbox.js'
import { shop, type World, world } from './world.js'

const start = Date.UTC(2030, 0, 1)

/** A sandbox with `count` messages that are due in 90 days. Message `n` has the labels `n` and `odd` or `even`. */
function filled(count: number, policy: Partial<Policy> = {}): World {
  const at = world({ policy })
  for (let n = 0; n < count; n++)
    at.queue.publish({ to: shop, delay: '90d', label: `${n},${n % 2 === 0 ? 'even' : 'odd'}` })
  return at
}

const left = ({ queue }: World): number => queue.messages.length

const cancel = async (
  at: World,
  query = '',
  body?: unknown,
): Promise<[status: number, json: Record<string, unknown>]> => {
  const { status, json } = await at.send('DELETE', `/v2/messages${query}`, { body })
  return [status, json]
}

const read = async (at: World, path: string): Promise<[status: number, json: Record<string, unknown>]> => {
  const { status, json } = await at.send('GET', `/v2/bulkActions${path}`)
  return [status, json]
}

/** Begins a bulk action and returns its ID. */
async function begun(at: World, query = ''): Promise<string> {
  const [, { actionId }] = await cancel(at, `?async=true${query}`)
  return actionId as string
}

describe('a cancel by filters [queue.md 1.5]', () => {
  test('of everything by the SDK is one request for 150 messages, with any count', async () => {
    const { Client } = await import('@upstash/qstash')
    const sandbox = connectedSandbox()
    const client = new Client({ baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue })
    for (let n = 0; n < 150; n++) sandbox.queue.publish({ to: shop, delay: '1d', label: n < 130 ? 'most' : 'few' })
    const requests = (): number => sandbox.traffic.ofType('request').length
    expect(await client.messages.cancel({ filter: { label: 'most' } })).toEqual({ cancelled: 130 })
    expect([sandbox.queue.messages.length, requests()]).toEqual([20, 1])
    for (let n = 0; n < 130; n++) sandbox.queue.publish({ to: shop, delay: '1d' })
    expect(await client.messages.cancel({ all: true })).toEqual({ cancelled: 150 })
    expect([sandbox.queue.messages, requests()]).toEqual([[], 2])
    expect(await client.messages.cancel([])).toEqual({ cancelled: 0 })
    expect(requests()).toBe(2)
    const request = sandbox.traffic.ofType('request')[1]!
    expect([request.url, request.response!.status]).toEqual([expect.stringContaining('count=100'), 202])
  })

  test('has the ID of its action only with async', async () => {
    const at = filled(6)
    expect(await cancel(at, '?label=1')).toEqual([202, { cancelled: 1 }])
    expect(await cancel(at, '?label=2&async=false')).toEqual([202, { cancelled: 1 }])
    const id = expect.stringMatching(/^act_[0-9A-Za-z]{20}$/)
    expect(await cancel(at, '?label=3&async=true')).toEqual([202, { cancelled: 1, actionId: id }])
    expect(await cancel(at, '', { label: '4', async: true })).toEqual([202, { cancelled: 1, actionId: id }])
    expect(await cancel(at, '', { async: false })).toEqual([202, { cancelled: 2 }])
    const [, { bulkActions }] = await read(at, '')
    expect(bulkActions).toHaveLength(5)
  })

  test('by IDs is no bulk action, even with async', async () => {
    const at = filled(2)
    const { id } = at.queue.messages[0]!
    expect(await cancel(at, `?messageIds=${id}&async=true`)).toEqual([202, { cancelled: 1 }])
    expect((await at.send('DELETE', `/v2/messages/${at.queue.messages[0]!.id}`)).status).toBe(202)
    expect(await read(at, '')).toEqual([200, { bulkActions: [] }])
  })

  test('with too many values is rejected before they are compared', async () => {
    const at = filled(2)
    const values = Array.from({ length: 10_001 }, (_, n) => `${n}`)
    const tooMany = { error: 'invalid filter: it has more than 10000 values' }
    expect(await cancel(at, '', { label: values })).toEqual([400, tooMany])
    expect(await cancel(at, '', { label: values.slice(5000), host: values.slice(0, 5000).join() })).toEqual([
      400,
      tooMany,
    ])
    expect(await cancel(at, '', { label: values.slice(2) })).toEqual([202, { cancelled: 0 }])
    expect((await cancel(at, '', { label: 'x'.repeat(1_048_576) }))[0]).toBe(400)
    expect(left(at)).toBe(2)
  })

  test('with a filter without a value matches nothing', async () => {
    const at = filled(2, { bulkActionTime: '1m' })
    expect(await cancel(at, '?label=&async=true')).toEqual([202, { cancelled: 0, actionId: expect.any(String) }])
    // It is not the same action as a cancel of everything, which has no filter at all.
    expect(await cancel(at, '?async=true')).toEqual([202, { cancelled: 2, actionId: expect.any(String) }])
  })

  test('takes messages in every state: delayed, waiting for a retry, a turn or flow control, and in flight', async () => {
    const at = world()
    at.destinations.respond('https://shop.test/bad', 500)
    at.destinations.respond('https://shop.test/slow', async (_delivery, task) => {
      await task.sleep('1h')
      return 500
    })
    at.queue.publish({ to: shop, delay: '1d' })
    at.queue.publish({ to: 'https://shop.test/bad' })
    at.queue.publish({ to: 'https://shop.test/slow', queue: 'line', timeout: '2h' })
    at.queue.publish({ to: shop, queue: 'line' })
    for (let n = 0; n < 2; n++)
      at.queue.publish({
        to: 'https://shop.test/slow',
        flowControlKey: 'k',
        flowControlValue: 'parallelism=1',
        timeout: '2h',
      })
    await at.clock.advance('1s')
    expect(await cancel(at)).toEqual([202, { cancelled: 6 }])
    expect(await cancel(at)).toEqual([202, { cancelled: 0 }])
    await at.clock.drain()
    expect(at.queue.deadLetters).toEqual([])
    expect(at.traffic.ofType('message').filter(({ state }) => state === 'CANCELLED')).toHaveLength(6)
  })
})

describe('bulk actions [queue.md 1.5]', () => {
  test('can be read with all their fields until seven days after their creation', async () => {
    const at = filled(3)
    await at.clock.advance('1h')
    const id = await begun(
      at,
      `&label=even,x&label=x&urlGroup=&callerIP=127.0.0.1&toDate=${start}&url=https://a.test/?q=1,2&count=7`,
    )
    const [, all] = await read(at, '')
    const action = {
      actionId: id,
      kind: 'cancel',
      state: 'FINISHED',
      total: 0,
      processed: 0,
      createdAt: start + 3_600_000,
      completedAt: start + 3_600_000,
      filter: {
        label: ['even', 'x'],
        topicName: [''],
        callerIp: ['127.0.0.1'],
        toDate: [String(start)],
        url: ['https://a.test/?q=1,2'],
      },
    }
    expect(await read(at, `/${id}`)).toEqual([200, action])
    expect(all).toEqual({ bulkActions: [action] })
    await at.clock.advance('6d23h59m59s')
    expect(await read(at, `/${id}`)).toEqual([200, action])
    await at.clock.advance('1s')
    expect(await read(at, `/${id}`)).toEqual([404, { error: `bulk action ${id} not found` }])
    expect(await read(at, '')).toEqual([200, { bulkActions: [] }])
  })

  test('are listed newest first, in pages; the state selects within a page', async () => {
    const at = filled(0, { bulkActionTime: '1h' })
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      ids.unshift(await begun(at, `&label=${n}`))
      await at.clock.advance('20m')
    }
    // The first three have finished by now: those of minutes 0, 20 and 40.
    const page = async (query: string): Promise<[ids: string[], cursor: string | undefined]> => {
      const { bulkActions, cursor } = (await at.send('GET', `/v2/bulkActions?${query}`)).json
      return [bulkActions.map(({ actionId }: { actionId: string }) => actionId), cursor]
    }
    expect(await page('')).toEqual([ids, undefined])
    const [first, cursor] = await page('count=2')
    expect(first).toEqual(ids.slice(0, 2))
    const [second, next] = await page(`count=2&cursor=${cursor}`)
    expect(second).toEqual(ids.slice(2, 4))
    expect(await page(`count=2&cursor=${next}`)).toEqual([ids.slice(4), undefined])
    expect(await page('state=FINISHED&count=2')).toEqual([[], cursor])
    expect(await page('state=IN_PROGRESS&count=2')).toEqual([ids.slice(0, 2), cursor])
    expect(await page(`state=FINISHED&count=2&cursor=${cursor}`)).toEqual([ids.slice(2, 4), next])
    expect(await page('state=FINISHED')).toEqual([ids.slice(2), undefined])
  })

  test('have pages of 100, or of at most 1000', async () => {
    const at = filled(0)
    for (let n = 0; n < 1001; n++) at.queue.cancelMessages()
    const counts = ['', '?count=1000', '?count=5000', '?count=1'].map(async (query) => {
      const [, { bulkActions, cursor }] = await read(at, query)
      return [(bulkActions as unknown[]).length, typeof cursor]
    })
    expect(await Promise.all(counts)).toEqual([
      [100, 'string'],
      [1000, 'string'],
      [1000, 'string'],
      [1, 'string'],
    ])
  })

  test.each(['count=0', 'count=x', 'count=-1', 'cursor=x', 'state=DONE', 'state=finished', 'label=a'])(
    'rejects the query %s with 400',
    async (query) => {
      expect((await read(filled(0), `?${query}`))[0]).toBe(400)
    },
  )

  test('need a token, and respond 405 to other methods', async () => {
    const at = filled(0)
    for (const path of ['/v2/bulkActions', '/v2/bulkactions/act_x', '/v2/workflows/bulkActions']) {
      expect((await at.send('GET', path, { token: null })).status).toBe(401)
      expect((await at.send('POST', path)).status).toBe(405)
    }
  })
})

describe('policy.bulkActionTime', () => {
  test('cancels the oldest messages first, in equal steps, and later messages not at all', async () => {
    const at = filled(3, { bulkActionTime: '30s' })
    const ids = at.queue.messages.map(({ id }) => id)
    const id = await begun(at)
    const late = at.queue.publish({ to: shop, delay: '90d' }).id
    for (const [processed, remaining] of [
      [0, ids],
      [1, ids.slice(1)],
      [2, ids.slice(2)],
    ] as const) {
      expect(at.queue.messages.map((message) => message.id)).toEqual([...remaining, late])
      const [, action] = await read(at, `/${id}`)
      expect(action).toMatchObject({ state: 'IN_PROGRESS', total: 3, processed })
      expect(action).not.toHaveProperty('completedAt')
      await at.clock.advance('10s')
    }
    expect(at.queue.messages.map((message) => message.id)).toEqual([late])
    expect(await read(at, `/${id}`)).toMatchObject([
      200,
      { state: 'FINISHED', processed: 3, completedAt: start + 30_000 },
    ])
  })

  test('skips messages that ended meanwhile, which still count as processed', async () => {
    const at = world({ policy: { bulkActionTime: '40s' } })
    at.destinations.respond(shop, 200)
    for (const delay of ['1s', '90d', '90d', '15s'] as const) at.queue.publish({ to: shop, delay })
    const id = await begun(at)
    await at.clock.advance('10s')
    expect(await read(at, `/${id}`)).toMatchObject([200, { processed: 1 }])
    await at.clock.advance('30s')
    expect(await read(at, `/${id}`)).toMatchObject([200, { total: 4, processed: 4, state: 'FINISHED' }])
    expect([left(at), at.traffic.ofType('attempt').length]).toEqual([0, 2])
  })

  test('has at most 100 steps, and cancels all of many messages', async () => {
    const at = filled(250, { bulkActionTime: 1000 })
    const id = await begun(at)
    const seen = new Set<unknown>()
    for (let ms = 0; ms < 1000; ms += 5) {
      const [, { processed }] = await read(at, `/${id}`)
      expect(left(at)).toBe(250 - Number(processed))
      seen.add(processed)
      await at.clock.advance(5)
    }
    expect([left(at), seen.size]).toEqual([0, 100])
  })

  test('gives the action in progress for the same filters, in any order', async () => {
    const at = filled(9, { bulkActionTime: '30s' })
    const id = await begun(at, '&label=even,1&host=shop.test')
    await at.clock.advance('10s')
    at.queue.publish({ to: shop, delay: '90d', label: 'even' })
    expect(await cancel(at, '?host=shop.test&label=1&label=even&label=1&async=true&count=3')).toEqual([
      202,
      { cancelled: 6, actionId: id },
    ])
    for (const other of ['&label=even', '&label=even,1', '&label=even,1&host=shop.test&path=/orders', ''])
      expect(await begun(at, other)).not.toBe(id)
    await at.clock.advance('30s')
    expect(await begun(at, '&label=even,1&host=shop.test')).not.toBe(id)
  })

  test('makes a cancel without async wait for the end', async () => {
    const at = filled(2, { bulkActionTime: '1m' })
    const answer = at.send('DELETE', '/v2/messages')
    await at.clock.advance('59s')
    const joined = at.send('DELETE', '/v2/messages?async=false')
    expect(left(at)).toBe(1)
    await at.clock.advance('1s')
    expect([(await answer).status, (await answer).json]).toEqual([202, { cancelled: 2 }])
    expect((await joined).json).toEqual({ cancelled: 2 })
    expect(left(at)).toBe(0)
    const [request] = at.traffic.ofType('request')
    expect(request!.response!.at).toBe(start + 60_000)
  })

  test('makes a cancel without async fail with 429 after one minute, and the action continues', async () => {
    const at = filled(2, { bulkActionTime: 60_001 })
    const answer = at.send('DELETE', '/v2/messages?label=0,1')
    await at.clock.advance('1m')
    expect([(await answer).status, (await answer).json]).toEqual([429, { error: expect.stringMatching(/continues/) }])
    expect(left(at)).toBe(1)
    await at.clock.advance(1)
    expect(left(at)).toBe(0)
    expect(at.queue.bulkActions).toMatchObject([{ state: 'FINISHED', completedAt: start + 60_001 }])
  })

  test('in mode auto, moves time until the response', async () => {
    const sandbox = createSandbox({ clock: 'auto', policy: { bulkActionTime: '50s' } })
    sandbox.queue.publish({ to: shop, delay: '90d' })
    const headers = { authorization: `Bearer ${sandbox.tokens.queue}` }
    const response = await sandbox.fetch(`${sandbox.urls.queue}/v2/messages`, { method: 'DELETE', headers })
    expect([response.status, await response.json()]).toEqual([202, { cancelled: 1 }])
  })

  test('lets at most 1000 actions be in progress, for messages and runs separately', async () => {
    const at = filled(1, { bulkActionTime: '1m' })
    for (let n = 0; n < 1000; n++) at.queue.cancelMessages({ label: `l${n}` })
    expect(await cancel(at, '?async=true')).toEqual([
      412,
      { error: 'quota maxBulkActions exceeded, current limit: 1000' },
    ])
    expect(() => at.queue.cancelMessages()).toThrow('maxBulkActions')
    expect(await cancel(at, '?label=l7&async=true')).toMatchObject([202, { cancelled: 0 }])
    expect((await at.send('DELETE', '/v2/workflows/runs?async=true')).status).toBe(202)
    expect(await cancel(at, `?messageIds=${at.queue.messages[0]!.id}`)).toEqual([202, { cancelled: 1 }])
    await at.clock.advance('1m')
    expect((await cancel(at, '?async=true'))[0]).toBe(202)
  })

  test('rejects filters of actions in progress that need too much memory together', async () => {
    const at = filled(0, { bulkActionTime: '1m', maxTrafficBytes: 16_000_000 })
    const label = 'x'.repeat(1000)
    const answers: unknown[] = []
    for (let n = 0; n < 3; n++)
      answers.push(
        (await cancel(at, '', { async: true, label: Array.from({ length: 400 }, (_, k) => `${n}-${k}${label}`) }))[0],
      )
    expect(answers).toEqual([202, 202, 412])
    expect((await cancel(at, '?async=true&label=short'))[0]).toBe(202)
    await at.clock.advance('1m')
    expect(
      (await cancel(at, '', { async: true, label: Array.from({ length: 400 }, (_, k) => `${k}${label}`) }))[0],
    ).toBe(202)
  })

  test('honors count together with it', async () => {
    const at = filled(5, { bulkActionTime: '10s', cancelCount: 'honored' })
    const rest = at.queue.messages.slice(2).map(({ id }) => id)
    const two = await begun(at, '&count=2')
    expect(await begun(at, '&count=3')).not.toBe(two)
    at.queue.reset()
    for (let n = 0; n < 5; n++) at.queue.publish({ to: shop, delay: '90d' })
    expect(rest).toHaveLength(3)
    const kept = at.queue.messages.slice(2).map(({ id }) => id)
    await begun(at, '&count=2&order=latestFirst')
    await at.clock.advance('10s')
    expect(at.queue.messages.map(({ id }) => id)).toEqual(kept)
  })

  test('a reset ends actions in progress, and the waiting request gets its response', async () => {
    const at = filled(2, { bulkActionTime: '30s' })
    const answer = at.send('DELETE', '/v2/messages')
    await at.clock.advance('1s')
    at.queue.reset()
    expect(at.queue.bulkActions).toEqual([])
    at.queue.publish({ to: shop, delay: '90d' })
    await at.clock.advance('1m')
    expect((await answer).status).toBe(202)
    expect(left(at)).toBe(1)
    expect(at.clock.pending).toHaveLength(1)
  })
})

describe('a dump', () => {
  test('has bulk actions, and one in progress continues where it was', async () => {
    const at = filled(10, { bulkActionTime: '100s' })
    at.queue.cancelMessages({ label: '9' })
    await at.clock.advance('100s')
    const id = await begun(at, '&label=even,odd')
    await at.clock.advance('35s')
    const dump = JSON.parse(JSON.stringify(at.sandbox.dump()))
    expect(dump.queue.bulkActions).toMatchObject([
      { processed: 1, completedAt: start + 100_000 },
      { id, total: 9, processed: 3 },
    ])
    // The policy of the other sandbox counts only for its own actions.
    const other = world({ policy: {} })
    await other.sandbox.load(dump)
    const late = other.sandbox.queue.publish({ to: shop, delay: '90d', label: 'odd' }).id
    for (const sandbox of [at.sandbox, other.sandbox]) await sandbox.clock.advance('31s')
    const lives = (sandbox: typeof at.sandbox): string[] => sandbox.queue.messages.map((message) => message.id)
    expect(lives(other.sandbox)).toEqual([...lives(at.sandbox), late])
    for (const sandbox of [at.sandbox, other.sandbox]) await sandbox.clock.advance('40s')
    expect([lives(at.sandbox), lives(other.sandbox)]).toEqual([[], [late]])
    expect(JSON.stringify(other.sandbox.queue.bulkActions)).toBe(JSON.stringify(at.queue.bulkActions))
    expect(other.sandbox.queue.bulkActions[1]).toMatchObject({ state: 'FINISHED', processed: 9 })
  })

  test('moves the times of actions with rebaseTime', async () => {
    const at = filled(2, { bulkActionTime: '1h' })
    at.queue.cancelMessages()
    await at.clock.advance('30m')
    const dump = at.sandbox.dump()
    const other = world({ startAt: '2029-01-01T00:00:00Z' })
    await other.sandbox.load(dump, { rebaseTime: true, at: '2029-01-01T00:00:00Z' })
    const [action] = other.sandbox.queue.bulkActions
    expect(action).toMatchObject({ createdAt: Date.UTC(2028, 11, 31, 23, 30), processed: 1 })
    await other.sandbox.clock.advance('30m')
    expect(action).toMatchObject({ state: 'FINISHED', processed: 2 })
  })

  test.each([
    ['filter', { constructor: ['x'] }, '"constructor" is not known'],
    ['filter', { label: [] }, 'list of texts'],
    ['filter', { label: [1] }, 'list of texts'],
    ['filter', ['label'], 'list of texts'],
    ['filter', JSON.parse('{"__proto__": ["x"]}'), '"__proto__" is not known'],
    ['processed', 3, 'has processed 3 records of 2'],
    ['resource', 'schedules', 'bulkActions.0.resource'],
    ['createdAt', start + 1e12, 'was accepted at'],
    ['completedAt', start + 1e12, 'finished at'],
    ['through', 'msg_nobody', 'cancels up to msg_nobody, which is not in the dump'],
  ])('with the %s %j is rejected, and nothing changes', async (name, value, text) => {
    const at = filled(2, { bulkActionTime: '1h' })
    at.queue.cancelMessages()
    const dump = at.queue.dump()
    const bad = { ...dump, bulkActions: [{ ...dump.bulkActions![0]!, [name]: value }] }
    expect(() => at.queue.load(bad)).toThrow(text)
    expect(at.queue.dump()).toEqual(dump)
    await at.clock.advance('1h')
    expect(left(at)).toBe(0)
  })

  test('with two actions of the same ID is rejected', () => {
    const at = filled(0)
    at.queue.cancelMessages()
    const dump = at.queue.dump()
    expect(() => at.queue.load({ ...dump, bulkActions: [...dump.bulkActions!, ...dump.bulkActions!] })).toThrow(
      'two bulk actions act_',
    )
  })
})

describe('the traffic log', () => {
  test('has one entry for an action that finishes immediately, and two for a longer one', async () => {
    const at = filled(4)
    await cancel(at, '?label=odd&path=/orders')
    const longer = filled(4, { bulkActionTime: '1m' })
    await begun(longer)
    await longer.clock.advance('1m')
    expect(at.traffic.ofType('bulk-action')).toEqual([
      {
        seq: at.traffic.last()!.seq,
        at: start,
        cause: at.traffic.ofType('request')[0]!.seq,
        type: 'bulk-action',
        actionId: at.queue.bulkActions[0]!.id,
        resource: 'messages',
        state: 'FINISHED',
        total: 2,
        filter: { label: ['odd'], path: ['/orders'] },
      },
    ])
    const [first, second] = longer.traffic.ofType('bulk-action')
    expect([first!.state, second!.state, second!.cause]).toEqual(['IN_PROGRESS', 'FINISHED', first!.seq])
    const id = at.queue.bulkActions[0]!.id
    expect(at.traffic.timeline()).toContain(
      `bulk action ${id} to cancel 2 messages (label odd; path /orders): FINISHED`,
    )
    expect(longer.traffic.timeline()).toMatch(/bulk action act_\w+ to cancel 4 messages: IN_PROGRESS/)
    const trace = loadTrace(JSON.stringify(at.traffic))
    expect(trace.ofType('bulk-action')).toEqual(at.traffic.ofType('bulk-action'))
    expect(at.traffic.filter({ type: 'bulk-action', total: 2 })).toHaveLength(1)
  })

  test('shortens many values and hides secrets in the timeline', async () => {
    const at = filled(0)
    const labels = Array.from({ length: 9 }, (_, n) => `label=l${n}`).join('&')
    await cancel(at, `?${labels}&url=${encodeURIComponent('https://a.test/?token=hunter2secret')}`)
    const timeline = at.traffic.timeline()
    expect(timeline).toContain('label l0, l1, l2, l3, l4 … (9 values)')
    expect(timeline).not.toContain('hunter2secret')
  })
})

describe('queue.cancelMessages()', () => {
  test('cancels by filters, and without any cancels all', () => {
    const at = filled(6)
    at.queue.publish({ to: 'https://other.test/x', queue: 'line', delay: '90d' })
    const action = at.queue.cancelMessages({ label: ['0', '1'], host: 'shop.test', fromDate: '2030-01-01T00:00:00Z' })
    expect(JSON.parse(JSON.stringify(action))).toEqual({
      id: action.id,
      resource: 'messages',
      state: 'FINISHED',
      total: 2,
      processed: 2,
      createdAt: start,
      completedAt: start,
      filter: { label: ['0', '1'], host: ['shop.test'], fromDate: [String(start)] },
    })
    expect(at.queue.cancelMessages({ queueName: 'line', toDate: start }).total).toBe(1)
    expect(at.queue.cancelMessages({ fromDate: start + 1 }).total).toBe(0)
    expect([at.queue.cancelMessages().total, left(at)]).toEqual([4, 0])
    expect(at.queue.bulkActions.map(({ total }) => total)).toEqual([2, 1, 0, 4])
  })

  test('rejects unknown filters and missing values, which would cancel too much', () => {
    const at = filled(1)
    for (const [filter, text] of [
      [{ lable: 'a' }, 'Did you mean "label"'],
      [{ label: undefined }, 'label must be a text'],
      [{ label: '' }, 'label must be a text'],
      [{ label: [] }, 'label must be a text'],
      [{ label: 7 }, 'label must be a text'],
      [{ messageIds: ['x'] }, 'messageIds'],
      [null, 'must be an object of filters'],
      ['a', 'must be an object of filters'],
      [{ fromDate: 'soon' }, 'soon'],
    ] as const)
      expect(() => at.queue.cancelMessages(filter as never), JSON.stringify(filter)).toThrow(text)
    expect(left(at)).toBe(1)
  })
})
