import { createSandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { type Bytes, utf8 } from '../../../src/kernel/bytes.js'
import { Clock } from '../../../src/kernel/clock.js'
import { createRandom } from '../../../src/kernel/random.js'
import { defaultPolicy, type ResolvedPolicy } from '../../../src/policy/policy.js'
import { AccessControl } from '../../../src/store/access/access-control.js'
import { Blocked } from '../../../src/store/blocking/blocked.js'
import { NilArray, type Reply, Status } from '../../../src/store/command/reply.js'
import { StoreEngine } from '../../../src/store/store-engine.js'
import { storeInternals } from '../../../src/store/store-internals.js'

function world(policy: Partial<ResolvedPolicy> = {}) {
  const clock = new Clock({ startAt: Date.UTC(2026, 0, 1) })
  const store = new StoreEngine({
    clock,
    random: createRandom('waiting'),
    access: new AccessControl({ standard: 'standard-token', readOnly: 'read-only-token' }),
    policy: { ...defaultPolicy, ...policy },
    docs: 'docs.test',
  })
  /** Clients and their replies, in order. */
  const got: string[] = []
  const begin = (name: string, line: string): Blocked | undefined => {
    const begun = store.begin(line.split(' ').map((word): Bytes => utf8(word)))
    if (begun instanceof Blocked) {
      begun.onEnd((end) => {
        got.push(`${name}: ${'reply' in end ? shown(end.reply) : (end.error as Error).message}`)
      })
      return begun
    }
    got.push(`${name}: ${shown(begun)}`)
    return undefined
  }
  const run = (line: string): Reply => store.run(...line.split(' '))
  return { clock, store, got, begin, run }
}

function shown(reply: Reply): string {
  if (reply instanceof Status) return reply.text
  if (reply === null || reply instanceof NilArray) return 'nil'
  return Array.isArray(reply) ? `[${reply.map(shown).join(' ')}]` : typeof reply === 'string' ? reply : String(reply)
}

describe('blocked clients', () => {
  test('are served in the order of waiting, longest first', () => {
    const { got, begin, run, store } = world()
    begin('a', 'BLPOP jobs 0')
    begin('b', 'BRPOP jobs 0')
    begin('c', 'BLPOP jobs 0')
    expect(run('RPUSH jobs 1 2 3 4')).toBe(4)
    expect(got).toEqual(['a: [jobs 1]', 'b: [jobs 4]', 'c: [jobs 2]'])
    expect(run('LRANGE jobs 0 -1')).toEqual(['3'])
    expect(store.waiting.size).toBe(0)
  })

  test('are served immediately if there is an element, in the order of the given keys', () => {
    const { got, begin, run } = world()
    run('RPUSH two x')
    run('RPUSH three y')
    begin('a', 'BLPOP one two three 0')
    expect(got).toEqual(['a: [two x]'])
  })

  test('are served after the whole transaction, beginning with the key that was filled first', () => {
    const { got, begin, run, store } = world()
    begin('a', 'BLPOP one two 0')
    begin('b', 'BLPOP one 0')
    store.waiting.transaction(() => {
      run('RPUSH two y')
      run('RPUSH one x')
      run('RPUSH two z')
      expect(got).toEqual([])
    })
    expect(got).toEqual(['a: [two y]', 'b: [one x]'])
  })

  test('are not served from a key that a transaction filled and emptied, or that has another type', () => {
    const { got, begin, run, store } = world()
    begin('a', 'BLPOP jobs 0')
    begin('z', 'BZPOPMIN jobs 0')
    store.waiting.transaction(() => {
      run('RPUSH jobs x')
      run('DEL jobs')
    })
    run('SET jobs x')
    run('DEL jobs')
    expect(got).toEqual([])
    run('ZADD jobs 1 m')
    expect(got).toEqual(['z: [jobs m 1]'])
    run('RPUSH jobs x')
    expect(got).toEqual(['z: [jobs m 1]', 'a: [jobs x]'])
  })

  test('are served by a chain of moves', () => {
    const { got, begin, run } = world()
    begin('a', 'BLMOVE one two LEFT RIGHT 0')
    begin('b', 'BRPOPLPUSH two three 0')
    begin('c', 'BLPOP three 0')
    run('RPUSH one x')
    expect(got).toEqual(['a: x', 'b: x', 'c: [three x]'])
    expect(run('KEYS *')).toEqual([])
  })

  test.each([
    ['RPUSH other x', 'RENAME other jobs'],
    ['RPUSH other x', 'COPY other jobs'],
    ['RPUSH other x', 'SORT other ALPHA STORE jobs'],
    ['RPUSH other x', 'LMOVE other jobs LEFT LEFT'],
    ['RPUSH other x', 'EVAL return(redis.call("rpush","jobs","x")) 0'],
  ])('are served by every command that creates the key: %s, %s', (...lines) => {
    const { got, begin, run } = world({ commands: 'all' })
    begin('a', 'BLMPOP 0 1 jobs LEFT COUNT 3')
    for (const line of lines) run(line)
    expect(got).toEqual(['a: [jobs [x]]'])
  })
})

test('are served by RESTORE and by loading a dump', async () => {
  using sandbox = createSandbox()
  const { store } = sandbox
  store.run('RPUSH', 'other', 'x')
  const { engine } = storeInternals.of(store)
  const payload = engine.execute(['DUMP', 'other'] as never) as Bytes
  const dump = store.dump()
  const [ada, ben] = [store.connect(), store.connect()]
  const restored = ada.run('BLPOP', 'jobs', 0)
  engine.execute(['RESTORE', 'jobs', '0', payload] as never)
  expect(await restored).toEqual(['jobs', 'x'])
  store.run('DEL', 'other')
  const loaded = ben.run('BLPOP', 'other', 0)
  store.load(dump)
  expect(await loaded).toEqual(['other', 'x'])
  expect(store.run('DBSIZE')).toBe(0)
})

describe('timeouts of blocked clients', () => {
  test('end a wait with nil, including after a fraction of a second', async () => {
    const { clock, got, begin } = world()
    begin('a', 'BLPOP jobs 0.1')
    begin('b', 'BZPOPMAX scores 0.05')
    begin('c', 'BLPOP jobs 0')
    expect(clock.pending.map(({ label }) => label)).toEqual([
      'BZPOPMAX scores waits until 2026-01-01T00:00:00.050Z',
      'BLPOP jobs waits until 2026-01-01T00:00:00.100Z',
    ])
    await clock.advance(99)
    expect(got).toEqual(['b: nil'])
    await clock.drain()
    expect(got).toHaveLength(2)
    expect(clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 100))
  })
})

describe('a client that waits in a consumer group', () => {
  const gone = 'UNBLOCKED the stream key no longer exists'
  const noGroup = 'NOGROUP the consumer group this client was blocked on no longer exists'

  test.each([
    ['DEL s', gone],
    ['SET s text', gone],
    ['RENAME s t', gone],
    ['FLUSHALL', gone],
    ['EXPIRE s 0', gone],
    ['XGROUP DESTROY s g', noGroup],
  ])('gets an error after %s', (line, error) => {
    const { got, begin, run } = world()
    run('XGROUP CREATE s g $ MKSTREAM')
    run('XGROUP CREATE s h $')
    begin('a', 'XREADGROUP GROUP g ada BLOCK 0 STREAMS s >')
    begin('b', 'XREAD BLOCK 0 STREAMS s $')
    run(line)
    expect(got).toEqual([`a: ${error}`])
  })

  test('gets an error when the stream expires, without any command that reads it', async () => {
    const { got, begin, run, clock } = world()
    run('XGROUP CREATE s g $ MKSTREAM')
    begin('a', 'XREADGROUP GROUP g ada BLOCK 0 STREAMS s >')
    run('PEXPIRE s 1500')
    await clock.advance('1s')
    expect(got).toEqual([])
    await clock.advance('1s')
    expect(got).toEqual([`a: ${gone}`])
    expect(clock.pending).toEqual([])
  })

  test('gets each new entry once, while all readers without a group also get it', () => {
    const { got, begin, run } = world()
    run('XGROUP CREATE s g $ MKSTREAM')
    begin('a', 'XREADGROUP GROUP g ada COUNT 1 BLOCK 0 STREAMS s >')
    begin('b', 'XREADGROUP GROUP g ben BLOCK 0 STREAMS s >')
    begin('c', 'XREAD BLOCK 0 STREAMS t s $ $')
    run('XADD s 1-1 f v')
    expect(got).toEqual(['a: [[s [[1-1 [f v]]]]]', 'c: [[s [[1-1 [f v]]]]]'])
    run('XADD s 2-1 f w')
    expect(got.slice(2)).toEqual(['b: [[s [[2-1 [f w]]]]]'])
  })

  test('gets an error instead of too many pending entries', () => {
    const { got, begin, run } = world({ maxPendingPerConsumer: 1000 })
    run('XGROUP CREATE s g $ MKSTREAM')
    for (let count = 1; count <= 1000; count++) run(`XADD s ${count}-1 f v`)
    run('XREADGROUP GROUP g ada COUNT 1000 STREAMS s >')
    begin('a', 'XREADGROUP GROUP g ada COUNT 20 BLOCK 0 STREAMS s >')
    run('XADD s 2000-1 f v')
    expect(got).toEqual([
      'a: ERR XReadGroup is cancelled. Pending Entries List limit per consumer is about to be reached. Limit: 1000, Current PEL size: 1000, Requested Read: 1, Key: s, Group: g, Consumer: ada.',
    ])
  })
})

describe('CLIENT UNBLOCK', () => {
  test('ends a wait as after its timeout or with an error, once', async () => {
    const { got, begin, run, clock } = world()
    const [a, b] = [begin('a', 'BLPOP jobs 10')!, begin('b', 'BZPOPMIN jobs 0')!]
    expect([a.unblock(), b.unblock('ERROR')]).toEqual([true, true])
    expect([a.unblock(), b.cancel()]).toEqual([false, false])
    run('RPUSH jobs x')
    await clock.drain()
    expect(got).toEqual(['a: nil', 'b: UNBLOCKED client unblocked via CLIENT UNBLOCK'])
    expect(clock.pending).toEqual([])
  })

  test('closing a connection ends its waits', async () => {
    const { store, run } = world()
    const client = {}
    const blocked = store.begin(['BLPOP', 'jobs', '5'] as never, undefined, client) as Blocked
    const ended = expect(blocked.ended).rejects.toThrow('closed')
    store.waiting.leave(client)
    await ended
    expect(run('RPUSH jobs x')).toBe(1)
    expect(run('LLEN jobs')).toBe(1)
  })
})

test('BLMOVE to a key of another type returns an error, and the element stays', () => {
  const { got, begin, run } = world()
  run('SET two text')
  begin('a', 'BLMOVE one two LEFT RIGHT 0')
  begin('b', 'BLPOP one 0')
  run('RPUSH one x')
  expect(got).toEqual(['a: WRONGTYPE Operation against a key holding the wrong kind of value', 'b: [one x]'])
})

test('a client without permission to start a wait is not served', () => {
  const { store, got } = world()
  const name = utf8('ann')
  store.run('ACL', 'SETUSER', 'ann', 'on', '~jobs', '+@all', '-blpop')
  const ann = store.access.userNamed(name)!
  const attempt = (...words: string[]): string => {
    try {
      return store.begin(words as Bytes[], ann) instanceof Blocked ? 'waits' : 'runs'
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(attempt('BLPOP', 'jobs', '0')).toBe(
    "NOPERM this user has no permissions to run the 'blpop' command or its subcommand",
  )
  expect(attempt('BRPOP', 'mails', '0')).toContain('NOPERM')
  expect(attempt('BRPOP', 'jobs', '0')).toBe('waits')
  expect(got).toEqual([])
})
