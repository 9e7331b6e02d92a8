import { defineScenario, type FaultRule, fault, type Sandbox } from 'stuntdouble'
import { exploreFaults } from 'stuntdouble/checks'
import { arb, assertResilient, type ResilienceError } from 'stuntdouble/fast-check'
import { describe, expect, test } from 'vitest'
import { saga } from '../../../bench/coverage-apps.js'
import { CoverageGuide } from '../src/delivery/coverage-guide.js'

const orders = 'https://shop.test/orders'
const once = {
  publish: ({ queue }: Sandbox) => void queue.publish({ to: orders, retries: 1 }),
  handler: () => new Response(),
  holds: () => true,
}

describe('the coverage of a check', () => {
  test('counts each fault in each state at the points that occurred', async () => {
    const faults = arb.deliveryFaults({ maxRules: 1, maxSkip: 0, kinds: ['lost-ack', 'status'] })
    const { coverage } = await assertResilient({ ...once, faults, runs: 100, includeExhausted: true })
    const place = { state: 'first attempt', point: `queue.delivery ${orders}` }
    expect(coverage.cells.map(({ run, ...cell }) => cell)).toEqual(
      expect.arrayContaining([
        { ...place, fault: 'lost-ack' },
        { ...place, fault: 'status' },
      ]),
    )
    expect(coverage.cells.every(({ run }) => run >= 1 && run <= 100)).toBe(true)
    // The fault plans have one fault, so the retry after it has none.
    expect(coverage.unreached.map(({ state, fault }) => `${fault} in ${state}`).sort()).toEqual([
      'lost-ack in retry 1 of 1, after lost-ack',
      'lost-ack in retry 1 of 1, after status',
      'status in retry 1 of 1, after lost-ack',
      'status in retry 1 of 1, after status',
    ])
    expect([coverage.reached, coverage.possible]).toEqual([2, 6])
    expect(coverage.toString()).toMatch(/Reached 2 of 6 \(33 %\).*\b3 states/)
    expect(coverage.toString()).toContain(`\n  never at queue.delivery ${orders}, retry 1 of 1, after `)
  })

  test('includes the state of the app if stateOf is set', async () => {
    const counting = {
      ...once,
      handler: (_: Request, __: unknown, { store }: Sandbox) => {
        store.run('INCR', 'seen')
        return new Response()
      },
      stateOf: ({ store }: Sandbox) => `seen ${store.get('seen') ?? 0}`,
    }
    const { coverage } = await assertResilient({
      ...counting,
      faults: arb.deliveryFaults({ kinds: ['lost-ack', 'status'] }),
    })
    const states = new Set(coverage.cells.map(({ state }) => state))
    expect(states).toContain('first attempt, seen 0')
    expect(states).toContain('retry 1 of 1, after lost-ack, seen 1')
    expect(states).toContain('retry 1 of 1, after status, seen 0')
  })

  test('counts for exploreFaults() which faults were injected, and which were cut off by maxRuns', async () => {
    const scenario = defineScenario({ name: 'two', steps: [{ publish: { to: orders, times: 2 } }, { drain: true }] })
    const prepare = ({ destinations }: Sandbox) => void destinations.respond(orders, 200)
    const faults = [fault.lostAck(), { kind: 'reset' } as const]
    const all = await exploreFaults(scenario, { setup: prepare, fault: faults })
    expect(all.coverage!.cells.map(({ fault, state }) => `${fault} in ${state}`)).toEqual([
      'lost-ack in first attempt',
      'reset in first attempt',
    ])
    const some = await exploreFaults(scenario, { setup: prepare, fault: faults, maxRuns: 2 })
    expect(some.coverage!.unreached).toContainEqual({
      state: 'first attempt',
      fault: 'reset',
      point: `queue.delivery ${orders}`,
    })
    expect(some.coverage!.reached).toBe(1)
  })
})

describe('guidance', () => {
  const runs = 150
  const reached = async (guidance: 'coverage' | 'none', seed: number) =>
    (await assertResilient({ ...saga, runs, seed, guidance, includeExhausted: true })).coverage

  test('reaches more than random plans in the same number of runs, and is repeatable', async () => {
    const [guided, again, chance] = [
      await reached('coverage', 3),
      await reached('coverage', 3),
      await reached('none', 3),
    ]
    expect(guided.cells).toEqual(again.cells)
    expect(guided.reached).toBeGreaterThan(2 * chance.reached)
  })

  test('finds a failure that is shrunk and replayed by its path', async () => {
    // Fails only if a message was lost twice on its way to a repair.
    const options = {
      ...saga,
      holds: ({ traffic }: Sandbox) =>
        !traffic
          .ofType('attempt')
          .some(
            ({ url, reason: why, outcome }) =>
              url.endsWith('/undo') && why !== 'first attempt' && outcome?.status === 503,
          ),
      includeExhausted: true,
      runs: 1000,
    }
    const found: ResilienceError = await assertResilient(options).catch((error) => error)
    expect(found.name).toBe('ResilienceError')
    // The failure is after the random runs of the block.
    expect(Number.parseInt(found.path, 10)).toBeGreaterThanOrEqual(20)
    const again: ResilienceError = await assertResilient({ ...options, seed: found.seed, path: found.path }).catch(
      (error) => error,
    )
    expect(again.faults).toEqual(found.faults)
    const first = (message: string) => message.split('\n').slice(1, 8)
    expect(first(again.message)).toEqual(first(found.message))
  })

  test('restarts in each block of 1,000 runs', () => {
    const space = { on: 'queue.delivery', kinds: ['lost-ack', 'status', 'reset'], max: 4, reach: 5 } as const
    const sample = (index: number): FaultRule[] => [
      { on: 'queue.delivery', skip: index % 5, times: 1, fault: { kind: 'lost-ack' } },
    ]
    /** Simulates a sandbox in which each fault leads to its own state. */
    const played = (guide: CoverageGuide, from: number, to: number) => {
      guide.startAt(from)
      const schedules: (readonly FaultRule[])[] = []
      while (guide.index < to) {
        const rules = guide.next(sample(guide.index))
        schedules.push(rules)
        const struck = rules.map(({ skip = 0, fault }) => ({ skip, kind: fault.kind }))
        const moments = Array.from({ length: 6 }, (_, at) => ({
          place: `after ${at} of ${struck.map(({ kind }) => kind).join()}\nqueue.delivery ${orders}`,
          struck: struck.filter(({ skip }) => skip === at).map(({ kind }) => kind),
        }))
        guide.learn(rules, moments)
      }
      return schedules
    }
    const whole = played(new CoverageGuide(space, 7), 0, 2200)
    const second = played(new CoverageGuide(space, 7), 1000, 2200)
    expect(whole.slice(1000)).toEqual(second)
    expect(whole.slice(1000, 1100)).not.toEqual(whole.slice(0, 100))
    expect(
      second.every((rules) => rules.length <= 4 && rules.every(({ skip = 0, times }) => skip <= 5 && times === 1)),
    ).toBe(true)
  })
})
