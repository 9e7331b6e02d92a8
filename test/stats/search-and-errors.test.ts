import { describe, expect, test } from 'vitest'
import { indexId, statsWorld, userId } from './world.js'

const now = '2025-10-23T18:33:05.244Z'
const search = `/v2/search/${indexId}/stats`

describe('the report of a search index', () => {
  test('has zeros with the correct lengths and times', () => {
    const answer = statsWorld(now).get(search)
    const { days, ...rest } = answer
    // Example of the public documentation: five days, Sunday to Thursday, the first one 19 October 2025.
    expect(days).toEqual(['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday'])
    for (const name of ['daily_update_requests', 'daily_query_requests', 'daily_bandwidths', 'daily_rerank_requests']) {
      expect(rest[name]).toHaveLength(5)
      expect(rest[name][0]).toEqual({ x: '2025-10-19 18:33:05.244000000 +0000 UTC', y: 0 })
      expect(rest[name][4].x).toBe('2025-10-23 18:33:05.244000000 +0000 UTC')
    }
    const series = ['query_throughput', 'update_throughput', 'vector_count', 'data_size']
    for (const kind of ['query', 'update', 'embeds', 'rerank'])
      series.push(`${kind}_latency_mean`, `${kind}_latency_99`)
    for (const name of series) {
      expect(rest[name]).toHaveLength(60)
      expect(rest[name][0]).toEqual({ x: '2025-10-23 17:34:00.000 +0000 UTC', y: 0 })
    }
    const counts = Object.entries(rest).filter(([, value]) => !Array.isArray(value))
    expect(counts.map(([name]) => name).sort()).toEqual([
      'current_vector_count',
      'daily_query_count',
      'daily_rerank_count',
      'daily_update_count',
      'monthly_bandwidth_usage',
      'monthly_cost',
      'monthly_query_count',
      'monthly_rerank_count',
      'monthly_update_count',
      'pending_index_count',
      'storage_usage',
    ])
    expect(counts.every(([, value]) => value === 0)).toBe(true)
    expect(Object.keys(answer)).toHaveLength(counts.length + 4 + series.length + 1)
  })

  test('has 240 points for thirty days', () => {
    expect(statsWorld(now).get(`${search}?period=30d`).query_throughput).toHaveLength(240)
  })

  test('has its own fields; once one index is overridden, unknown IDs get 404', () => {
    const { statistics, get, ask } = statsWorld(now)
    statistics.search(indexId).override({ current_vector_count: 1000, monthly_cost: 0.5, daily_query_requests: [3, 7] })
    statistics.search('products').override()
    const answer = get(search)
    expect(answer).toMatchObject({ current_vector_count: 1000, monthly_cost: 0.5 })
    // Five days that end today.
    expect(answer.daily_query_requests.map((point: { y: number }) => point.y)).toEqual([0, 0, 0, 3, 7])
    expect(get('/v2/search/products/stats').current_vector_count).toBe(0)
    expect(ask('/v2/search/2b671a64-40d5-491e-99b0-da01ff1f3341/stats').status).toBe(404)
  })
})

describe('error responses', () => {
  const body = (answer: { body: unknown }): unknown => JSON.parse(answer.body as string)

  test.each([
    ['wrong key', { authorization: `Basic ${btoa('ada@example.com:other')}` }],
    ['wrong user', { authorization: `Basic ${btoa('eve@example.com:key-1')}` }],
    ['no credentials', { authorization: '' }],
    ['another scheme', { authorization: 'Bearer key-1' }],
    ['no base64', { authorization: 'Basic %%%' }],
  ])('401 for %s', (_, headers) => {
    const answer = statsWorld(now).ask(`/v2/queue/stats/${userId}`, headers)
    expect(answer.status).toBe(401)
    expect(answer.headers).toContainEqual(['www-authenticate', 'Basic'])
    expect(body(answer)).toEqual({ error: 'unauthorized', code: '401', message: 'unauthorized' })
  })

  test.each([`/v2/queue/stats/${userId}`, search])('400 for an unknown period: %s', (path) => {
    const { ask } = statsWorld(now)
    for (const period of ['2h', '', '1H', '60', 'toString']) {
      const answer = ask(`${path}?period=${period}`)
      expect([period, answer.status]).toEqual([period, 400])
      expect(body(answer)).toEqual({ error: 'invalid period', code: '400', message: 'invalid period' })
    }
  })

  test.each(['/v2/queue/stats/nobody', '/v2/search/no-uuid/stats', `/v2/vector/${indexId}/stats`])(
    '404 for %s',
    (path) => {
      const answer = statsWorld(now).ask(path)
      expect(answer.status).toBe(404)
      expect(body(answer)).toEqual({ error: 'not found', code: '404', message: 'not found' })
    },
  )

  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('405 for %s', (method) => {
    const answer = statsWorld(now).ask(search, {}, method)
    expect(answer.status).toBe(405)
    expect(answer.headers).toContainEqual(['allow', 'GET'])
    expect(body(answer)).toMatchObject({ error: 'method not allowed', code: '405' })
  })

  test.each([
    ['text/html', 406],
    ['application/xml, text/csv;q=0.5', 406],
    ['application/json;q=0, */*', 406],
    ['application/json', 200],
    ['application/*', 200],
    ['text/html, */*;q=0.1', 200],
  ])('Accept: %s gives %i', (accept, status) => {
    expect(statsWorld(now).ask(search, { accept }).status).toBe(status)
  })
})

test('both IDs identify the user, and the content type is JSON', () => {
  const { ask } = statsWorld(now)
  for (const id of ['defaultUser', userId, userId.toUpperCase()]) {
    const answer = ask(`/v2/queue/stats/${id}`)
    expect([answer.status, answer.headers]).toEqual([200, [['content-type', 'application/json']]])
  }
})

test("the vendor's path segment is valid for the queue only", () => {
  const { ask } = statsWorld(now, {}, 'upstash')
  expect(ask(`/v2/qstash/stats/${userId}`).status).toBe(200)
  expect(ask(search).status).toBe(200)
})
