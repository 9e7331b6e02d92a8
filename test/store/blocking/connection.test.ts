import { Redis } from 'ioredis'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ioredisConnector } from '../../../packages/server/src/redis-port/in-process.js'
import { type Bytes, utf8 } from '../../../src/kernel/bytes.js'
import type { Blocked } from '../../../src/store/blocking/blocked.js'
import { nilArray } from '../../../src/store/command/reply.js'
import { storeInternals } from '../../../src/store/store-internals.js'

describe('store.connect()', () => {
  test('waits for elements from run() and from REST', async () => {
    using sandbox = createSandbox()
    const { store, urls, tokens } = sandbox
    const [ada, ben] = [store.connect(), store.connect()]
    const [first, second] = [ada.run('BLPOP', 'jobs', 0), ben.run('BLPOP', 'jobs', 0)]
    store.run('RPUSH', 'jobs', 'a')
    expect(await first).toEqual(['jobs', 'a'])
    await sandbox.fetch(`${urls.store}/rpush/jobs/b`, { headers: { authorization: `Bearer ${tokens.store}` } })
    expect(await second).toEqual(['jobs', 'b'])
  })

  test('logs a blocked command after the command that served it', async () => {
    using sandbox = createSandbox()
    const waits = sandbox.store.connect().run('BLPOP', 'jobs', 0)
    await sandbox.clock.advance('2s')
    sandbox.store.run('RPUSH', 'jobs', 'a')
    await waits
    const commands = sandbox.traffic.entries.filter((entry) => entry.type === 'command')
    expect(commands.map(({ argv, reply, waitedMs: waited }) => [argv[0], reply, waited])).toEqual([
      ['RPUSH', 1, undefined],
      ['BLPOP', ['jobs', 'a'], 2000],
    ])
    expect(sandbox.traffic.timeline()).toMatch(/BLPOP jobs 0 .*by the test.*waited 2s/)
    expect(JSON.stringify(sandbox.traffic.toTrace())).toContain('"waitedMs":2000')
    expect(sandbox.asOf({ seq: sandbox.traffic.last()!.seq }).store.run('EXISTS', 'jobs')).toBe(0)
  })

  test('replies in the order of its commands', async () => {
    using sandbox = createSandbox()
    const connection = sandbox.store.connect()
    const replies = [connection.run('BLPOP', 'jobs', 1), connection.run('PING'), connection.run('BLPOP', 'jobs', 1)]
    expect(connection.isWaiting).toBe(true)
    await sandbox.clock.advance('1s')
    expect(await Promise.all(replies.slice(0, 2))).toEqual([null, 'PONG'])
    await sandbox.clock.advance('1s')
    expect(await replies[2]).toBe(null)
  })

  test('lets a worker take what deliveries add, at their time', async () => {
    using sandbox = createSandbox({ startAt: '2030-01-01T00:00:00Z' })
    const { store, clock, destinations, queue } = sandbox
    destinations.on('https://shop.test/order', async (request) => {
      store.run('RPUSH', 'jobs', await request.text())
      return new Response()
    })
    const done: unknown[] = []
    const work = async (): Promise<void> => {
      const worker = store.connect()
      for (;;) {
        const job = (await worker.run('BLPOP', 'jobs', 5)) as readonly string[] | null
        done.push([clock.now() - Date.UTC(2030, 0, 1), job?.[1]])
      }
    }
    void work().catch(() => {})
    queue.publish({ to: 'https://shop.test/order', body: 'one', delay: '7s' })
    queue.publish({ to: 'https://shop.test/order', body: 'two', delay: '9s' })
    await clock.advance('15s')
    expect(done).toEqual([
      [5000, undefined],
      [7000, 'one'],
      [9000, 'two'],
      [14000, undefined],
    ])
  })

  test('lets a drain end although a worker waits repeatedly or without a timeout', async () => {
    using sandbox = createSandbox({ startAt: 0 })
    const { store, clock } = sandbox
    void store
      .connect()
      .run('BLPOP', 'jobs', 0)
      .catch(() => {})
    const polls: number[] = []
    const poll = async (): Promise<void> => {
      const worker = store.connect()
      for (;;) {
        await worker.run('BLPOP', 'other', 5)
        polls.push(clock.now())
      }
    }
    await clock.drain()
    expect(clock.now()).toBe(0)
    void poll().catch(() => {})
    await clock.drain()
    expect(polls).toEqual([5000])
    await clock.drain()
    expect(polls).toEqual([5000, 10_000])
  })

  test('lets time move for a handler that passes its task', async () => {
    using sandbox = createSandbox()
    const { store, clock, destinations, queue } = sandbox
    destinations.on('https://shop.test/take', async (_request, task) => {
      const taken = await store.connect({ task }).run('BLPOP', 'jobs', 60)
      return Response.json(taken)
    })
    destinations.on('https://shop.test/bring', () => {
      store.run('RPUSH', 'jobs', 'x')
      return new Response()
    })
    queue.publish({ to: 'https://shop.test/take' })
    queue.publish({ to: 'https://shop.test/bring', delay: '20s' })
    await clock.drain()
    const outcomes = sandbox.traffic.entries.filter((entry) => entry.type === 'attempt').map(({ at }) => at)
    expect(outcomes).toHaveLength(2)
    expect(store.run('EXISTS', 'jobs')).toBe(0)
    expect(clock.now() - outcomes[0]!).toBe(20_000)
    expect(clock.pending).toEqual([])
    for (const after of [0, 10_000, 20_000]) {
      using fork = await sandbox.fork({ at: outcomes[0]! + after })
      await fork.clock.advanceTo(clock.now())
      expect(fork.traffic.entries.filter((entry) => entry.type === 'attempt').map(({ at }) => at)).toEqual(outcomes)
    }
  })

  test('ends its wait when it is closed', async () => {
    using sandbox = createSandbox()
    const { store } = sandbox
    const connection = store.connect()
    const waits = connection.run('BLPOP', 'jobs', 10)
    const behind = connection.run('PING')
    connection.close()
    await expect(waits).rejects.toThrow('closed')
    await expect(behind).rejects.toThrow('store.connect()')
    store.run('RPUSH', 'jobs', 'a')
    expect(store.run('LLEN', 'jobs')).toBe(1)
    expect(sandbox.clock.pending).toEqual([])
  })

  test('never resolves after the sandbox was disposed', async () => {
    using sandbox = createSandbox()
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    sandbox.store.connect().run('BLPOP', 'jobs', 10).then(over, over)
    const { engine } = storeInternals.of(sandbox.store)
    const told: unknown[] = []
    engine.waiting.blocked[0]!.onEnd((end) => told.push('error' in end && String(end.error)))
    sandbox.reset()
    sandbox.store.run('RPUSH', 'jobs', 'a')
    await sandbox.clock.advance('1m')
    expect(isOver).toBe(false)
    expect(told).toEqual([expect.stringContaining('reset, loaded or disposed')])
  })

  test('is not part of a dump or a fork', async () => {
    using sandbox = createSandbox()
    const { store } = sandbox
    const bare = JSON.stringify(sandbox.dump())
    const waits = store.connect().run('BLPOP', 'jobs', 10)
    expect(JSON.stringify(sandbox.dump())).toBe(bare)
    using fork = await sandbox.fork()
    expect(fork.clock.pending).toEqual([])
    fork.store.run('RPUSH', 'jobs', 'a')
    expect(fork.store.run('LLEN', 'jobs')).toBe(1)
    using second = await fork.fork()
    expect(second.store.run('LLEN', 'jobs')).toBe(1)
    store.run('RPUSH', 'jobs', 'b')
    expect(await waits).toEqual(['jobs', 'b'])
    using later = await sandbox.fork()
    expect(later.store.run('LLEN', 'jobs')).toBe(0)
  })
})

test('replays commands of connections in a fork: transactions, and waits that they end', async () => {
  using sandbox = createSandbox()
  const { commands, engine } = storeInternals.of(sandbox.store)
  const sender = { user: engine.access.standardUser, via: 'transaction', client: {} } as const
  const words = (line: string): Bytes[] => line.split(' ').map((word) => utf8(word))
  const [ada, ben] = ['BLPOP one two 0', 'BRPOP two 0'].map((line) => commands.start(words(line), sender) as Blocked)
  const ends = commands.transact(['RPUSH two x y', 'BLPOP none 0', 'RPUSH one z', 'GET two'].map(words), sender)
  expect(ends.map((end) => ('reply' in end ? end.reply : (end.error as Error).message))).toEqual([
    2,
    nilArray,
    1,
    'WRONGTYPE Operation against a key holding the wrong kind of value',
  ])
  expect([ada!.end, ben!.end]).toEqual([{ reply: ['two', 'x'] }, { reply: ['two', 'y'] }])
  const late = commands.start(words('BLPOP none 9'), sender) as Blocked
  late.unblock('ERROR')
  await expect(late.ended).rejects.toThrow('UNBLOCKED')
  await sandbox.clock.advance('1m')
  sandbox.store.run('RPUSH', 'none', 'left')
  using fork = await sandbox.fork()
  expect(fork.dump()).toEqual(sandbox.dump())
  expect(fork.traffic.toTrace().entries).toEqual(sandbox.traffic.toTrace().entries)
})

test('warns that no code moves time while a wait has a timeout, for every client', async () => {
  const warnings: string[][] = []
  const world = (): Sandbox => {
    const told: string[] = []
    warnings.push(told)
    const sandbox = createSandbox({ onWarning: (sentence) => told.push(sentence) })
    onTestFinished(() => sandbox.dispose())
    return sandbox
  }
  void world().store.connect().run('BLPOP', 'jobs', 5)
  const redis = new Redis({ Connector: ioredisConnector(world()) })
  onTestFinished(() => redis.disconnect())
  void redis.blpop('jobs', 5).catch(() => undefined)
  // No warning for a wait that only another command ends, or for one that was served.
  void world().store.connect().run('BLPOP', 'jobs', 0)
  const served = world()
  void served.store.connect().run('BLPOP', 'jobs', 5)
  served.store.run('RPUSH', 'jobs', 'a')
  served.queue.publish({ to: 'https://shop.test/orders', delay: '1h' })
  await new Promise((resolve) => setTimeout(resolve, 1200))
  const told = expect.stringMatching(/\(BLPOP\) waits .*BLPOP jobs .*\(due in 5s\)/i)
  expect(warnings).toEqual([[told], [told], [], []])
})

test('run(), transactions and scripts never wait', async () => {
  using sandbox = createSandbox()
  const { store, clock } = sandbox
  expect(store.run('XREAD', 'BLOCK', 0, 'STREAMS', 's', '$')).toBe(null)
  expect(() => store.run('BLPOP', 'l', 0)).toThrow(/not available/)
  const connection = store.connect()
  expect(await connection.run('EVAL', "return redis.call('XREAD', 'BLOCK', 0, 'STREAMS', 's', '$')", 0)).toBe(null)
  await expect(connection.run('EVAL', "return redis.call('BLPOP', 's', 0)", 0)).rejects.toThrow('not allowed')
  expect(clock.pending).toEqual([])
})

test.each(['manual', 'auto', 'real'] as const)('ends a wait by its timeout in mode %s', async (mode) => {
  using sandbox = createSandbox({ clock: mode })
  const connection = sandbox.store.connect()
  const waits = (async () => [
    await connection.run('BLPOP', 'jobs', 0.01),
    await connection.run('BLPOP', 'jobs', 0.01),
  ])()
  if (mode === 'manual') await sandbox.clock.advance('1s')
  expect(await waits).toEqual([null, null])
})
