import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/kernel/bytes.js'
import { type StuntdoubleServer, startServer } from '../../server/src/server.js'
import { refusalOf } from '../src/allowed-requests.js'
import { storeContract } from '../src/contract/store-contract.js'
import { ownIds, queueRefusal } from '../src/harmless-queue.js'
import { RealConnection } from '../src/real-side.js'
import { StreamEvents } from '../src/stream-events.js'
import { comparedWith, connectionTo } from './both.js'
import { type GoBetween, startBetween } from './go-between.js'

let server: StuntdoubleServer
let between: GoBetween
beforeEach(async () => {
  server = await startServer({ port: 0, clock: 'real', dialect: 'upstash' })
  between = await startBetween(server.tenant('main').urls.store)
})
afterEach(async () => {
  await between.close()
  await server.close()
})

const world = () => server.tenant('main')
const only = (...names: string[]) => storeContract.filter(({ name }) => names.some((one) => name.startsWith(one)))

/** Stores one value of every kind under names of another user. */
function fill(): void {
  const run = (...argv: string[]) => world().store.run(...argv)
  run('SET', 'k', 'theirs')
  run('SET', 'sd_drift_', 'a name that begins alike')
  run('RPUSH', 'l', 'a', 'b')
  run('SADD', 's', 'a', 'b')
  run('ZADD', 'z', '1', 'a')
  run('HSET', 'h', 'f', 'v')
  run('XADD', 'x', '1-1', 'f', 'v')
  run('XGROUP', 'CREATE', 'x', 'g', '0')
  run('JSON.SET', 'j', '$', '{"a":1}')
  run('PFADD', 'p', 'a')
  run('SET', '', 'the empty name')
  run('SET', 'deadline', 'v', 'PXAT', '99999999999999')
  run('FUNCTION', 'LOAD', "#!lua name=theirs\nredis.register_function('theirs', function() return 1 end)")
  run('ACL', 'SETUSER', 'them', 'on', '+@read', '~*')
  run('CONFIG', 'SET', 'notify-keyspace-events', 'AKE')
}

test('drift() leaves the data of others unchanged, byte for byte', async () => {
  fill()
  const users = world().store.run('ACL', 'LIST')
  const libraries = world().store.run('FUNCTION', 'LIST')
  const before = JSON.stringify(world().store.dump())
  const outcome = await comparedWith(world(), storeContract, { store: between.url })
  expect(outcome.findings).toEqual([])
  expect(JSON.stringify(world().store.dump())).toBe(before)
  expect(world().store.run('ACL', 'LIST')).toEqual(users)
  expect(world().store.run('FUNCTION', 'LIST')).toEqual(libraries)
})

describe('drift() with a failing service', () => {
  test('ends on an interruption, and removes what it created', async () => {
    const where = { store: between.url }
    const connection = connectionTo(world(), where)
    between.plant = () => {
      if (connection.sent === 30) connection.interrupt()
    }
    const outcome = await comparedWith(world(), only('string'), where, connection)
    expect(outcome.ended).toBe('the run was interrupted')
    expect(outcome.compared).toBeLessThan(60)
    expect(outcome.remains).toEqual([])
    expect(world().store.run('DBSIZE')).toBe(0)
  })

  test('reports an unreachable service, with what may remain', async () => {
    let count = 0
    const fetching: typeof fetch = (input, init) => {
      if (++count > 20)
        return Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }))
      return fetch(input, init)
    }
    const outcome = await comparedWith(world(), only('string'), { store: between.url, fetch: fetching })
    expect(outcome.ended).toMatch(/not be reached 3 times/)
    expect(outcome.broken[0]).toEqual({ name: 'string: GET and SET', because: 'ECONNREFUSED' })
    expect(outcome.remains[0]).toMatch(/^keys that begin with sd_drift_\w+_0_: sd_drift_\w+_0_k .*\(ECONNREFUSED\)$/)
  })

  test('waits as long as a 429 asks', async () => {
    let refused = 0
    between.plant = ({ path }) =>
      path.startsWith('/ping') && refused++ < 2
        ? {
            status: 429,
            headers: { 'retry-after': '0', 'content-type': 'application/json' },
            body: '{"error":"slower"}',
          }
        : undefined
    const outcome = await comparedWith(world(), only('requests: tokens'), { store: between.url })
    expect(refused).toBeGreaterThan(2)
    expect(outcome.findings).toEqual([])
  })

  test('does not wait longer than two minutes', async () => {
    between.plant = () => ({ status: 429, headers: { 'retry-after': '3600' }, body: '' })
    const outcome = await comparedWith(world(), only('string'), { store: between.url })
    expect(outcome.broken[0]!.because).toMatch(/\b429\b.*\b3600 seconds/)
    expect(outcome.compared).toBe(0)
  })

  test.each([
    ['no response', () => new Promise<Response>(() => {})],
    ['a response that stops in its body', async () => new Response(new ReadableStream({}))],
  ])('times out on %s, even if its abort signal is lost', async (_, answer) => {
    const { service } = connectionTo(world(), { store: between.url })
    const connection = new RealConnection({ ...service, fetch: answer }, 50)
    const outcome = await comparedWith(world(), only('string: GET and SET'), { store: between.url }, connection)
    expect(outcome.broken).toEqual([{ name: 'string: GET and SET', because: 'no response within 0.05 seconds' }])
  })

  test('times out on a stream that contains only comments', async () => {
    const comments = new ReadableStream<Uint8Array>({
      pull: async (stream) => {
        await new Promise((resolve) => setTimeout(resolve))
        stream.enqueue(new TextEncoder().encode(': nothing\n'))
      },
    })
    const stream = new StreamEvents(new Response(comments), {}, new AbortController())
    expect(await stream.next()).toBeUndefined()
    stream.close()
  })

  test('times out on an endless response', async () => {
    let asked = 0
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (stream) => {
        sent += 65_536
        stream.enqueue(new Uint8Array(65_536).fill(32))
      },
    })
    const outcome = await comparedWith(world(), only('string: GET and SET'), {
      store: between.url,
      fetch: (url, init) => (++asked === 3 ? Promise.resolve(new Response(endless)) : fetch(url, init)),
    })
    expect(outcome.broken).toEqual([
      { name: 'string: GET and SET', because: expect.stringMatching(/^a response of more than \d+ bytes$/) },
    ])
    expect(outcome.remains).toEqual([])
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  test('reports a redirect as a difference, and does not follow it', async () => {
    const elsewhere = await startBetween(world().urls.store)
    between.plant = ({ path }) =>
      path.startsWith('/ping') ? { status: 307, headers: { location: `${elsewhere.url}/ping` }, body: '' } : undefined
    const outcome = await comparedWith(world(), only('requests: tokens'), { store: between.url })
    expect(elsewhere.asked).toEqual([])
    expect(outcome.findings.map(({ what }) => what)).toContain('status')
    await elsewhere.close()
  })
})

test('sends its User-Agent with every request', async () => {
  await comparedWith(world(), only('requests: tokens', 'string: counters'), { store: between.url })
  expect(new Set(between.asked.map(({ headers }) => headers['user-agent']))).toEqual(new Set(['stuntdouble-drift/0']))
})

describe('the check of requests', () => {
  const refused = (line: string): boolean => refusalOf(line.split(' ').map(utf8), utf8('mine_')) !== undefined

  test.each([
    ...[
      'FLUSHDB',
      'flushall async',
      'FLUSHDB STUNTDOUBLE',
      'SWAPDB 0 1',
      'MOVE mine_a 1',
      'SCRIPT FLUSH',
      'function flush',
    ],
    ...['ACL LIST', 'ACL', 'ACL SETUSER mine_x on', 'CONFIG GET *', 'CONFIG SET a b', 'KEYS *', 'RANDOMKEY', 'DBSIZE'],
    ...[
      'SCAN 0',
      'SCAN 0 MATCH *',
      'GET k',
      'MGET mine_a k',
      'RENAME mine_a k',
      'RENAME k mine_a',
      'COPY mine_a k',
      'SET k v',
    ],
    ...[
      'XREAD STREAMS k 0',
      'BITOP AND k mine_a',
      'ZUNIONSTORE k 1 mine_a',
      'EVAL x 1 k',
      'EVALSHA x 2 mine_a k',
      'LMPOP 1 k LEFT',
    ],
    ...[
      "EVAL redis.call('FLUSHALL') 0",
      "EVAL redis.call('SET','k','v') 0",
      'EVAL redis.call(ARGV[1]) 0',
      'FUNCTION LIST',
    ],
    ...[
      'FUNCTION DELETE theirs',
      'FUNCTION DUMP',
      'PUBLISH c m',
      'PUBSUB CHANNELS',
      'PUBSUB CHANNELS *',
      'SUBSCRIBE c',
      'WATCH k',
    ],
    ...[
      'SEARCH.DROP i',
      'SEARCH.LISTINDEXES',
      'SEARCH.CREATE mine_i ON HASH PREFIX 1 k SCHEMA t TEXT',
      'SEARCH.CREATE mine_i ON HASH PREFIX 0 SCHEMA t TEXT',
      'SEARCH.CREATE mine_i ON HASH SCHEMA t TEXT u TEXT',
      'SEARCH.ALIASUPDATE theirs mine_i',
      'SCAN 0 MATCH mine_* MATCH *',
      'SCAN 0 COUNT 1 TYPE MATCH mine_a',
      'SORT mine_a BY weight_*',
      'SORT mine_a GET mine_* GET k_*->f',
      'SORT_RO mine_a BY weight_*',
      'SORT mine_a STORE k',
      'AR.SET k mine_a',
      'SLOWLOG RESET',
      'SLOWLOG RESET mine_a',
      'LATENCY RESET',
      'LASTSAVE',
      'MEMORY PURGE',
      'MOVE mine_k 0',
      'SORT k',
      'OBJECT FREQ k',
    ],
    ...[
      'COPY mine_a mine_b DB 1',
      'SELECT 1',
      'CLIENT LIST',
      'SHUTDOWN',
      'DEBUG SLEEP 1',
      'MIGRATE h 1 mine_k 0 1',
      'AUTH x',
      'CLUSTER RESET',
      'UNKNOWN k',
    ],
  ])('rejects %s', (line) => expect(refused(line)).toBe(true))

  test.each([
    ...[
      'GET mine_k',
      'GET',
      'SET mine_k v',
      'KEYS mine_*',
      'SCAN 0 MATCH mine_*',
      'PING',
      'EVAL return(1) 0',
      'EVAL x 1 mine_k',
    ],
    ...[
      'PUBLISH mine_c m',
      'STUNTDOUBLE',
      'OBJECT ENCODING mine_k',
      'SORT mine_k',
      'SORT mine_k BY nosort GET # GET mine_*',
      'SCAN 0 COUNT 5 match mine_* TYPE list',
      'MULTI',
      'FUNCTION LIST LIBRARYNAME mine_l',
    ],
  ])('allows %s', (line) => expect(refused(line)).toBe(false))

  const queue = (method: string, path: string, body?: string, headers?: Record<string, string>): boolean =>
    queueRefusal(
      { service: 'queue', method, path, ...(body && { body: utf8(body) }), ...(headers && { headers }) },
      { prefix: 'mine_', endpoint: 'https://hook.test/a', ids: new Set(['msg_mine']) },
    ) !== undefined

  test.each<[string, string, string?]>([
    ['POST', '/v2/publish/https://other.test/'],
    ['POST', '/v2/publish/their_group'],
    ['DELETE', '/v2/messages'],
    ['DELETE', '/v2/messages/msg_theirs'],
    ['DELETE', '/v2/dlq'],
    ['POST', '/v2/dlq/retry'],
    ['DELETE', '/v2/queues/theirs'],
    ['POST', '/v2/queues', '{"queueName":"theirs"}'],
    ['POST', '/v2/topics/mine_g/endpoints', '{"endpoints":[{"url":"https://other.test"}]}'],
    ['DELETE', '/v2/topics/theirs'],
    ['DELETE', '/v2/schedules/theirs'],
    ['POST', '/v2/schedules/https://hook.test/a'],
    ['POST', '/v2/batch', '[{"destination":"https://hook.test/a"},{"destination":"https://other.test"}]'],
    ['POST', '/v2/keys/rotate'],
    ['GET', '/v2/keys'],
    ['POST', '/v2/flowControl/theirs/pause'],
  ])('rejects %s %s %s', (method, path, body) => expect(queue(method, path, body)).toBe(true))

  test('rejects IDs that lead a path elsewhere', () => {
    const publish = { service: 'queue', method: 'POST', path: '/v2/publish/https://hook.test/a' } as const
    const answered = ['.', '../../../test', '%2e', 'a/../b', 'a?b', 'msg_Ab-1_2'].map((messageId) => ({ messageId }))
    expect(ownIds(publish, JSON.stringify(answered), new Set())).toEqual(['msg_Ab-1_2'])
    const letters = JSON.stringify({ messages: [{ dlqId: '.' }, { dlqId: '1700000000000-0' }] })
    const listed = { service: 'queue', method: 'GET', path: '/v2/dlq?messageId=msg_1' } as const
    expect(ownIds(listed, letters, new Set(['msg_1']))).toEqual(['1700000000000-0'])
  })

  test('allows what belongs to this run', () => {
    expect(queue('POST', '/v2/publish/https://hook.test/a?x=1')).toBe(false)
    expect(queue('DELETE', '/v2/messages/msg_mine')).toBe(false)
    expect(queue('POST', '/v2/schedules/https://hook.test/a', undefined, { 'Service-Schedule-Id': 'mine_s' })).toBe(
      false,
    )
  })
})
