import {
  type Fault,
  type FaultConditions,
  type FaultKind,
  type FaultRule,
  fault,
  type InjectionPoint,
} from 'stuntdouble'
import { expect } from 'vitest'
import { type Case, type Client, movedUntil, onEachAdapter, one, post, shop } from './client.js'
import {
  broken,
  brokenStream,
  increment,
  networkErrors,
  noAnswer,
  retryAfter,
  seen,
  stalledStream,
} from './request-faults.js'

/** Injects a fault once. */
function inject(client: Client, on: InjectionPoint, fault: Fault, more: FaultConditions = {}): void {
  client.sandbox.faults.add({ on, times: 1, fault, ...more } as FaultRule)
}

/** Returns the deliveries of one message when a fault is injected into the first. */
async function deliveriesOf(client: Client, fault: Fault): Promise<readonly Delivered[]> {
  const { clock, destinations } = client.sandbox
  const begun = clock.now()
  const recorder = destinations.record(shop)
  inject(client, 'queue.delivery', fault)
  const answer = await client.queue(`/publish/${shop}`, post('x', { 'service-retries': '1' }))
  expect(answer.status).toBe(200)
  await clock.drain()
  return recorder.requests.map((attempt) => {
    return { at: attempt.at - begun, claims: claimsOf(attempt.header('service-signature') ?? '') }
  })
}

interface Delivered {
  /** Milliseconds since it was published. */
  readonly at: number
  readonly claims: Claims
}

interface Claims {
  readonly iss: string
  readonly exp: number
}

function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? 'e30', 'base64url').toString()) as Claims
}

/** Cases for every kind. The compiler keeps the list complete. */
const kinds: { readonly [K in FaultKind]: readonly Case[] } = {
  latency: [onEachAdapter(seen('latency', fault.latency('300ms'), { ...increment, head: 300 }, '1'))],
  status: [
    onEachAdapter(seen('status', fault.status(503), { status: 503, body: '{"error":"service unavailable"}' }, null)),
    one('headers', 'responds with the headers and the body of a status', async (client) => {
      inject(client, 'queue.request', {
        kind: 'status',
        status: 418,
        headers: { 'x-own': 'yes' },
        body: '{"tea":true}',
      })
      const answer = await client.queue('/queues')
      expect([answer.status, answer.headers.get('x-own'), await answer.json()]).toEqual([418, 'yes', { tea: true }])
    }),
  ],
  'rate-limited': [
    ...retryAfter,
    one('headers', 'responds with 429 and when to retry: rate-limited', async (client) => {
      const retryAfter = { form: 'seconds', waitMs: 2_000 } as const
      inject(client, 'queue.request', { kind: 'rate-limited', limit: 'burst', retryAfter })
      const answer = await client.queue(`/publish/${shop}`, post('x'))
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2'])
      expect(answer.headers.get('burst-ratelimit-remaining')).toBe('0')
    }),
  ],
  'non-retryable': [
    one('plain', 'makes one attempt, then a dead letter: non-retryable', async (client) => {
      expect(await deliveriesOf(client, { kind: 'non-retryable' })).toHaveLength(1)
      const { messages } = (await (await client.queue('/dlq')).json()) as { messages: { responseStatus: number }[] }
      expect(messages).toMatchObject([{ responseStatus: 489 }])
    }),
  ],
  pass: [
    one('fault', 'skips the rules that follow: pass', async (client) => {
      inject(client, 'store.request', { kind: 'pass' })
      client.sandbox.faults.add({ on: 'store.request', fault: { kind: 'status', status: 503 } })
      expect(await client.command('PING')).toEqual({ result: 'PONG' })
      expect((await client.store('/ping')).status).toBe(503)
    }),
  ],
  reset: [
    seen('reset', fault.reset(), noAnswer, null),
    seen('reset after', fault.reset(), noAnswer, '1', { phase: 'after' }),
  ],
  refused: [onEachAdapter(seen('refused', fault.refused(), noAnswer, null))],
  'unresolved-host': [seen('unresolved-host', fault.unresolvedHost(), noAnswer, null)],
  'bad-certificate': [seen('bad-certificate', fault.badCertificate(), noAnswer, null)],
  hang: [seen('hang', fault.hang('20s'), { ...noAnswer, end: 20_000 }, null)],
  'half-open': [onEachAdapter(seen('half-open', fault.halfOpen('20s'), { ...broken(''), head: 0, end: 20_000 }, '1'))],
  truncate: [
    onEachAdapter(seen('truncate', fault.truncate(8), broken('{"result'), '1')),
    onEachAdapter(seen('truncate at once', fault.truncate(0), broken(''), '1')),
  ],
  'corrupt-json': [seen('corrupt-json', fault.corruptJson(), { status: 200, body: '{"result":1<' }, '1')],
  'slow-body': [onEachAdapter(seen('slow-body', fault.slowBody(4), { ...increment, head: 0, end: 3000 }, '1'))],
  'wrong-content-type': [
    seen('wrong-content-type', fault.wrongContentType('text/html'), { ...increment, type: 'text/html' }, '1'),
  ],
  'error-reply': [
    one('fault', 'replies with an error to one command of a pipeline: error-reply', async (client) => {
      const error = 'OOM command not allowed'
      inject(client, 'store.command', { kind: 'error-reply', error }, { match: { command: 'INCR' } })
      const rows = [
        ['SET', 'k', '1'],
        ['INCR', 'k'],
      ]
      expect(await (await client.store('/pipeline', post(rows))).json()).toEqual([{ result: 'OK' }, { error }])
    }),
  ],
  'lost-ack': [seen('lost-ack', fault.lostAck(), noAnswer, '1')],
  'late-response': [
    seen('late-response', fault.lateResponse('20s'), { ...increment, head: 20_000 }, '1'),
    one('clock', 'does the work immediately and responds later: late-response', async (client) => {
      const { clock, store } = client.sandbox
      const begun = clock.now()
      inject(client, 'store.request', { kind: 'late-response', byMs: 1_000 })
      const answer = client.command('INCR', 'n').then((reply) => [reply, clock.now() - begun])
      await expect.poll(() => store.get('n')).toBe('1')
      expect(await movedUntil(client, answer)).toEqual([{ result: 1 }, 1_000])
    }),
  ],
  duplicate: [
    seen('duplicate', fault.duplicate(), increment, '2'),
    seen('duplicate, twice', fault.duplicate({ copies: 2 }), increment, '3'),
  ],
  reorder: [
    one('plain', 'holds the first message until the second: reorder', async (client) => {
      const { clock, destinations } = client.sandbox
      const recorder = destinations.record(shop)
      inject(client, 'queue.delivery', { kind: 'reorder', withinMs: 60_000 })
      for (const body of ['first', 'second']) await client.queue(`/publish/${shop}`, post(body))
      await clock.drain()
      expect(recorder.requests.map((request) => request.text())).toEqual(['second', 'first'])
    }),
  ],
  delay: [
    one('plain', 'delivers later: delay', async (client) => {
      expect(await deliveriesOf(client, { kind: 'delay', waitMs: 90_000 })).toMatchObject([{ at: 90_000 }])
    }),
  ],
  drop: [
    one('plain', 'makes no attempt, no retry and no dead letter: drop', async (client) => {
      expect(await deliveriesOf(client, { kind: 'drop' })).toEqual([])
      expect(await (await client.queue('/dlq')).json()).toMatchObject({ messages: [] })
    }),
  ],
  'bad-signature': [
    one('plain', 'signs with one wrong claim: bad-signature', async (client) => {
      const [first] = await deliveriesOf(client, { kind: 'bad-signature', flaw: 'issuer' })
      expect(first!.claims.iss).not.toBe('Service')
    }),
  ],
  'clock-skew': [
    one('plain', 'signs with a clock that is behind: clock-skew', async (client) => {
      const begun = client.sandbox.clock.now()
      const [first] = await deliveriesOf(client, { kind: 'clock-skew', byMs: -600_000 })
      expect(first!.claims.exp).toBeLessThan(begun / 1000)
    }),
  ],
  'revoked-token': [
    seen('revoked-token', fault.revokedToken(), { status: 401 }, null),
    one('fault', 'rejects a valid token once: revoked-token', async (client) => {
      inject(client, 'store.request', { kind: 'revoked-token' })
      expect((await client.store('/ping')).status).toBe(401)
      expect((await client.store('/ping')).status).toBe(200)
    }),
  ],
  'quota-exceeded': [
    seen(
      'quota-exceeded',
      fault.quotaExceeded(),
      { status: 400, body: expect.stringContaining('ERR max requests limit exceeded') },
      null,
    ),
  ],
  'cut-stream': [onEachAdapter(brokenStream)],
  'stall-stream': [stalledStream],
  'stale-read': [
    one('fault', 'returns the value before the last write: stale-read', async (client) => {
      inject(client, 'store.command', { kind: 'stale-read', versions: 1 }, { match: { command: 'GET' } })
      await client.command('SET', 'k', 'old')
      await client.command('SET', 'k', 'new')
      expect(await client.command('GET', 'k')).toEqual({ result: 'old' })
      expect(await client.command('GET', 'k')).toEqual({ result: 'new' })
    }),
  ],
  restart: [
    seen('restart', fault.restart(), noAnswer, '1'),
    one('fault', 'breaks the connection, stays down, then comes back: restart', async (client) => {
      inject(client, 'store.request', { kind: 'restart', downMs: 10_000 })
      await expect(client.command('INCR', 'n')).rejects.toThrow(TypeError)
      await expect(client.command('INCR', 'n')).rejects.toThrow(TypeError)
      await client.sandbox.clock.advance(10_000)
      expect(await client.command('INCR', 'n')).toEqual({ result: 2 })
    }),
  ],
  outage: [
    seen('outage', fault.outage({ status: 502 }), { status: 502 }, null),
    seen('outage without a status', fault.outage(), noAnswer, null),
    one('fault', 'is down while the rule lasts: outage', async (client) => {
      const rule = client.sandbox.faults.add({ on: 'queue.request', fault: { kind: 'outage', status: 502 } })
      expect((await client.queue('/queues')).status).toBe(502)
      client.sandbox.faults.remove(rule)
      expect((await client.queue('/queues')).status).toBe(200)
    }),
  ],
}

export const faults: readonly Case[] = [
  ...Object.values(kinds).flat(),
  networkErrors,
  ...([429, 500, 503] as const).map((code) =>
    one('fault', `responds with ${code} and does no work`, async (client) => {
      inject(client, 'store.request', { kind: 'status', status: code })
      const answer = await client.store('/incr/n', { method: 'POST' })
      expect(answer.status).toBe(code)
      expect(await client.command('GET', 'n')).toEqual({ result: null })
    }),
  ),
  one('fault', 'leaves the store alone when a fault hits the queue', async (client) => {
    client.sandbox.faults.add({ on: 'queue.request', fault: { kind: 'status', status: 503 } })
    expect((await client.queue('/queues')).status).toBe(503)
    expect(await client.command('PING')).toEqual({ result: 'PONG' })
  }),
  one('fault', 'injects a fault into the statistics API', async (client) => {
    inject(client, 'stats.request', { kind: 'status', status: 500 })
    const { id } = client.sandbox.stats.user
    expect((await client.stats(`/queue/stats/${id}`)).status).toBe(500)
    expect((await client.stats(`/queue/stats/${id}`)).status).toBe(200)
  }),
]
