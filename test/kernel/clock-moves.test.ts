import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { accompany, Clock, stop } from '../../src/kernel/clock.js'

const start = Date.parse('2030-01-01T00:00:00Z')

/** Returns a clock with a recurring timer each minute, as a schedule has. */
function minutes(): { clock: Clock; fired: () => number } {
  const clock = new Clock({ startAt: start })
  let fired = 0
  const tick = (): void => {
    fired++
    clock.schedule(clock.now() + 60_000, 'minute', tick, { background: true })
  }
  clock.schedule(start + 60_000, 'minute', tick, { background: true })
  return { clock, fired: () => fired }
}

/** Lets the host read inputs such as sockets. */
const outside = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a long move', () => {
  test('yields to other code', async () => {
    const { clock } = minutes()
    let isOver = false
    const move = clock.advance('30d').then(() => {
      isOver = true
    })
    let turns = 0
    for (; !isOver; turns++) await outside()
    await move
    // 43,200 timers, a turn after each hundred; a few fall together.
    expect(turns).toBeGreaterThan(300)
  })

  test('yields to other code when its work is asynchronous', async () => {
    const clock = new Clock({ startAt: start })
    for (let n = 0; n < 5_000; n++) clock.schedule(start + n, 'work', async () => undefined)
    let isOver = false
    const move = clock.drain().then(() => {
      isOver = true
    })
    let turns = 0
    for (; !isOver; turns++) await outside()
    await move
    expect(turns).toBeGreaterThan(40)
  })

  test.each(['advance', 'advanceTo'] as const)(
    'clock.%s() ends when its signal aborts, and can be continued',
    async (call) => {
      const { clock, fired } = minutes()
      const client = new AbortController()
      const reason = new Error('the client is gone')
      const { signal } = client
      const move =
        call === 'advance' ? clock.advance('365000d', { signal }) : clock.advanceTo('3000-01-01T00:00:00Z', { signal })
      await outside()
      client.abort(reason)
      await expect(move).rejects.toBe(reason)
      // Everything due until then has run, and nothing else.
      expect(fired()).toBe(Math.floor((clock.now() - start) / 60_000))
      expect(clock.pending).toHaveLength(1)
      const reached = fired()
      await clock.advance('10m')
      expect(fired()).toBe(reached + 10)
    },
  )

  test('does not begin if its signal is already aborted', async () => {
    const { clock, fired } = minutes()
    await expect(clock.advance('1h', { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
    expect([clock.now(), fired()]).toEqual([start, 0])
  })

  test('ends with interrupt(), which returns the name of the call', async () => {
    const { clock } = minutes()
    expect(clock.interrupt()).toBeUndefined()
    const move = clock.advance('365000d')
    await outside()
    expect(clock.interrupt()).toBe('advance')
    await expect(move).rejects.toThrow(/clock\.advance\(\) was interrupted at 20\d\d-.*Call it again/)
    expect(clock.interrupt()).toBeUndefined()
  })

  test('ends with interrupt() although its work never ends; that work still blocks time', async () => {
    const clock = new Clock({ startAt: start, warn: () => {} })
    let finish = (): void => {}
    clock.schedule(start + 5, 'slow', () => new Promise<void>((resolve) => (finish = resolve)))
    clock.schedule(start + 10, 'next', () => {})
    const move = clock.drain()
    await outside()
    clock.interrupt()
    await expect(move).rejects.toThrow('clock.drain() was interrupted at 2030-01-01T00:00:00.005Z,')
    const again = clock.drain()
    await outside()
    expect(clock.now()).toBe(start + 5)
    finish()
    await again
    expect(clock.now()).toBe(start + 10)
  })

  test.each(['reset', 'dispose', 'load'] as const)('ends when the sandbox is ended by %s', async (how) => {
    using sandbox = createSandbox({ onWarning: () => {} })
    const { clock, destinations, queue } = sandbox
    const dump = sandbox.dump()
    destinations.on('https://shop.test/never', () => new Promise<Response>(() => {}))
    queue.publish({ to: 'https://shop.test/never' })
    const move = clock.advance('1h')
    const settled = clock.settle()
    await outside()
    if (how === 'load') sandbox.load(dump)
    else sandbox[how]()
    await expect(move).rejects.toThrow(
      /clock\.advance\(\) ended at 2030-01-01T00:00:00\.000Z.*reset, loaded or disposed/,
    )
    await settled
  })

  test('does not begin on an automatic clock if the sandbox was reset while it was queued', async () => {
    const clock = new Clock({ startAt: start, mode: 'auto', warn: () => {} })
    clock.schedule(start, 'never', () => new Promise<void>(() => {}))
    const [first, second] = [clock.advance('1h'), clock.advance('1h')]
    await outside()
    stop(clock)
    await expect(first).rejects.toThrow('clock.advance() ended at')
    await expect(second).rejects.toThrow('was called on a disposed sandbox')
  })
})

describe('the limit of timers at one instant', () => {
  const shop = 'https://shop.test/x'

  test('stops advance() with an error that names the option for more', async () => {
    using sandbox = createSandbox()
    const { clock, destinations, queue } = sandbox
    destinations.respond(shop, 200)
    destinations.on('https://shop.test/start', () => {
      for (let at = 0; at < 25_000; at++) queue.publish({ to: shop })
      return new Response()
    })
    queue.publish({ to: 'https://shop.test/start' })
    await expect(clock.advance('1s')).rejects.toThrow(
      /clock\.advance\(\) stopped: 20040 timers.*one instant.*"delivery to https:\/\/shop\.test\/x" .*clock\.advance\(…, \{ maxTimers \}\)/,
    )
    await clock.advance('1s', { maxTimers: 30_000 })
    expect(queue.messages.filter(({ state }) => state !== 'DELIVERED')).toEqual([])
  })

  test('throws a TypeError for a maxTimers that is not a number', async () => {
    using sandbox = createSandbox()
    await expect(sandbox.clock.advance('1s', { maxTimers: Number.NaN })).rejects.toThrow(
      /clock\.advance\(\): maxTimers must be.*NaN/,
    )
  })
})

describe('the limit of timers in drain()', () => {
  const loop = 'https://shop.test/loop'

  test.each(['at once', 'with a delay'])('stops a handler that publishes to itself forever %s', async (how) => {
    using sandbox = createSandbox()
    const { clock, destinations, queue } = sandbox
    destinations.on(loop, () => {
      queue.publish({ to: loop, ...(how === 'with a delay' && { delay: '1m' }) })
      return new Response()
    })
    queue.publish({ to: loop })
    await expect(clock.drain()).rejects.toThrow(new RegExp(`timers fired.*maxTimers.*"delivery to ${loop}"`))
    expect(sandbox.traffic.ofType('attempt').length).toBeLessThan(25_000)
  })

  test('stops advance() that never leaves an instant', async () => {
    using sandbox = createSandbox()
    const { clock, destinations, queue } = sandbox
    destinations.on(loop, () => {
      queue.publish({ to: loop })
      return new Response()
    })
    queue.publish({ to: loop })
    await expect(clock.advance(0)).rejects.toThrow(`Most often: "delivery to ${loop}"`)
  })

  test('grows with waiting messages, also in a FIFO queue, and ignores schedules', async () => {
    const clock = new Clock({ startAt: start })
    const chain = (left: number): void => {
      if (left > 0) clock.schedule(clock.now() + 1, 'one after the other', () => chain(left - 1))
    }
    for (let n = 0; n < 2_000; n++) chain(20)
    await clock.drain()
    // A FIFO queue of which only the first message has a timer.
    const lined = new Clock({ startAt: start })
    accompany(lined, { waiting: { line: { size: 2_000 } } })
    const line = (left: number): void => {
      if (left > 0) lined.schedule(lined.now() + 1, 'line', () => line(left - 1))
    }
    line(40_000)
    await lined.drain()
    const { clock: beside, fired } = minutes()
    beside.schedule(start + 40_000 * 60_000, 'far away', () => {})
    await beside.drain()
    expect(fired()).toBeGreaterThanOrEqual(39_999)
  })
})

describe('invalid options of a clock move', () => {
  test.each([
    ['a time', (clock: Clock) => clock.drain('30s' as never), '(got "30s"). To move time, use clock.advance'],
    [
      'nothing',
      (clock: Clock) => clock.advance('1s', null as never),
      'options must be an object such as { maxTimers: 50_000 } (got null)',
    ],
    [
      'another name',
      (clock: Clock) => clock.drain({ maxTimer: 1 } as never),
      'has no option "maxTimer". Did you mean "maxTimers"?',
    ],
    [
      'a time as the end',
      (clock: Clock) => clock.drain({ until: '30s' } as never),
      'clock.drain(): until must be a function that returns whether to stop (got "30s"). To move time',
    ],
  ])('throws an error for %s', async (_, move, sentence) => {
    using sandbox = createSandbox()
    await expect(move(sandbox.clock)).rejects.toThrow(sentence)
    expect(sandbox.clock.now()).toBe(Date.parse('2030-01-01T00:00:00Z'))
    await sandbox.clock.advance('1s')
  })
})
