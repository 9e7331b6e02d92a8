import { beforeEach, describe, expect, test } from 'vitest'
import { type Bytes, latin1, text, utf8 } from '../../../../src/kernel/bytes.js'
import { Clock } from '../../../../src/kernel/clock.js'
import { TrafficLog } from '../../../../src/kernel/traffic-log.js'
import { locator, sandboxUrlsOf } from '../../../../src/protocol/address.js'
import { basicCredentials, bearerToken, empty, HttpError, json, queryToken } from '../../../../src/protocol/call.js'
import { upstashDialect } from '../../../../src/protocol/dialect.js'
import { createGateway } from '../../../../src/protocol/gateway.js'
import type {
  Endpoint,
  Exchange,
  RawRequest,
  RawResponse,
  Service,
  ServiceRequest,
} from '../../../../src/protocol/service.js'

/** The request that an endpoint of the test service received. */
interface Seen {
  params: unknown
  rest: string
  path: string
  query: string
  settings: unknown
  body: string
  region: string | undefined
  user: unknown
}

const seen = (call: ServiceRequest): Seen => ({
  params: call.params,
  rest: call.rest,
  path: call.path,
  query: call.query,
  settings: Object.fromEntries(call.settings),
  body: text(call.body),
  region: call.region,
  user: call.user,
})

const endpoint = (
  method: string | string[],
  path: string,
  run: Endpoint<unknown>['run'] = (call) => json(seen(call)),
  auth: Endpoint<unknown>['auth'] = 'none',
): Endpoint<unknown> => ({ method, path, auth, summary: '', run })

const endpoints = [
  endpoint('GET', '/v2/things/:name'),
  endpoint('DELETE', '/v2/things/:name', () => empty(202)),
  endpoint('GET', '/v2/things/special', () => json('special')),
  endpoint(['POST', 'PUT'], '/v2/publish/**'),
  endpoint('GET', '/v2/secret', undefined, 'bearer'),
  endpoint('GET', '/v2/words', () => json(1, 200, [['service-sync-token', 'abc']])),
  endpoint('GET', '/v2/refused', () => {
    throw new HttpError(412, 'quota exceeded')
  }),
  endpoint('GET', '/v2/refused-later', async () => {
    throw new HttpError(404, 'not there')
  }),
  endpoint('GET', '/v2/bug', () => {
    throw new RangeError('a bug')
  }),
  endpoint('GET', '/v2/slow', async () => {
    await Promise.resolve()
    return json('slow')
  }),
]

function toy(name: 'queue' | 'stats', table: Endpoint<unknown>[]): Service {
  return {
    name,
    state: undefined,
    endpoints: table,
    authorize(call) {
      const token = bearerToken(call) ?? queryToken(call, 'qstash_token')
      if (token !== 'right') return json({ error: 'unauthorized' }, 401)
      call.user = 'owner'
      return undefined
    },
    notFound: (call) => json({ error: `no ${call.path}` }, 404),
    methodNotAllowed: (_, allowed) => empty(405, [['allow', allowed.join(', ')]]),
    failure: (error) => (error instanceof HttpError ? json({ error: error.message }, error.status) : undefined),
  }
}

let clock: Clock
let traffic: TrafficLog
let exchange: Exchange
beforeEach(() => {
  clock = new Clock({ startAt: 0 })
  traffic = new TrafficLog({ now: () => clock.now() })
  const queue = toy('queue', endpoints)
  const stats = toy('stats', [endpoint('GET', '/v2/queue/stats/:id')])
  exchange = createGateway({
    locate: locator(sandboxUrlsOf()),
    dialect: upstashDialect,
    serviceAt: ({ service }) => (service === 'queue' ? queue : stats),
    clock,
    traffic,
  })
})

const call = (method: string, url: string, headers: RawRequest['headers'] = [], body = ''): RawRequest => ({
  method,
  url: url.startsWith('/') ? `https://queue.test${url}` : url,
  headers,
  body: () => utf8(body),
})

const body = (answer: RawResponse): unknown => JSON.parse(text(answer.body as Bytes))
const ask = async (...given: Parameters<typeof call>): Promise<RawResponse> => exchange(call(...given))

describe('routing', () => {
  test('decodes path parameters, and keeps a broken escape', async () => {
    expect(body(await ask('GET', '/v2/things/a%2Fb%20c'))).toMatchObject({ params: { name: 'a/b c' } })
    expect(body(await ask('GET', '/v2/things/100%'))).toMatchObject({ params: { name: '100%' } })
  })

  test('prefers an exact path to a pattern', async () => {
    expect(body(await ask('GET', '/v2/things/special'))).toBe('special')
  })

  test('accepts a trailing slash', async () => {
    expect((await ask('GET', '/v2/secret/', [['authorization', 'Bearer right']])).status).toBe(200)
  })

  test.each([
    ['https://shop.test/a?b=1', 'https://shop.test/a', 'b=1'],
    ['https://shop.test//a//', 'https://shop.test//a//', ''],
    ['https%3A%2F%2Fshop.test', 'https%3A%2F%2Fshop.test', ''],
    ['group', 'group', ''],
  ])('passes the rest of a path undecoded: %s', async (destination, rest, query) => {
    expect(body(await ask('POST', `/v2/publish/${destination}`))).toMatchObject({ rest, query })
    expect(body(await ask('PUT', `/v2/publish/${destination}`))).toMatchObject({ rest })
  })

  test('lets the service respond to an unknown path', async () => {
    const answer = await ask('GET', '/v3/things')
    expect([answer.status, body(answer)]).toEqual([404, { error: 'no /v3/things' }])
  })

  test('lists the allowed methods for a known path with another method', async () => {
    const answer = await ask('POST', '/v2/things/a')
    expect([answer.status, answer.headers]).toEqual([405, [['allow', 'GET, DELETE']]])
  })

  test('detects the region', async () => {
    expect(body(await ask('GET', '/v2/things/a'))).toMatchObject({ region: 'eu-central-1' })
    expect(body(await ask('GET', 'https://us-east-1.queue.test/v2/things/a'))).toMatchObject({ region: 'us-east-1' })
  })

  test('throws for a URL of another host', () => {
    expect(() => exchange(call('GET', 'https://shop.test/'))).toThrow(
      /exchange\(\).*https:\/\/shop\.test\/.*sandbox\.owns\(url\)/,
    )
  })
})

describe('the dialect of the vendor', () => {
  test('is removed from headers, but not from a query, which may belong to the destination', async () => {
    const answer = await ask(
      'POST',
      '/v2/publish/https://shop.test/?upstash-delay=5s&upstash-retries=1&a=b',
      [
        ['Upstash-Retries', '3'],
        ['x-own', '1'],
      ],
      'grüße',
    )
    expect(body(answer)).toMatchObject({
      settings: { retries: '3' },
      query: 'upstash-delay=5s&upstash-retries=1&a=b',
      body: 'grüße',
    })
  })

  test('is removed from management paths', async () => {
    expect(body(await ask('GET', 'https://mgmt.test/v2/qstash/stats/7'))).toMatchObject({
      path: '/v2/queue/stats/7',
      params: { id: '7' },
    })
  })

  test('is added to responses', async () => {
    const answer = await ask('GET', '/v2/words')
    expect(answer.headers).toContainEqual(['upstash-sync-token', 'abc'])
  })
})

describe('tokens', () => {
  test.each([
    ['in the header', '/v2/secret', [['Authorization', 'Bearer right']]],
    ['in the header without the word', '/v2/secret', [['authorization', 'right']]],
    ['in the query', '/v2/secret?qstash_token=right', []],
  ] as const)('%s', async (_, path, headers) => {
    expect(body(await ask('GET', path, headers))).toMatchObject({ user: 'owner' })
  })

  test.each([
    ['wrong', '/v2/secret', [['authorization', 'Bearer wrong']]],
    ['missing', '/v2/secret', []],
    ['empty', '/v2/secret', [['authorization', '']]],
  ] as const)('%s', async (_, path, headers) => {
    const answer = await ask('GET', path, headers)
    expect([answer.status, body(answer)]).toEqual([401, { error: 'unauthorized' }])
  })

  test('splits basic credentials at the first colon', () => {
    const given = (value: string): ServiceRequest => ({ header: () => value }) as unknown as ServiceRequest
    const encoded = Buffer.from('ann@shop.test:pass:word ü').toString('base64')
    expect(basicCredentials(given(`Basic ${encoded}`))).toEqual({ user: 'ann@shop.test', password: 'pass:word ü' })
    expect(basicCredentials(given('Basic %%%'))).toBeUndefined()
    expect(basicCredentials(given(`Basic ${btoa('nocolon')}`))).toBeUndefined()
    expect(basicCredentials(given('Bearer abc'))).toBeUndefined()
  })
})

describe('errors', () => {
  test('of the protocol become responses of the service, thrown immediately or later', async () => {
    const atOnce = await ask('GET', '/v2/refused')
    const later = await ask('GET', '/v2/refused-later')
    expect([atOnce.status, body(atOnce)]).toEqual([412, { error: 'quota exceeded' }])
    expect([later.status, body(later)]).toEqual([404, { error: 'not there' }])
  })

  test('of any other kind reach the caller', async () => {
    await expect(ask('GET', '/v2/bug')).rejects.toThrow('a bug')
  })
})

describe('HEAD', () => {
  test('gets a response without a body', async () => {
    const table = [endpoint(['GET', 'HEAD'], '/v2/both', () => json('body'))]
    const service = toy('queue', table)
    const asking = createGateway({
      locate: locator(sandboxUrlsOf()),
      dialect: upstashDialect,
      serviceAt: () => service,
      clock,
      traffic,
    })
    const [get, head] = [await asking(call('GET', '/v2/both')), await asking(call('HEAD', '/v2/both'))]
    expect(head).toEqual({ ...get, body: null })
  })
})

describe('order and traffic', () => {
  test('responds without a promise if nothing waits', () => {
    expect(exchange(call('GET', '/v2/things/a'))).not.toBeInstanceOf(Promise)
    expect(exchange(call('GET', '/v2/slow'))).toBeInstanceOf(Promise)
  })

  test('blocks time while a request is served', async () => {
    const answered = exchange(call('GET', '/v2/slow'))
    expect(clock.running).toEqual(['request GET /v2/slow'])
    await clock.advance(10)
    await answered
    expect(traffic.ofType('request')[0]).toMatchObject({ at: 0, response: { at: 0, status: 200 } })
  })

  test('waits for a body that arrives later', async () => {
    const answered = exchange({ ...call('POST', '/v2/publish/a'), body: async () => latin1('late') })
    await clock.advance(10)
    expect(body(await answered)).toMatchObject({ body: 'late' })
    expect(traffic.ofType('request')[0]?.at).toBe(0)
  })

  test('records each request as one entry, with its response and without secrets', async () => {
    await ask(
      'GET',
      '/v2/words?a=1&qstash_token=right&b=2',
      [
        ['Authorization', 'Bearer right'],
        ['Cookie', 'session=1'],
      ],
      'payload',
    )
    expect(traffic.entries).toMatchObject([
      {
        seq: 1,
        type: 'request',
        service: 'queue',
        method: 'GET',
        url: 'https://queue.test/v2/words?a=1&qstash_token=***&b=2',
        headers: [
          ['Authorization', 'Bearer ***'],
          ['Cookie', '***'],
        ],
        body: 'payload',
        response: { at: 0, status: 200 },
      },
    ])
    expect(JSON.stringify(traffic.entries)).not.toContain('right')
  })
})
