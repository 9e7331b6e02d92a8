import { describe, expect, test, vi } from 'vitest'
import * as fault from '../../../src/faults/constructors.js'
import { createSandbox } from '../../../src/sandbox/sandbox.js'
import { open, shop } from './shop.js'

// Each mistake of a user results in an error that names the next step.

const wrong = (value: unknown): never => value as never

describe('a mistake', () => {
  test.each<[string, () => unknown, RegExp]>([
    ['dialect', () => createSandbox({ dialect: wrong('vendor') }), /dialect must be 'auto', 'neutral', 'upstash'/],
    [
      'dialect of an object',
      () => createSandbox({ dialect: wrong('constructor') }),
      /dialect must be 'auto', 'neutral', 'upstash'/,
    ],
    ['policy', () => createSandbox({ policy: wrong({ retrys: 3 }) }), /no policy "retrys".*retries/],
    ['clock mode', () => createSandbox({ clock: wrong('fast') }), /clock must be one of 'manual', 'auto', 'real'/],
    ['start', () => createSandbox({ startAt: 'soon' }), /"soon" is not a time\. Use/],
    ['start out of all time', () => createSandbox({ startAt: 1e18 }), /is not a time\. Use/],
    ['duration', () => createSandbox().clock.advance(wrong('5 minutes')), /"5 minutes" is not a duration\. Use/],
    ['no duration', () => createSandbox().clock.advance(wrong(undefined)), /is not a duration\. Use/],
    ['backwards', () => createSandbox().clock.advance(-1), /-1 is not a duration/],
    ['no instant', () => createSandbox().clock.advanceTo(wrong(undefined)), /is not a time\. Use/],
    ['an instant in the past', () => createSandbox().clock.advanceTo(0), /must not be in the past.*earlier startAt/],
    ['beyond all time', () => createSandbox().clock.advance(1e17), /is not a time\. Use/],
    ['foreign url', () => createSandbox().fetch('https://example.com/'), /Check sandbox\.owns\(url\)/],
    [
      'undefined word',
      () => createSandbox().store.run('SET', 'k', wrong(undefined)),
      /argument 3 must be .*\(got undefined\)/,
    ],
    [
      'object word',
      () => createSandbox().store.run('SET', 'k', wrong({ a: 1 })),
      /argument 3 must be .*\(got object\).*JSON\.stringify/,
    ],
    ['publish nothing', () => createSandbox().queue.publish(wrong(undefined)), /queue\.publish\(\{ to:/],
    [
      'publish option',
      () => createSandbox().queue.publish(wrong({ to: shop, retrys: 1 })),
      /no option "retrys"\. Did you mean "retries"\?/,
    ],
    [
      'handler',
      () => createSandbox().destinations.on(shop, wrong(undefined)),
      /second argument must be a function \(request, task\) => Response/,
    ],
    ['relative url', () => createSandbox().destinations.on('/orders', () => new Response()), /must be an absolute URL/],
    ['answer', () => createSandbox().destinations.respond(shop, wrong(undefined)), /second argument must be a status/],
    [
      'script',
      () => createSandbox().destinations.script(shop, [wrong('500')]),
      /step 1: a status must be a number \(got "500"\)/,
    ],
    [
      'no step',
      () => createSandbox().destinations.script(shop, [wrong(true)]),
      /a step must be a status such as 503 or an object/,
    ],
    [
      'no status',
      () => createSandbox().destinations.script(shop, [99]),
      /step 1: a status must be a whole number from 200 to 599/,
    ],
    [
      'a missing status',
      () => fault.status(wrong(undefined)),
      /status\(\) needs an HTTP status\. Write fault\.status\(503\)/,
    ],
    [
      'script without a list',
      () => createSandbox().destinations.script(shop, wrong(fault.status(500))),
      /must be an array/,
    ],
    ['status', () => fault.status(99), /from 200 to 599/],
    [
      'nothing arrived',
      () => createSandbox().destinations.record(shop).last(),
      /Await clock\.drain\(\) or clock\.advance\(\) first/,
    ],
  ])('throws an error that names the next step: %s', async (_, misuse, sentence) => {
    await expect((async () => misuse())()).rejects.toThrow(sentence)
  })

  test('gets a 400 for a delay beyond the last valid date, and the timeline can still be printed', async () => {
    const { client, clock, sandbox } = open()
    await expect(client.publish({ url: shop, delay: '99999999999d' as never })).rejects.toMatchObject({ status: 400 })
    await clock.drain()
    expect(sandbox.traffic.timeline()).toContain('400')
  })
})

describe('Clock', () => {
  test('advance() rejects a second call before the first has ended, without disturbing the first', async () => {
    const { clock } = createSandbox()
    const start = clock.now()
    const first = clock.advance('1m')
    await expect(clock.advance('1m')).rejects.toThrow(
      /while clock\.advance\(\) was still running\. Await the first call/,
    )
    await first
    expect(clock.now() - start).toBe(60_000)
    await clock.advance('1m')
    expect(clock.now() - start).toBe(120_000)
  })

  test('advance() inside a handler fails that delivery and nothing else', async () => {
    const { client, clock, destinations } = open()
    destinations.on(shop, async () => {
      await clock.advance('1s')
      return new Response()
    })
    await client.publish({ url: shop, retries: 0 })
    await clock.drain()
    expect(String(destinations.errors[0])).toMatch(/use task\.sleep\(\) inside a handler/)
    expect((await client.dlq.listMessages()).messages).toMatchObject([{ responseStatus: 500 }])
  })

  test('reports a 500 to the queue and an error to the test when a handler throws or returns nothing', async () => {
    const { client, clock, destinations } = open()
    destinations.on(shop, () => {
      throw new RangeError('no stock')
    })
    destinations.on(`${shop}/2`, () => wrong(undefined))
    await client.publish({ url: shop, retries: 0 })
    await client.publish({ url: `${shop}/2`, retries: 0 })
    await clock.drain()
    expect(destinations.errors.map(String)).toEqual([
      'RangeError: no stock',
      expect.stringContaining('returned undefined. Return a Response'),
    ])
    expect((await client.dlq.listMessages()).messages.map(({ responseStatus }) => responseStatus)).toEqual([500, 500])
  })

  test('names a handler that hangs after one second and continues once it ends', async () => {
    const warnings: string[] = []
    const { client, clock, destinations } = open({ onWarning: (text) => warnings.push(text) })
    let finish = (): void => undefined
    destinations.on(shop, () => new Promise((resolve) => (finish = () => resolve(new Response()))))
    await client.publish({ url: shop })
    const drained = clock.drain()
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: 5000 })
    expect(warnings[0]).toMatch(
      /clock\.drain\(\) has waited 1 real second.*delivery to https:\/\/shop\.test\/orders.*task\.sleep\(\)/,
    )
    finish()
    await drained
  })

  test.each(['fake timers of everything', 'a frozen Date'])('drain() ends with %s', async (kind) => {
    vi.useFakeTimers(kind === 'a frozen Date' ? { toFake: ['Date'] } : {})
    try {
      const { client, clock, destinations, redis } = open()
      destinations.on(shop, async (_request, task) => {
        await task.sleep('3s')
        return new Response('', { status: 500 })
      })
      await client.publishJSON({ url: shop, body: 1, retries: 2 })
      await redis.set('k', 'v', { ex: 60 })
      await clock.drain()
      expect((await client.dlq.listMessages()).messages).toHaveLength(1)
      expect(await redis.get('k')).toBeNull()
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('Sandbox.dispose() and reset()', () => {
  test('dispose() restores the global fetch, stops the clock and can be called twice', async () => {
    const before = globalThis.fetch
    const { sandbox, clock } = open()
    expect(globalThis.fetch).not.toBe(before)
    sandbox.dispose()
    sandbox.dispose()
    sandbox[Symbol.dispose]()
    expect(globalThis.fetch).toBe(before)
    await expect(clock.advance('1s')).rejects.toThrow(/disposed sandbox.*before a reset/)
  })

  test('reset() restores a new sandbox: same IDs, nothing stored, nothing pending', async () => {
    const { sandbox, client, redis } = open()
    const first = await client.publish({ url: shop, delay: 10 })
    await redis.set('k', 'v')
    const calls = sandbox.destinations.record(shop)
    sandbox.reset()
    expect(await redis.get('k')).toBeNull()
    await sandbox.clock.drain()
    expect(calls.count).toBe(0)
    const again = await client.publish({ url: shop, delay: 10 })
    expect(again.messageId).toBe(first.messageId)
    expect(sandbox.queue.messages).toHaveLength(1)
  })

  test('createSandbox() makes several sandboxes with different names in one file', async () => {
    const worlds = ['a', 'b', 'c'].map((name) => open({ name }))
    await Promise.all(
      worlds.map(async ({ redis, client, clock, destinations }, index) => {
        const seen = destinations.record(shop)
        await redis.set('who', index)
        await client.publishJSON({ url: shop, body: { index }, delay: index })
        await clock.advance(`${index}s`)
        expect(seen.requests.map((attempt) => attempt.json())).toEqual([{ index }])
        expect(await redis.get('who')).toBe(index)
      }),
    )
  })
})
