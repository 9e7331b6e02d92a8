import fc from 'fast-check'
import { setupServer } from 'msw/node'
import { createSandbox, fakeTimers, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Entry } from '../../src/kernel/traffic-log.js'

// An app with many host timers has the same history, regardless of the steps in which time is moved.

const app = 'https://shop.test/work'

afterEach(() => {
  vi.useRealTimers()
})

/** Action of the app when one of its timers fires. */
type Act =
  | { do: 'request' | 'two requests' | 'after promises' | 'nothing' }
  | { do: 'publish' | 'set with expiry' | 'wait and request'; ms: number }

type Habit = { kind: 'once' | 'interval' | 'loop'; every: number; act: Act }

const span = 60_000
/** Delays of which many coincide, with each other and with timers of the sandbox. */
const wait = fc.oneof(
  fc.integer({ min: 1, max: 12 }).map((seconds) => seconds * 1000),
  fc.integer({ min: 700, max: 20_000 }),
)
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constantFrom('request', 'two requests', 'after promises', 'nothing') }) as fc.Arbitrary<Act>,
  fc.record({
    do: fc.constantFrom('publish', 'set with expiry', 'wait and request'),
    ms: fc.oneof(wait, fc.constant(0)),
  }) as fc.Arbitrary<Act>,
)
const habit: fc.Arbitrary<Habit> = fc.record({
  kind: fc.constantFrom('once', 'interval', 'loop'),
  every: wait,
  act,
}) as fc.Arbitrary<Habit>

function start(sandbox: Sandbox, habits: readonly Habit[]): void {
  let count = 0
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const ask = async (path: string): Promise<unknown> =>
    (await fetch(`${sandbox.urls.store}/${path}`, { headers })).json()
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const perform = async (what: Act): Promise<void> => {
    const n = ++count
    if (what.do === 'request') await ask(`set/k/${n}`)
    if (what.do === 'two requests') {
      await ask('incr/n')
      await ask(`set/k/${n}`)
    }
    if (what.do === 'after promises') {
      for (let turn = 0; turn < 25; turn++) await undefined
      await ask(`append/k/${n}`)
    }
    if (what.do === 'publish') {
      await fetch(`${sandbox.urls.queue}/v2/publish/${app}?n=${n}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.queue}`, 'service-delay': `${Math.ceil(what.ms / 1000)}s` },
        body: String(n),
      })
    }
    if (what.do === 'set with expiry') await ask(`set/short/${n}/px/${what.ms + 1}`)
    if (what.do === 'wait and request') {
      await ask('get/short')
      await sleep(what.ms)
      await ask(`set/waited/${n}`)
    }
  }
  for (const { kind, every, act: what } of habits) {
    if (kind === 'once') setTimeout(() => void perform(what), every)
    if (kind === 'interval') setInterval(() => void perform(what), every)
    if (kind === 'loop') {
      void (async () => {
        for (;;) {
          await sleep(every)
          await perform(what)
        }
      })()
    }
  }
}

/** Returns the log of the app, without clock moves and their sequence numbers. */
function historyOf({ traffic }: Sandbox): string {
  const entries = JSON.parse(JSON.stringify(traffic)).entries as (Entry & { endedAfterSeq?: number })[]
  const own = entries.filter(({ type }) => type !== 'clock')
  const place = (seq: number | undefined) => seq && own.filter((entry) => entry.seq <= seq).length
  return JSON.stringify(
    own.map((entry) => ({
      ...entry,
      seq: place(entry.seq),
      ...(entry.cause !== undefined && { cause: place(entry.cause) }),
      ...(entry.endedAfterSeq !== undefined && { endedAfterSeq: place(entry.endedAfterSeq) }),
    })),
    undefined,
    1,
  )
}

async function play(via: Way, habits: readonly Habit[], steps: readonly number[]): Promise<string> {
  using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  using _ = via(sandbox)
  vi.useFakeTimers({ now: sandbox.clock.now(), toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
  sandbox.clock.follow(fakeTimers(vi))
  let deliveries = 0
  sandbox.destinations.on(`${app}*`, async (request, task) => {
    sandbox.store.run('SADD', 'seen', await request.text())
    if (++deliveries % 3 === 0) await task.sleep('2s')
    if (deliveries % 4 === 0) await new Promise((resolve) => setTimeout(resolve, 1500))
    return new Response('done', { status: deliveries % 2 === 0 ? 200 : 503 })
  })
  sandbox.queue.publish({ to: app, delay: '7s', body: 'first' })
  start(sandbox, habits)
  for (const step of steps) await sandbox.clock.advance(step)
  expect(Date.now()).toBe(sandbox.clock.now())
  const history = historyOf(sandbox)
  vi.useRealTimers()
  return history
}

type Way = (sandbox: Sandbox) => Disposable
const ways: [string, Way, number][] = [
  ['a replaced fetch', replaceFetch, 30],
  [
    'msw',
    (sandbox) => {
      const server = setupServer(...mswHandlers(sandbox))
      server.listen()
      return { [Symbol.dispose]: () => server.close() }
    },
    8,
  ],
]

describe.each(ways)('over %s', (_, via, numRuns) => {
  test('every split of a clock move gives the same history', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(habit, { minLength: 1, maxLength: 5 }),
        fc.array(fc.oneof(wait, fc.integer({ min: 0, max: span })), { maxLength: 8 }),
        async (habits, cuts) => {
          const whole = await play(via, habits, [span])
          const stops = [...cuts.filter((cut) => cut < span), span].sort((a, b) => a - b)
          const steps = stops.map((stop, index) => stop - (stops[index - 1] ?? 0))
          expect(await play(via, habits, steps)).toBe(whole)
        },
      ),
      { numRuns, seed: 17 },
    )
  }, 240_000)
})

describe('many timers', () => {
  test('a timer that sets itself again at the same instant does not run forever', async () => {
    using sandbox = createSandbox()
    vi.useFakeTimers({ now: sandbox.clock.now() })
    sandbox.clock.follow(fakeTimers(vi))
    const again = async (): Promise<void> => {
      await undefined
      setTimeout(again, 0)
    }
    setTimeout(again, 10)
    await expect(sandbox.clock.advance('1s', { maxTimers: 5 })).rejects.toThrow(
      /one instant.*maxTimers.*"a timer of the host"/,
    )
  })

  test('a long move with many timers takes no longer than their work', async () => {
    using sandbox = createSandbox()
    vi.useFakeTimers({ now: sandbox.clock.now() })
    sandbox.clock.follow(fakeTimers(vi))
    let fired = 0
    setInterval(() => fired++, 60_000)
    await sandbox.clock.advance('7d')
    expect(fired).toBe(7 * 24 * 60)
  })
})
