import { describe, expect, test } from 'vitest'
import { indexId, statsWorld, userId } from './world.js'

const now = '2025-10-23T18:33:05.244Z'
const queue = `/v2/queue/stats/${userId}`
const search = `/v2/search/${indexId}/stats`
const both = [queue, search]
const basic = (plain: string): string => `Basic ${btoa(plain)}`
const body = (answer: { body: unknown }): unknown => JSON.parse(answer.body as string)

/** Shape of every error of this API: clients read `error`, else `message`. [statistics.md 2] */
const refusal = (status: number, text: string) => ({ error: text, code: String(status), message: text })

describe('Basic authentication', () => {
  test.each(both)('accepts the scheme in any case, with blanks around it: %s', (path) => {
    const { ask } = statsWorld(now)
    const credentials = btoa('ada@example.com:key-1')
    for (const authorization of [`basic ${credentials}`, `BASIC   ${credentials}`, `  Basic ${credentials}  `]) {
      expect([authorization, ask(path, { authorization }).status]).toEqual([authorization, 200])
    }
  })

  test('assigns a colon in the key to the key', () => {
    const { ask } = statsWorld(now, {}, 'neutral', { user: 'ada@example.com', key: 'a:b:' })
    expect(ask(queue, { authorization: basic('ada@example.com:a:b:') }).status).toBe(200)
    expect(ask(queue, { authorization: basic('ada@example.com:a') }).status).toBe(401)
  })

  test('decodes characters beyond ASCII as UTF-8', () => {
    const { ask } = statsWorld(now, {}, 'neutral', { user: 'zoë@example.com', key: 'schlüssel' })
    const utf8 = String.fromCharCode(...new TextEncoder().encode('zoë@example.com:schlüssel'))
    expect(ask(queue, { authorization: basic(utf8) }).status).toBe(200)
  })

  test.each([
    ['no colon', basic('ada@example.com')],
    ['an empty key', basic('ada@example.com:')],
    ['no credentials', 'Basic'],
    ['a blank', 'Basic '],
    ['no base64', 'Basic ada@example.com:key-1'],
    ['a word before', `x Basic ${btoa('ada@example.com:key-1')}`],
  ])('responds 401 to %s on both endpoints', (_, authorization) => {
    for (const path of both) {
      const answer = statsWorld(now).ask(path, { authorization })
      expect(answer.status).toBe(401)
      expect(answer.headers).toEqual([
        ['content-type', 'application/json'],
        ['www-authenticate', 'Basic'],
      ])
      expect(body(answer)).toEqual(refusal(401, 'unauthorized'))
    }
  })

  test('precedes all other checks of the request', () => {
    const answer = statsWorld(now).ask('/v2/queue/stats/nobody?period=2h', { authorization: '', accept: 'text/html' })
    expect(answer.status).toBe(401)
  })
})

test('an endpoint without an ID reports the account, which has one user', () => {
  const { ask } = statsWorld(now)
  expect(body(ask('/v2/queue/stats?period=3h'))).toEqual(body(ask(`${queue}?period=3h`)))
  expect(ask('/v2/queue/stats?period=2h').status).toBe(400)
  expect(ask('/v2/queue/stats', { authorization: '' }).status).toBe(401)
  expect(statsWorld(now, {}, 'upstash').ask('/v2/qstash/stats').status).toBe(200)
  const forbidden = statsWorld(now)
  forbidden.statistics.forbid(userId)
  expect(forbidden.ask('/v2/queue/stats').status).toBe(403)
})

describe('parameter period', () => {
  test.each(both)('uses the first of several values: %s', (path) => {
    const { ask, get } = statsWorld(now)
    expect(get(`${path}?period=3h&period=30d`)).toEqual(get(`${path}?period=3h`))
    expect(ask(`${path}?period=&period=1h`).status).toBe(400)
    expect(ask(`${path}?period`).status).toBe(400)
  })

  test('accepts an encoded value among other parameters', () => {
    const { get } = statsWorld(now)
    expect(get(`${queue}?x=1&period=%33%30d&y`).daily_used).toHaveLength(240)
    expect(get(`${queue}?Period=30d`).daily_used).toHaveLength(60)
  })
})

describe('IDs in the path', () => {
  test('are decoded once', () => {
    const { statistics, ask } = statsWorld(now)
    statistics.search('my index').override({ pending_index_count: 1 })
    statistics.search('a/b').override({ pending_index_count: 2 })
    statistics.search('50%25').override({ pending_index_count: 3 })
    const pending = (path: string) => [
      ask(path).status,
      (body(ask(path)) as { pending_index_count?: number }).pending_index_count,
    ]
    expect(pending('/v2/search/my%20index/stats')).toEqual([200, 1])
    expect(pending('/v2/search/a%2Fb/stats')).toEqual([200, 2])
    expect(pending('/v2/search/50%2525/stats')).toEqual([200, 3])
    expect(pending('/v2/search/a/b/stats')).toEqual([404, undefined])
    expect(pending('/v2/search/MY%20INDEX/stats')).toEqual([404, undefined])
  })

  test('reading the report of an index in a test does not create the index', () => {
    const { statistics, ask } = statsWorld(now)
    statistics.search('products').report()
    expect(ask('/v2/search/products/stats').status).toBe(404)
    statistics.search('products').override()
    expect(ask('/v2/search/products/stats').status).toBe(200)
    statistics.search('products').clear()
    expect(ask('/v2/search/products/stats').status).toBe(404)
  })

  test('of another account get 403 until clear() is called', () => {
    const { statistics, ask } = statsWorld(now)
    const foreign = '0c0e0f10-0000-4000-8000-000000000001'
    statistics.forbid(foreign)
    for (const path of [`/v2/queue/stats/${foreign}`, `/v2/search/${foreign.toUpperCase()}/stats`]) {
      const answer = ask(path)
      expect(answer.status).toBe(403)
      expect(body(answer)).toEqual(refusal(403, 'forbidden'))
    }
    expect(ask(queue).status).toBe(200)
    statistics.clear()
    expect(ask(`/v2/search/${foreign}/stats`).status).toBe(200)
  })
})

describe('paths of the endpoints', () => {
  test.each([
    '/v2/search//stats',
    `/v2/search/${indexId}/stats/daily`,
    `/v2/vector/${indexId}/stats`,
    '/v2/vector/stats',
    `/v2/redis/stats/${indexId}`,
    `/v2/queue/${userId}/stats`,
    '/v2/queue/user',
    '/v2/redis/database',
    '/v2/redis/stats',
    '/start-redis/metrics',
    `/v1/queue/stats/${userId}`,
    `/v2/Queue/stats/${userId}`,
    `/v2/QUEUE/STATS/${userId}`,
    '/',
  ])('%s is unknown', (path) => {
    const answer = statsWorld(now).ask(path)
    expect(answer.status).toBe(404)
    expect(answer.headers).toEqual([['content-type', 'application/json']])
    expect(body(answer)).toEqual(refusal(404, 'not found'))
  })

  test.each(both)('accepts a slash at the end: %s', (path) => {
    expect(statsWorld(now).get(`${path}/`)).toEqual(statsWorld(now).get(path))
  })

  test("accepts the vendor's path segment instead of the neutral one", () => {
    const { ask } = statsWorld(now, {}, 'upstash')
    expect(ask(queue).status).toBe(404)
    expect(ask(`/v2/qstash/stats/${userId}`).status).toBe(200)
    expect(statsWorld(now).ask(`/v2/qstash/stats/${userId}`).status).toBe(404)
  })
})

describe('methods of the endpoints', () => {
  test.each(['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s gets 405 on both endpoints', (method) => {
    for (const path of both) {
      const answer = statsWorld(now).ask(path, {}, method)
      expect(answer.status).toBe(405)
      expect(answer.headers).toEqual([
        ['content-type', 'application/json'],
        ['allow', 'GET'],
      ])
      if (method === 'HEAD') expect(answer.body).toBeNull()
      else expect(body(answer)).toEqual(refusal(405, 'method not allowed'))
    }
  })
})

test('another format gets 406 on both endpoints; the content type of a GET is ignored', () => {
  for (const path of both) {
    const { ask } = statsWorld(now)
    const answer = ask(path, { accept: 'application/xml' })
    expect(answer.status).toBe(406)
    expect(body(answer)).toEqual(refusal(406, 'not acceptable'))
    expect(ask(path, { 'content-type': 'application/json' }).status).toBe(200)
    expect(ask(path, { accept: 'application/json; charset=utf-8, text/plain' }).status).toBe(200)
  }
})

test('the same request at the same time gets the same bytes', () => {
  const { ask } = statsWorld(now)
  for (const path of both) expect(ask(`${path}?period=7d`).body).toBe(ask(`${path}?period=7d`).body)
})
