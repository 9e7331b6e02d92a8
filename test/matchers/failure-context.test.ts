import { replaceFetch } from 'stuntdouble/fetch'
import { describe, expect, test } from 'vitest'
import { Chain } from '../../matchers/failure/chain.js'
import { hintsFromContext } from '../../matchers/failure/context-hints.js'
import { evidenceOf } from '../../matchers/received.js'
import { createSandbox, fault, type Sandbox } from '../../src/index.js'

const url = 'https://shop.test/orders'
const report = 'https://shop.test/report'

const world = (): Sandbox => createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z' })

/** Sends a command as the app does. */
async function command({ urls, fetch, tokens }: Sandbox, ...words: (string | number)[]): Promise<unknown> {
  const headers = { authorization: `Bearer ${tokens.store}` }
  const answer = await fetch(urls.store, { method: 'POST', headers, body: JSON.stringify(words) })
  return ((await answer.json()) as { result: unknown }).result
}

const told = (sandbox: Sandbox, isOwn?: (seq: number) => boolean, isMissing = true): string[] =>
  hintsFromContext(new Chain(evidenceOf('test', sandbox, 'sandbox'), { focus: [] }), isOwn, isMissing, () => true)

/** Delivers a message to a handler that counts, with a script. */
async function counted(...script: Parameters<Sandbox['destinations']['script']>[1]): Promise<string[]> {
  using sandbox = world()
  sandbox.destinations.script(url, script)
  sandbox.destinations.on(url, async () => {
    await command(sandbox, 'INCR', 'charged')
    return new Response()
  })
  sandbox.queue.publish({ to: url })
  await sandbox.clock.drain()
  return told(sandbox)
}

describe('hint about an effect of several attempts', () => {
  test.each([
    ['lost-ack', fault.lostAck(), 'its response was lost'],
    ['late-response', fault.lateResponse(), 'the handler responded with 200, 1 s after the timeout'],
  ])('%s', async (_, fault, why) => {
    const [sentence, ...others] = await counted(fault)
    expect(sentence).toMatch(
      /^msg_\w+… changed the key charged in each of 2 attempts\. Attempt 1 \(#\d+\) did so, but /,
    )
    expect(sentence).toContain(why)
    expect(sentence).toMatch(/so attempt 2 \(#\d+\) did so again\. Make the handler idempotent/)
    expect(others).toEqual([])
  })

  test('counts a third attempt', async () => {
    expect((await counted(fault.lostAck(), fault.lostAck()))[0]).toContain('in each of 3 attempts')
  })

  test('names a handler that fails after its work', async () => {
    using sandbox = world()
    let calls = 0
    sandbox.destinations.on(url, async () => {
      await command(sandbox, 'INCR', 'charged')
      return new Response(null, { status: calls++ === 0 ? 503 : 200 })
    })
    sandbox.queue.publish({ to: url })
    await sandbox.clock.drain()
    expect(told(sandbox)[0]).toContain('but the attempt ended with 503')
  })

  test('gives no hint if the first attempt had no effect, or one attempt had it twice', async () => {
    expect(await counted(fault.status(503), fault.hang(), fault.pass())).toEqual([])
    using sandbox = world()
    sandbox.destinations.on(url, async () => {
      await command(sandbox, 'INCR', 'charged')
      await command(sandbox, 'INCR', 'charged')
      return new Response()
    })
    sandbox.queue.publish({ to: url })
    sandbox.queue.publish({ to: url })
    await sandbox.clock.drain()
    expect(told(sandbox)).toEqual([])
  })
})

describe('hint about a changed key, by its state at the end of each attempt', () => {
  type Run = (...words: (string | number)[]) => Promise<unknown>

  /** Returns the hints about attempts that run these commands. All but the last attempt fail after them. */
  async function twice(
    work: (run: Run, attempt: number) => Promise<unknown>,
    seed?: (run: Run) => Promise<unknown>,
    most = 2,
  ): Promise<string[]> {
    using sandbox = world()
    const run: Run = (...words) => command(sandbox, ...words)
    await seed?.(run)
    let attempts = 0
    sandbox.destinations.on(url, async () => {
      await work(run, ++attempts)
      return new Response(null, { status: attempts < most ? 503 : 200 })
    })
    sandbox.queue.publish({ to: url })
    await sandbox.clock.drain()
    expect(attempts).toBe(most)
    return told(sandbox).filter((sentence) => sentence.includes('in each of'))
  }
  const released = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"

  test.each<[string, (run: Run, attempt: number) => Promise<unknown>]>([
    [
      'a lock that is released',
      async (run) => {
        await run('SET', 'lock:charge:1', 't', 'NX', 'PX', 30_000)
        await run('DEL', 'lock:charge:1')
      },
    ],
    [
      'a lock of any name that a script releases',
      async (run, attempt) => {
        await run('SET', 'charging', `t${attempt}`, 'PX', 30_000)
        await run('EVAL', released, 1, 'charging', `t${attempt}`)
      },
    ],
    ['a lock that expires before the next attempt', (run) => run('SET', 'lock:charge:1', 't', 'NX', 'PX', 1000)],
    ['a lock of a script', (run) => run('EVAL', "return redis.call('set', KEYS[1], 1, 'PX', 1000)", 1, 'charge-lock')],
    ['a mark that is free again', (run) => run('SET', 'seen:1', 't', 'NX', 'EX', 1)],
    ['the same value again', (run) => run('SET', 'state:1', 'paid')],
    ['the same value with a new time to live', (run) => run('SETEX', 'state:1', 60, 'paid')],
    ['the same fields of a hash', (run) => run('HSET', 'order:1', 'state', 'paid', 'by', 'ada')],
    ['the same document', (run) => run('JSON.SET', 'order:1', '$', '{"paid":true}')],
    ['the same member', (run) => run('SADD', 'paid', 1)],
    [
      'a counter that is as before',
      async (run) => {
        await run('INCR', 'running')
        await run('DECRBY', 'running', 1)
      },
    ],
    [
      'a counter of a script that may be as before',
      async (run) => {
        await run('EVAL', "return redis.call('incr', KEYS[1])", 1, 'running')
        await run('EVAL', "return redis.call('decr', KEYS[1])", 1, 'running')
      },
    ],
    [
      'a member that leaves among others',
      async (run, attempt) => {
        await run('ZADD', 'running', attempt, `worker-${attempt}`)
        await run('ZREM', 'running', `worker-${attempt}`)
      },
    ],
    [
      'a state that is set back',
      async (run) => {
        await run('SET', 'state:1', 'busy')
        await run('SET', 'state:1', 'idle')
      },
    ],
    ['only a time to live', (run) => run('EXPIRE', 'state:1', 60)],
  ])('gives no hint: %s', async (_, work) => {
    const seed = async (run: Run): Promise<void> => {
      await run('ZADD', 'running', 1, 'other')
      await run('SET', 'state:1', 'idle')
    }
    expect(await twice(work, _.startsWith('a counter') ? undefined : seed)).toEqual([])
  })

  test.each<[string, string, (run: Run, attempt: number) => Promise<unknown>]>([
    ['a counter', 'charged', (run) => run('INCRBY', 'charged', 5)],
    [
      'a counter that is not set back wholly',
      'charged',
      async (run) => {
        await run('INCRBY', 'charged', 5)
        await run('DECR', 'charged')
      },
    ],
    ['another value', 'state:1', (run, attempt) => run('SET', 'state:1', `paid ${attempt}`)],
    ['another field', 'order:1', (run, attempt) => run('HSET', 'order:1', `paid-${attempt}`, 1)],
    ['a list that grows', 'outbox', (run) => run('RPUSH', 'outbox', 'mail')],
    ['a stream', 'events', (run) => run('XADD', 'events', '*', 'paid', 1)],
    ['a field that counts', 'order:1', (run) => run('HINCRBY', 'order:1', 'charged', 5)],
    ['a fraction that is added', 'charged', (run) => run('INCRBYFLOAT', 'charged', 1.5)],
    ['a value that is set among others', 'paid', (run, attempt) => run('MSET', 'order', 'paid', 'paid', attempt)],
    ['a key whose name only contains the word', 'blocks:1', (run) => run('INCR', 'blocks:1')],
  ])('gives a hint: %s', async (_, key, work) => {
    const sentences = await twice(work)
    expect(sentences).toHaveLength(1)
    expect(sentences[0]).toContain(`changed the key ${key} in each of 2 attempts`)
  })

  const unclear: [string, (run: Run, attempt: number) => Promise<unknown>][] = [
    ['a value that a script sets', (run) => run('EVAL', "return redis.call('set', KEYS[1], 'paid')", 1, 'key')],
    ['a counter of a script', (run) => run('EVAL', "return redis.call('incrby', KEYS[1], ARGV[1])", 1, 'key', 0)],
    ['bytes at an offset', (run) => run('SETRANGE', 'key', 0, 'abc')],
    ['a union', (run) => run('SUNIONSTORE', 'key', 'set:a', 'set:b')],
    ['a copy', (run) => run('COPY', 'text', 'key', 'REPLACE')],
    ['an operation on bits', (run) => run('BITOP', 'NOT', 'key', 'text')],
    ['a path of a document', (run) => run('JSON.SET', 'document', '$.state', '"paid"')],
    [
      'a document that is written in another order',
      (run, attempt) => run('JSON.SET', 'document', '$', attempt % 2 === 0 ? '{"a":1,"b":2}' : '{"b":2,"a":1}'),
    ],
    [
      'a key that is renamed',
      async (run) => {
        await run('SET', 'new', 'v')
        await run('RENAME', 'new', 'key')
      },
    ],
    [
      'a list that is written anew',
      async (run) => {
        await run('DEL', 'key')
        await run('RPUSH', 'key', 'a', 'b')
      },
    ],
    [
      'a set that is written anew',
      async (run) => {
        await run('DEL', 'key')
        await run('SADD', 'key', 'a')
      },
    ],
    [
      'an element that moves to the front',
      async (run) => {
        await run('LREM', 'key', 0, 'a')
        await run('LPUSH', 'key', 'a')
      },
    ],
    [
      'a score that is as before',
      async (run) => {
        await run('ZINCRBY', 'key', 2, 'a')
        await run('ZINCRBY', 'key', -2, 'a')
      },
    ],
    [
      'a field that is as before',
      async (run) => {
        await run('HINCRBY', 'key', 'a', 2)
        await run('HINCRBY', 'key', 'a', -2)
      },
    ],
  ]
  test.each(unclear)('gives no hint, because the log lacks the previous value: %s', async (_, work) => {
    const seed = async (run: Run): Promise<void> => {
      await run('SET', 'text', 'v')
      await run('SADD', 'set:a', 'x')
      await run('SADD', 'set:b', 'y')
      await run('JSON.SET', 'document', '$', '{ "state": "new" }')
    }
    expect(await twice(work, seed, 3)).toEqual([])
  })

  test('names the charge and not the lock around it, in either order', async () => {
    for (const isKept of [false, true]) {
      const sentences = await twice(async (run) => {
        await run('SET', 'lock:charge:1', 't', 'NX', 'PX', 1000)
        await run('INCR', 'charged')
        if (!isKept) await run('DEL', 'lock:charge:1')
      })
      expect(sentences).toEqual([expect.stringContaining('changed the key charged in each of 2 attempts')])
    }
  })

  test('ignores changes by others in between', async () => {
    using sandbox = world()
    const run: Run = (...words) => command(sandbox, ...words)
    sandbox.destinations.on(url, async () => {
      await run('INCR', 'running')
      sandbox.store.run('INCR', 'running')
      await run('DECR', 'running')
      return new Response(null, { status: 503 })
    })
    sandbox.queue.publish({ to: url, retries: 1 })
    await sandbox.clock.drain()
    expect(told(sandbox).filter((sentence) => sentence.includes('in each of'))).toEqual([])
  })
})

describe('hint about a duplicate', () => {
  test('names the deduplication ID, the first message and its failure', async () => {
    using sandbox = world()
    sandbox.destinations.respond(url, 500)
    sandbox.queue.publish({ to: url, deduplicationId: 'order-42', retries: 0 })
    await sandbox.clock.advance('5m')
    sandbox.queue.publish({ to: url, deduplicationId: 'order-42', retries: 0 })
    expect(told(sandbox)).toEqual([
      expect.stringMatching(
        /^#\d+ to https:\/\/shop\.test\/orders was not delivered because it is a duplicate: it has the same deduplication ID order-42 as msg_\w+… \(#1\), published 5m earlier, which went to the dead-letter queue\. Use another/,
      ),
      expect.stringMatching('1 message went to the dead-letter queue'),
    ])
  })

  test('is missing if the failure is about something that exists', async () => {
    using sandbox = world()
    sandbox.queue.publish({ to: url, deduplicationId: 'order-42' })
    sandbox.queue.publish({ to: url, deduplicationId: 'order-42' })
    expect(told(sandbox, () => true, false)).toEqual([])
    expect(told(sandbox, () => true, true)[0]).not.toContain('failed')
  })
})

test('names skipped fire times of schedules once per reason', async () => {
  using sandbox = createSandbox({ seed: 7, startAt: '2030-03-28T12:00:00Z' })
  const { urls, clock, destinations, fetch, tokens } = sandbox
  destinations.respond(url, 200)
  const headers = { authorization: `Bearer ${tokens.queue}` }
  const ask = (path: string, more = {}): Promise<Response> =>
    fetch(`${urls.queue}/v2/schedules/${path}`, { method: 'POST', headers: { ...headers, ...more } })
  await ask(url, { 'service-cron': 'CRON_TZ=Europe/Berlin 30 2 * * *', 'service-schedule-id': 'nightly' })
  await clock.advanceTo('2030-03-29T12:00:00Z')
  await ask('nightly/pause')
  await clock.advanceTo('2030-03-30T12:00:00Z')
  await ask('nightly/resume')
  await clock.advanceTo('2030-04-01T12:00:00Z')
  expect(told(sandbox)).toEqual([
    expect.stringMatching(/nightly .*2030-03-30 01:30:00\.000Z \(#10\): .*paused/),
    expect.stringMatching(/nightly .*2030-03-31 01:00:00\.000Z \(#14\): .*Europe\/Berlin .*02:00 to 03:00/),
  ])
})

test('names a SET NX that found its key', async () => {
  using sandbox = world()
  await command(sandbox, 'SET', 'seen:42', 1, 'EX', 86_400, 'NX')
  await sandbox.clock.advance('1h')
  await command(sandbox, 'SET', 'seen:42', 1, 'EX', 86_400, 'NX')
  expect(told(sandbox)).toEqual([
    expect.stringMatching(/^#\d+ SET seen:42 1 EX 86400 NX had no effect.*#4 created it at 09:00:00\.000/),
  ])
  expect(told(sandbox, () => false, false)).toEqual([])
})

test('names the command that created the key which SET NX found', async () => {
  using sandbox = world()
  await command(sandbox, 'SET', 'lock', 'a', 'NX')
  await command(sandbox, 'DEL', 'lock')
  sandbox.store.run('SET', 'lock', 'b')
  sandbox.store.run('EXPIRE', 'lock', 60)
  await command(sandbox, 'SET', 'lock', 'c', 'NX')
  const maker = sandbox.traffic.ofType('command').find(({ argv }) => String(argv[2]) === 'b')!
  expect(told(sandbox)).toEqual([expect.stringContaining(`#${maker.seq} created it at `)])
  sandbox.store.run('FLUSHALL')
  await command(sandbox, 'SET', 'lock', 'd', 'NX')
  await command(sandbox, 'SET', 'lock', 'e', 'NX')
  expect(told(sandbox)).toEqual([expect.stringContaining('SET lock e NX had no effect')])
})

// With GET, the reply of a SET that took effect is null: the key had no value before.
test('gives no hint about a SET NX GET that created its key', async () => {
  using sandbox = world()
  await command(sandbox, 'SET', 'lock', 'a', 'NX', 'GET')
  expect(sandbox.store.get('lock')).toBe('a')
  expect(told(sandbox)).toEqual([])
})

test('gives no hint about a SET NX of a key that the app changes afterwards', async () => {
  using sandbox = world()
  sandbox.destinations.on(url, async () => {
    await command(sandbox, 'SET', 'visits', 0, 'NX')
    await command(sandbox, 'INCR', 'visits')
    return new Response()
  })
  sandbox.queue.publish({ to: url })
  sandbox.queue.publish({ to: url })
  await sandbox.clock.drain()
  expect(sandbox.store.get('visits')).toBe('2')
  expect(told(sandbox)).toEqual([])
})

test('gives no hint about a lock that the app got later', async () => {
  using sandbox = world()
  const lock = ['lock:1', 't', 'NX', 'PX', 1000] as const
  let holder = true
  sandbox.destinations.on(url, async (_, task) => {
    if (holder) await command(sandbox, 'SET', 'lock:1', 'other', 'PX', 500)
    holder = false
    while ((await command(sandbox, 'SET', ...lock)) === null) await task.sleep(100)
    return new Response()
  })
  sandbox.queue.publish({ to: url })
  await sandbox.clock.drain()
  expect(sandbox.traffic.ofType('command').filter(({ reply }) => reply === null).length).toBeGreaterThan(1)
  expect(told(sandbox)).toEqual([])
})

test('names callbacks that arrived out of order', async () => {
  using sandbox = world()
  const { clock, destinations, queue } = sandbox
  destinations.script(url, [fault.status(503)]).script(report, [fault.status(502)])
  destinations.respond(url, 200).respond(report, 200)
  queue.publish({ to: url, callback: report, retryDelay: '5000' })
  await clock.drain()
  expect(told(sandbox)).toEqual([
    expect.stringMatching(
      /^Callbacks about msg_\w+… arrived out of order: first the callback about attempt 2 at 09:00:05\.000 \(#\d+\), then the callback about attempt 1 at 09:00:12\.000 \(#\d+\)\./,
    ),
  ])
})

test('names a repeated request, and whether the first one did its work', async () => {
  using sandbox = world()
  sandbox.faults.add([fault.lostAck(), fault.status(503)].map((fault) => ({ on: 'store.request', times: 1, fault })))
  for (let count = 0; count < 3; count++) await command(sandbox, 'INCR', 'visits').catch(() => undefined)
  expect(told(sandbox)).toEqual([
    expect.stringContaining(
      'POST https://store.test/ was sent 3 times: #1 got no response although the work was done; #5 got status 503; then #7',
    ),
  ])
})

test('gives no hint about a repeated request that did nothing before', async () => {
  using sandbox = world()
  using _ = replaceFetch(sandbox)
  sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.status(503) })
  for (let count = 0; count < 2; count++) await command(sandbox, 'INCR', 'visits')
  const report = 'https://b.test/report'
  let calls = 0
  sandbox.outbound.on(report, () => new Response(null, { status: calls++ === 0 ? 503 : 200 }))
  for (let count = 0; count < 2; count++) await fetch(report)
  expect(told(sandbox)).toEqual([])
})

test('names dead letters and failed failure callbacks', async () => {
  using sandbox = world()
  const { clock, destinations, queue } = sandbox
  destinations.respond(url, 500).respond(report, 503)
  queue.publish({ to: url, retries: 0, failureCallback: report })
  await clock.drain()
  expect(told(sandbox)).toEqual([
    expect.stringMatching(
      /^2 messages went to the dead-letter queue: msg_\w+… to https:\/\/shop\.test\/orders, 500 Internal Server Error \(#\d+\); failure callback msg_\w+… to https:\/\/shop\.test\/report, 503 Service Unavailable \(#\d+\)\./,
    ),
  ])
})

test('counts dead letters with the same error', async () => {
  using sandbox = world()
  for (let count = 0; count < 3; count++) sandbox.queue.publish({ to: url, retries: 0 })
  sandbox.destinations.respond(url, 500)
  await sandbox.clock.drain()
  expect(told(sandbox)).toEqual([
    expect.stringMatching(
      /^3 messages .*dead-letter queue: 3 messages to https:\/\/shop\.test\/orders, 500 .* \(first #\d+\)\.$/,
    ),
  ])
})

test('does not repeat a dead letter that the failure is about', async () => {
  using sandbox = world()
  sandbox.queue.publish({ to: url, retries: 0 })
  await sandbox.clock.drain()
  expect(told(sandbox)).toHaveLength(1)
  expect(told(sandbox, () => true)).toEqual([])
})

test('prints at most three hints, those about the failure first', async () => {
  using sandbox = world()
  for (const id of ['a', 'b', 'c', 'd', 'd', 'c', 'b', 'a']) sandbox.queue.publish({ to: url, deduplicationId: id })
  expect(told(sandbox)).toHaveLength(3)
  expect(told(sandbox, (seq) => seq === 8)[0]).toContain('#8 ')
  expect(told(sandbox, () => false)).toHaveLength(3)
})

test('gives no hint for a log without anomalies', async () => {
  using sandbox = world()
  sandbox.destinations.respond(url, 200)
  sandbox.queue.publish({ to: url })
  await command(sandbox, 'SET', 'k', 'v', 'NX')
  await sandbox.clock.drain()
  expect(told(sandbox)).toEqual([])
})

describe('hint about outbound requests of several attempts', () => {
  const bank = 'https://bank.test/charges'

  /** Returns the hints about a delivery that sends an outbound request in each of two attempts. */
  async function called(prepare: (calls: Sandbox['outbound']) => void, init: RequestInit): Promise<string[]> {
    using sandbox = world()
    using _ = replaceFetch(sandbox)
    prepare(sandbox.outbound)
    let attempts = 0
    sandbox.destinations.on(url, async () => {
      await fetch(bank, init)
      return new Response(null, { status: attempts++ === 0 ? 503 : 200 })
    })
    sandbox.queue.publish({ to: url })
    await sandbox.clock.drain()
    expect(sandbox.traffic.ofType('outbound').length).toBeGreaterThan(1)
    return told(sandbox)
  }
  const works = (calls: Sandbox['outbound']): unknown => calls.respond(bank, 201)

  test('names a lost response of the host', async () => {
    const [sentence] = await called((calls) => works(calls) && calls.script(bank, [fault.lostAck()]), {
      method: 'POST',
    })
    expect(sentence).toMatch(
      /^msg_\w+… called POST https:\/\/bank\.test\/charges in each of 3 attempts\. Attempt 1 \(#\d+\) did so, but the response was lost after the host had done the work, and /,
    )
  })

  test('names a delivery that failed after the request', async () => {
    expect(await called(works, { method: 'POST' })).toEqual([
      expect.stringContaining('called POST https://bank.test/charges in each of 2 attempts'),
    ])
  })

  test.each<[string, (calls: Sandbox['outbound']) => void, RequestInit]>([
    ['of a call that only reads', works, {}],
    ['of a call that says what has to be in the end', works, { method: 'PUT' }],
    ['of a call by whose key the host knows it', works, { method: 'POST', headers: { 'Idempotency-Key': 'order-1' } }],
    ['where the host did not do it', (calls) => calls.respond(bank, 503), { method: 'POST' }],
    [
      'where its handler threw',
      (calls) =>
        calls.on(bank, () => {
          throw new Error('down')
        }),
      { method: 'POST' },
    ],
    [
      'where it did not do it, and its response was lost',
      (calls) => calls.respond(bank, 503).script(bank, [fault.lostAck(), fault.lostAck()]),
      { method: 'POST' },
    ],
  ])('is missing %s', async (_, prepare, init) => {
    expect(await called(prepare, init)).toEqual([])
  })
})
