import { Redis } from '@upstash/redis'
import { createSandbox, type FaultAt, type FaultConditions, type FaultRule, fault } from 'stuntdouble'
import { describe, expect, onTestFinished, test } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'

const start = Date.parse('2030-01-01T00:00:00Z')

function world(...rules: FaultRule[]) {
  const sandbox = createSandbox({ onWarning: () => {} })
  sandbox.faults.add(rules)
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const send = (path: string, body: unknown): Promise<Response> =>
    sandbox.fetch(`${sandbox.urls.store}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
  const command = async (...words: string[]): Promise<unknown> => (await send('/', words)).json()
  return { sandbox, send, command, headers, faults: () => sandbox.traffic.ofType('fault') }
}
const onCommand = (fault: FaultAt<'store.command'>, more: FaultConditions = {}): FaultRule => ({
  on: 'store.command',
  fault,
  ...more,
})
const oom = 'OOM command not allowed'

describe('faults of one command', () => {
  test('errorReply() fails the third INCR once, without running it', async () => {
    const { command, sandbox } = world(
      onCommand(fault.errorReply(oom), { match: { command: 'INCR' }, skip: 2, times: 1 }),
    )
    const replies = []
    for (let count = 0; count < 4; count++) replies.push(await command('INCR', 'a'))
    expect(replies).toEqual([{ result: 1 }, { result: 2 }, { error: oom }, { result: 3 }])
    expect(sandbox.traffic.ofType('command').map(({ error }) => error)).toEqual([undefined, undefined, oom, undefined])
  })

  test('errorReply() with phase after runs the command first', async () => {
    const { command, sandbox } = world(onCommand(fault.errorReply(oom), { phase: 'after' }))
    expect(await command('INCR', 'a')).toEqual({ error: oom })
    expect(sandbox.store.get('a')).toBe('1')
  })

  test('errorReply() fails one command of a pipeline or a transaction; the others run', async () => {
    for (const path of ['/pipeline', '/multi-exec']) {
      const { send } = world(onCommand(fault.errorReply(oom), { match: { key: 'b' } }))
      const rows = [
        ['SET', 'a', '1'],
        ['SET', 'b', '2'],
        ['SET', 'c', '3'],
      ]
      expect(await (await send(path, rows)).json()).toEqual([{ result: 'OK' }, { error: oom }, { result: 'OK' }])
    }
  })

  test('reset() breaks the connection between two commands of a pipeline; those before it ran', async () => {
    for (const [rule, ran] of [
      [onCommand(fault.reset(), { match: { key: 'b' } }), ['1', null, null]],
      [onCommand(fault.lostAck(), { match: { key: 'b' } }), ['1', '2', null]],
    ] as const) {
      const { send, sandbox } = world(rule)
      await expect(
        send('/pipeline', [
          ['SET', 'a', '1'],
          ['SET', 'b', '2'],
          ['SET', 'c', '3'],
        ]),
      ).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
      expect(['a', 'b', 'c'].map((key) => sandbox.store.get(key))).toEqual(ran)
      expect(sandbox.traffic.ofType('request')[0]!.response!.status).toBe(0)
    }
  })

  test('quotaExceeded() fails a command', async () => {
    const { command } = world(onCommand(fault.quotaExceeded(), { match: { command: 'SET' } }))
    expect(await command('SET', 'a', '1')).toEqual({ error: expect.stringContaining('max requests limit exceeded') })
    expect(await command('GET', 'a')).toEqual({ result: null })
  })

  test('the entry of an injection has the affected command as its cause', async () => {
    const { command, sandbox, faults } = world(onCommand(fault.errorReply(oom)))
    await command('INCR', 'a')
    const [entry] = faults()
    expect(entry).toMatchObject({
      point: 'store.command',
      fault: 'error-reply',
      target: 'INCR',
      effect: `error: ${oom}`,
    })
    expect(sandbox.traffic.get(entry!.cause!)).toMatchObject({ type: 'command', error: oom })
  })

  test('commands of the test itself are never affected', () => {
    const { sandbox } = world(onCommand(fault.errorReply(oom)))
    expect(sandbox.store.run('INCR', 'a')).toBe(1)
    expect(sandbox.faults.unused).toHaveLength(1)
  })
})

describe('staleRead()', () => {
  test('replies from the change before, and the next read from the present', async () => {
    const { command, sandbox } = world(onCommand(fault.staleRead(), { times: 1 }))
    await command('SET', 'a', 'old')
    await command('SET', 'a', 'new')
    expect(await command('GET', 'a')).toEqual({ result: 'old' })
    expect(await command('GET', 'a')).toEqual({ result: 'new' })
    expect(sandbox.store.get('a')).toBe('new')
  })

  // store.md 2.2: the token of the latest response, which the SDK sends with the next request.
  test('with unlessSynced, replies to the newest sync token from the present', async () => {
    const { sandbox, headers, faults } = world(onCommand(fault.staleRead(1, { unlessSynced: true })))
    const ask = async (body: unknown, token?: string, path = '') => {
      const answer = await sandbox.fetch(`${sandbox.urls.store}${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { ...headers, ...(token !== undefined && { 'upstash-sync-token': token }) },
      })
      return { json: await answer.json(), token: answer.headers.get('upstash-sync-token')! }
    }
    const first = await ask(['SET', 'a', 'old'], '')
    const second = await ask(['SET', 'a', 'new'], first.token)
    expect((await ask(['GET', 'a'])).json).toEqual({ result: 'old' })
    expect((await ask(['GET', 'a'], '')).json).toEqual({ result: 'old' })
    expect((await ask(['GET', 'a'], first.token)).json).toEqual({ result: 'old' })
    expect((await ask(['GET', 'a'], second.token)).json).toEqual({ result: 'new' })
    expect(faults().at(-1)).toMatchObject({ effect: expect.stringContaining('newest sync token') })
    const rows = [
      ['SET', 'a', 'newer'],
      ['GET', 'a'],
    ]
    expect((await ask(rows, second.token, '/pipeline')).json).toEqual([{ result: 'OK' }, { result: 'newer' }])
    expect((await ask(['GET', 'a'], second.token)).json).toEqual({ result: 'new' })
  })

  test('with unlessSynced, affects the SDK only without readYourWrites', async () => {
    const { sandbox } = world(onCommand(fault.staleRead(1, { unlessSynced: true }), { match: { command: 'GET' } }))
    replaceFetch(sandbox)
    onTestFinished(() => sandbox.dispose())
    const at = { url: sandbox.urls.store, token: sandbox.tokens.store, enableAutoPipelining: false }
    for (const [readYourWrites, read] of [
      [true, 'new'],
      [false, 'old'],
    ] as const) {
      const redis = new Redis({ ...at, readYourWrites })
      await redis.set('a', 'old')
      await redis.set('a', 'new')
      expect(await redis.get('a')).toBe(read)
    }
  })

  test('replies from several changes ago, also when the key did not exist', async () => {
    const { command } = world(onCommand(fault.staleRead(3)))
    for (const value of ['1', '2', '3']) await command('SET', 'a', value)
    expect(await command('GET', 'a')).toEqual({ result: null })
    await command('SET', 'a', '4')
    expect(await command('GET', 'a')).toEqual({ result: '1' })
  })

  test('replies from values that existed before the rule was added', async () => {
    const { command, sandbox } = world()
    sandbox.store.run('SET', 'a', 'before')
    sandbox.faults.add(onCommand(fault.staleRead()))
    sandbox.store.run('SET', 'a', 'after')
    expect(await command('GET', 'a')).toEqual({ result: 'before' })
  })

  test.each<[string, string[][], string[], unknown]>([
    [
      'hash',
      [
        ['HSET', 'k', 'f', '1'],
        ['HSET', 'k', 'f', '2', 'g', '3'],
      ],
      ['HGETALL', 'k'],
      ['f', '1'],
    ],
    [
      'list',
      [
        ['RPUSH', 'k', 'a'],
        ['RPUSH', 'k', 'b'],
      ],
      ['LRANGE', 'k', '0', '-1'],
      ['a'],
    ],
    [
      'sorted set',
      [
        ['ZADD', 'k', '1', 'a'],
        ['ZADD', 'k', '2', 'b'],
      ],
      ['ZRANGE', 'k', '0', '-1'],
      ['a'],
    ],
    [
      'deleted key',
      [
        ['SET', 'k', 'v'],
        ['DEL', 'k'],
      ],
      ['GET', 'k'],
      'v',
    ],
    [
      'deadline',
      [
        ['SET', 'k', 'v', 'EX', '100'],
        ['PERSIST', 'k'],
      ],
      ['TTL', 'k'],
      100,
    ],
    [
      'stream',
      [
        ['XADD', 'k', '1-1', 'f', 'v'],
        ['XADD', 'k', '1-2', 'f', 'v'],
      ],
      ['XLEN', 'k'],
      1,
    ],
  ])('replies with the earlier value of a %s', async (_, writes, read, expected) => {
    const { command, sandbox } = world(onCommand(fault.staleRead()))
    for (const write of writes) await command(...write)
    const before = sandbox.store.dump()
    expect(await command(...read)).toEqual({ result: expected })
    expect(sandbox.store.dump()).toEqual(before)
  })

  test('replies with the present value if the key has changed less often, and the log notes it', async () => {
    const { command, faults } = world(onCommand(fault.staleRead(2)))
    await command('SET', 'a', '1')
    expect(await command('GET', 'a')).toEqual({ result: '1' })
    expect(faults().map(({ effect }) => effect)).toEqual([expect.stringMatching(/changed.*present values/)])
  })

  test('does not match writes: increments count on', async () => {
    const { command, sandbox } = world(onCommand(fault.staleRead()))
    for (let count = 0; count < 3; count++) await command('INCR', 'a')
    expect([sandbox.store.get('a'), sandbox.traffic.ofType('fault')]).toEqual(['3', []])
  })

  test('keeps no earlier values after the rule was removed', async () => {
    const { command, sandbox } = world()
    const rule = sandbox.faults.add(onCommand(fault.staleRead()))
    await command('SET', 'a', '1')
    rule.remove()
    await command('SET', 'a', '2')
    sandbox.faults.add(onCommand(fault.staleRead()))
    expect(await command('GET', 'a')).toEqual({ result: '2' })
  })
})

describe('event streams', () => {
  const opened = async (at: ReturnType<typeof world>, path = '/subscribe/news') => {
    const answer = await at.sandbox.fetch(at.sandbox.urls.store + path, { headers: at.headers })
    const seen: [number, string][] = []
    let end = 'open'
    const reader = answer.body!.getReader()
    const reading = (async () => {
      try {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) break
          const text = new TextDecoder().decode(value).trim()
          if (!text.startsWith(':')) seen.push([at.sandbox.clock.now() - start, text])
        }
        end = 'closed'
      } catch (error) {
        end = (error as Error).message
      }
    })()
    void reading
    return { answer, seen, end: () => end }
  }
  const say = async (at: ReturnType<typeof world>, ...messages: string[]): Promise<void> => {
    for (const message of messages) {
      at.sandbox.store.run('PUBLISH', 'news', message)
      await at.sandbox.clock.advance('1s')
    }
  }
  const texts = (seen: [number, string][]): string[] => seen.map(([, text]) => text)
  const confirmed = 'data: subscribe,news,1'
  const line = (message: string): string => `data: message,news,${message}`

  test('cutStream() breaks a stream after this many events', async () => {
    const at = world({ on: 'stream.open', fault: fault.cutStream(2) })
    const stream = await opened(at)
    await say(at, 'a', 'b', 'c')
    expect([texts(stream.seen), stream.end()]).toEqual([[confirmed, line('a'), line('b')], 'terminated'])
  })

  test('stallStream() pauses a stream, then sends the events it held', async () => {
    const at = world({ on: 'stream.open', fault: fault.stallStream(1, '30s') })
    const stream = await opened(at)
    await say(at, 'a', 'b', 'c')
    expect(texts(stream.seen)).toEqual([confirmed, line('a')])
    await at.sandbox.clock.advance('40s')
    expect(stream.seen).toEqual([
      [0, confirmed],
      [0, line('a')],
      [30_000, line('b')],
      [30_000, line('c')],
    ])
  })

  test('stallStream() without a duration pauses a stream forever', async () => {
    const at = world({ on: 'stream.open', fault: fault.stallStream(0) })
    const stream = await opened(at)
    await say(at, 'a', 'b')
    await at.sandbox.clock.advance('1d')
    expect([texts(stream.seen), stream.end()]).toEqual([[], 'open'])
  })

  test('status() refuses a stream, latency() delays its opening, wrongContentType() changes its type', async () => {
    const a = world({ on: 'stream.open', fault: fault.status(503) })
    expect((await a.sandbox.fetch(`${a.sandbox.urls.store}/subscribe/news`, { headers: a.headers })).status).toBe(503)
    expect(await (await a.send('/', ['PING'])).json()).toEqual({ result: 'PONG' })
    const b = world(
      { on: 'stream.open', fault: fault.latency('5s') },
      { on: 'stream.open', fault: fault.wrongContentType('text/plain') },
    )
    const asked = b.sandbox.fetch(`${b.sandbox.urls.store}/subscribe/news`, { headers: b.headers })
    await b.sandbox.clock.advance('5s')
    expect((await asked).headers.get('content-type')).toBe('text/plain')
  })

  test.each<[string, FaultAt<'stream.event'>, FaultConditions, string[], string]>([
    ['is passed', fault.pass(), {}, [line('a'), line('b'), line('c')], 'open'],
    ['is dropped', fault.drop(), {}, [line('a'), line('c')], 'open'],
    ['is sent twice', fault.duplicate(), {}, [line('a'), line('b'), line('b'), line('c')], 'open'],
    ['is not JSON', fault.corruptJson(), {}, [line('a'), line('<'), line('c')], 'open'],
    ['is sent late', fault.latency('1500ms'), {}, [line('a'), line('c'), line('b')], 'open'],
    ['breaks the stream', fault.reset(), {}, [line('a')], 'terminated'],
    ['is the last one', fault.reset(), { phase: 'after' }, [line('a'), line('b')], 'terminated'],
  ])('affects one event: the second event %s', async (_, fault, more, expected, end) => {
    const at = world({ on: 'stream.event', fault, skip: 1, times: 1, ...more })
    const stream = await opened(at)
    await say(at, 'a', 'b', 'c')
    expect([texts(stream.seen), stream.end()]).toEqual([[confirmed, ...expected], end])
  })

  test('restart() of the store ends all streams', async () => {
    const at = world({ on: 'store.request', match: { command: 'INCR' }, fault: fault.restart('5s') })
    const stream = await opened(at)
    await expect(at.send('/', ['INCR', 'a'])).rejects.toThrow('fetch failed')
    await at.sandbox.clock.advance('1s')
    expect([texts(stream.seen), stream.end()]).toEqual([[confirmed], 'closed'])
    expect(at.sandbox.store.run('PUBLISH', 'news', 'a')).toBe(0)
  })

  test('affects only one channel', async () => {
    const at = world({ on: 'stream.event', match: { key: 'new?' }, fault: fault.drop() })
    const stream = await opened(at, '/psubscribe/n*')
    at.sandbox.store.run('PUBLISH', 'news', 'a')
    at.sandbox.store.run('PUBLISH', 'notes', 'b')
    await at.sandbox.clock.advance('1s')
    expect(texts(stream.seen)).toEqual(['data: psubscribe,n*,1', 'data: pmessage,n*,notes,b'])
  })
})
