import type { Fault, FaultKind, FaultPoint, FaultRule } from 'stuntdouble'
import { expect } from 'vitest'
import { EventReader } from '../support/event-reader.js'
import { type Case, type Client, movedUntil, one, post, shop } from './client.js'

/** Strikes the next request of a service. */
function strikes(client: Client, on: FaultPoint, fault: Fault, more: Partial<FaultRule> = {}): void {
  client.sandbox.faults.add({ on, times: 1, fault, ...more })
}

/** A request that fails as on a network, and whether its work was done. */
function broken(fault: Fault, works: boolean): (client: Client) => Promise<void> {
  return async (client) => {
    strikes(client, 'store.request', fault)
    await expect(movedUntil(client, client.command('INCR', 'n'))).rejects.toThrow(TypeError)
    expect(client.sandbox.store.get('n')).toBe(works ? '1' : null)
  }
}

/** What arrives of one message when its first delivery is struck. */
async function delivered(client: Client, fault: Fault): Promise<readonly Arrival[]> {
  const { clock, destinations } = client.sandbox
  const begun = clock.now()
  const recorder = destinations.record(shop)
  strikes(client, 'queue.delivery', fault)
  const answer = await client.queue(`/publish/${shop}`, post('x', { 'service-retries': '1' }))
  expect(answer.status).toBe(200)
  await clock.drain()
  return recorder.all.map((attempt) => {
    return { at: attempt.at - begun, claims: claimsOf(attempt.header('service-signature') ?? '') }
  })
}

interface Arrival {
  /** Milliseconds after it was published. */
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

/** Every kind once; the compiler keeps the list complete. */
const kinds: { readonly [K in FaultKind]: Case } = {
  latency: one('clock', 'latency: the answer comes so much later', async (client) => {
    const { clock } = client.sandbox
    const begun = clock.now()
    strikes(client, 'store.request', { kind: 'latency', waitMs: 300 })
    const answer = client.command('PING').then((reply) => [reply, clock.now() - begun])
    expect(await movedUntil(client, answer)).toEqual([{ result: 'PONG' }, 300])
  }),
  status: one('headers', 'a status with headers and body of its own', async (client) => {
    strikes(client, 'queue.request', { kind: 'status', status: 418, headers: { 'x-own': 'yes' }, body: '{"tea":true}' })
    const answer = await client.queue('/queues')
    expect([answer.status, answer.headers.get('x-own'), await answer.json()]).toEqual([418, 'yes', { tea: true }])
  }),
  'rate-limited': one('headers', 'rate-limited: 429 and when to come again', async (client) => {
    const retryAfter = { form: 'seconds', waitMs: 2_000 } as const
    strikes(client, 'queue.request', { kind: 'rate-limited', limit: 'burst', retryAfter })
    const answer = await client.queue(`/publish/${shop}`, post('x'))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2'])
    expect(answer.headers.get('burst-ratelimit-remaining')).toBe('0')
  }),
  'non-retryable': one('plain', 'non-retryable: one attempt, and a dead letter', async (client) => {
    expect(await delivered(client, { kind: 'non-retryable' })).toHaveLength(1)
    const { messages } = (await (await client.queue('/dlq')).json()) as { messages: { responseStatus: number }[] }
    expect(messages).toMatchObject([{ responseStatus: 489 }])
  }),
  pass: one('fault', 'pass: the rules that follow are not asked', async (client) => {
    strikes(client, 'store.request', { kind: 'pass' })
    client.sandbox.faults.add({ on: 'store.request', fault: { kind: 'status', status: 503 } })
    expect(await client.command('PING')).toEqual({ result: 'PONG' })
    expect((await client.store('/ping')).status).toBe(503)
  }),
  reset: one('fault', 'reset: the connection breaks before the work', broken({ kind: 'reset' }, false)),
  refused: one('fault', 'refused: nobody listens', broken({ kind: 'refused' }, false)),
  unresolved: one('fault', 'unresolved: the name is unknown', broken({ kind: 'unresolved' }, false)),
  certificate: one('fault', 'certificate: it is not valid', broken({ kind: 'certificate' }, false)),
  hang: one('clock', 'hang: no answer, and then the end', broken({ kind: 'hang', forMs: 5_000 }, false)),
  'half-open': one(
    'partial',
    'half-open: the work is done, the body never comes',
    broken({ kind: 'half-open', forMs: 5_000 }, true),
  ),
  truncate: one('partial', 'an answer that breaks off', broken({ kind: 'truncate', afterBytes: 5 }, true)),
  'corrupt-json': one('fault', 'corrupt-json: whole, and no JSON', async (client) => {
    strikes(client, 'store.request', { kind: 'corrupt-json' })
    const answer = await client.store('/incr/n', { method: 'POST' })
    expect([answer.status, await answer.text()]).toEqual([200, '{"result":1<'])
  }),
  'slow-body': one('clock', 'slow-body: it trickles', async (client) => {
    const { clock } = client.sandbox
    const begun = clock.now()
    strikes(client, 'store.request', { kind: 'slow-body', bytesPerSecond: 4 })
    // 17 bytes: `{"result":"PONG"}`.
    const answer = client.command('PING').then((reply) => [reply, clock.now() - begun])
    expect(await movedUntil(client, answer)).toEqual([{ result: 'PONG' }, 4_250])
  }),
  'content-type': one('fault', 'content-type: the answer says that it is something else', async (client) => {
    strikes(client, 'store.request', { kind: 'content-type', type: 'text/html' })
    const answer = await client.store('/ping')
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['text/html', '{"result":"PONG"}'])
  }),
  reply: one('fault', 'an error reply of one command in a pipeline', async (client) => {
    const error = 'OOM command not allowed'
    strikes(client, 'store.command', { kind: 'reply', error }, { match: { command: 'INCR' } })
    const rows = [
      ['SET', 'k', '1'],
      ['INCR', 'k'],
    ]
    expect(await (await client.store('/pipeline', post(rows))).json()).toEqual([{ result: 'OK' }, { error }])
  }),
  'lost-ack': one('fault', 'lost-ack: the work is done, its answer is lost', broken({ kind: 'lost-ack' }, true)),
  'late-answer': one('clock', 'late-answer: the work is done at once, the answer comes later', async (client) => {
    const { clock, store } = client.sandbox
    const begun = clock.now()
    strikes(client, 'store.request', { kind: 'late-answer', byMs: 1_000 })
    const answer = client.command('INCR', 'n').then((reply) => [reply, clock.now() - begun])
    await expect.poll(() => store.get('n')).toBe('1')
    expect(await movedUntil(client, answer)).toEqual([{ result: 1 }, 1_000])
  }),
  duplicate: one('fault', 'duplicate: it happens again, the client sees the first answer', async (client) => {
    strikes(client, 'store.request', { kind: 'duplicate', copies: 2 })
    expect(await movedUntil(client, client.command('INCR', 'n'))).toEqual({ result: 1 })
    await expect.poll(() => client.sandbox.store.get('n')).toBe('3')
  }),
  reorder: one('plain', 'reorder: the first message waits for the second', async (client) => {
    const { clock, destinations } = client.sandbox
    const recorder = destinations.record(shop)
    strikes(client, 'queue.delivery', { kind: 'reorder', withinMs: 60_000 })
    for (const body of ['first', 'second']) await client.queue(`/publish/${shop}`, post(body))
    await clock.drain()
    expect(recorder.all.map((request) => request.text())).toEqual(['second', 'first'])
  }),
  delay: one('plain', 'delay: the delivery begins later', async (client) => {
    expect(await delivered(client, { kind: 'delay', waitMs: 90_000 })).toMatchObject([{ at: 90_000 }])
  }),
  drop: one('plain', 'drop: no attempt, no retry, no dead letter', async (client) => {
    expect(await delivered(client, { kind: 'drop' })).toEqual([])
    expect(await (await client.queue('/dlq')).json()).toMatchObject({ messages: [] })
  }),
  signature: one('plain', 'signature: one claim is wrong', async (client) => {
    const [first] = await delivered(client, { kind: 'signature', flaw: 'issuer' })
    expect(first!.claims.iss).not.toBe('Service')
  }),
  'clock-skew': one('plain', 'clock-skew: the clock that signs is behind', async (client) => {
    const begun = client.sandbox.clock.now()
    const [first] = await delivered(client, { kind: 'clock-skew', byMs: -600_000 })
    expect(first!.claims.exp).toBeLessThan(begun / 1000)
  }),
  'revoked-token': one('fault', 'revoked-token: refused, as a token that is not valid any more', async (client) => {
    strikes(client, 'store.request', { kind: 'revoked-token' })
    expect((await client.store('/ping')).status).toBe(401)
    expect((await client.store('/ping')).status).toBe(200)
  }),
  quota: one('fault', 'quota: the plan is used up', async (client) => {
    strikes(client, 'store.request', { kind: 'quota' })
    const answer = await client.store('/ping')
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: expect.stringContaining('ERR max requests limit exceeded') },
    ])
  }),
  'cut-stream': one('stream', 'cut-stream: over after so many events', async (client) => {
    strikes(client, 'stream.open', { kind: 'cut-stream', afterEvents: 1 })
    const reader = new EventReader(await client.store('/subscribe/news', { method: 'POST' }))
    expect(await reader.next()).toBe('data: subscribe,news,1')
    const seen: string[] = []
    const read = async (): Promise<void> => {
      for (let event = await reader.next(); event !== undefined; event = await reader.next()) seen.push(event)
    }
    // Some ways can only end a stream, others break it.
    const over = read().catch(() => undefined)
    for (const word of ['one', 'two']) await client.command('PUBLISH', 'news', word)
    await over
    expect(seen).not.toContain('data: message,news,two')
  }),
  'stall-stream': one('stream', 'stall-stream: silent for a while', async (client) => {
    strikes(client, 'stream.open', { kind: 'stall-stream', afterEvents: 1, forMs: 30_000 })
    const reader = new EventReader(await client.store('/subscribe/news', { method: 'POST' }))
    expect(await reader.next()).toBe('data: subscribe,news,1')
    for (const word of ['one', 'two']) await client.command('PUBLISH', 'news', word)
    expect(await reader.next()).toBe('data: message,news,one')
    let heard = false
    const next = reader.next().finally(() => {
      heard = true
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(heard).toBe(false)
    await client.sandbox.clock.advance(30_000)
    expect(await next).toBe('data: message,news,two')
    await reader.cancel()
  }),
  'stale-read': one('fault', 'stale-read: what was there a change ago', async (client) => {
    strikes(client, 'store.command', { kind: 'stale-read', versions: 1 }, { match: { command: 'GET' } })
    await client.command('SET', 'k', 'old')
    await client.command('SET', 'k', 'new')
    expect(await client.command('GET', 'k')).toEqual({ result: 'old' })
    expect(await client.command('GET', 'k')).toEqual({ result: 'new' })
  }),
  restart: one('fault', 'restart: broken, then down, then back', async (client) => {
    strikes(client, 'store.request', { kind: 'restart', downMs: 10_000 })
    await expect(client.command('INCR', 'n')).rejects.toThrow(TypeError)
    await expect(client.command('INCR', 'n')).rejects.toThrow(TypeError)
    await client.sandbox.clock.advance(10_000)
    expect(await client.command('INCR', 'n')).toEqual({ result: 2 })
  }),
  outage: one('fault', 'outage: gone while the rule lasts', async (client) => {
    const rule = client.sandbox.faults.add({ on: 'queue.request', fault: { kind: 'outage', status: 502 } })
    expect((await client.queue('/queues')).status).toBe(502)
    client.sandbox.faults.remove(rule)
    expect((await client.queue('/queues')).status).toBe(200)
  }),
}

export const faults: readonly Case[] = [
  ...Object.values(kinds),
  ...([429, 500, 503] as const).map((code) =>
    one('fault', `a fault answers ${code}, and nothing is done`, async (client) => {
      strikes(client, 'store.request', { kind: 'status', status: code })
      const answer = await client.store('/incr/n', { method: 'POST' })
      expect(answer.status).toBe(code)
      expect(await client.command('GET', 'n')).toEqual({ result: null })
    }),
  ),
  one('fault', 'a connection that breaks after the work', async (client) => {
    strikes(client, 'store.request', { kind: 'reset' }, { phase: 'after' })
    await expect(client.store('/incr/n', { method: 'POST' })).rejects.toThrow(TypeError)
    expect(await client.command('GET', 'n')).toEqual({ result: '1' })
  }),
  one('fault', 'a fault of the queue leaves the store alone', async (client) => {
    client.sandbox.faults.add({ on: 'queue.request', fault: { kind: 'status', status: 503 } })
    expect((await client.queue('/queues')).status).toBe(503)
    expect(await client.command('PING')).toEqual({ result: 'PONG' })
  }),
  one('fault', 'a fault of the statistics', async (client) => {
    strikes(client, 'stats.request', { kind: 'status', status: 500 })
    const { id } = client.sandbox.stats.user
    expect((await client.stats(`/queue/stats/${id}`)).status).toBe(500)
    expect((await client.stats(`/queue/stats/${id}`)).status).toBe(200)
  }),
]
