import { describe, expect, test } from 'vitest'
import type { Sandbox } from '../../../../src/index.js'
import { united } from '../../src/campaign/coverage-rows.js'
import { type Campaign, campaignInternals, type IndexResult, type Tried } from '../../src/campaign/index-space.js'
import { assertCrashSafe, defineCampaign, exploreInterleavings } from '../../src/checks.js'
import { assertResilient, type ResilienceError } from '../../src/fast-check.js'

// The blocks of a campaign must give the same results as one run of the check. The check is the second implementation.

const seed = 3
const runs = 1300

const attempt = async (campaign: Campaign, from: number, to: number): Promise<Tried> =>
  (
    (await campaignInternals.of(campaign).perform({ seed, runs }, { do: 'attempt', from, to, ended() {} })) as {
      tried: Tried
    }
  ).tried
const count = (campaign: Campaign, most = runs): Promise<IndexResult> =>
  campaignInternals.of(campaign).perform({ seed, runs: most }, { do: 'count' })
const tell = async (campaign: Campaign, run: number): Promise<string | undefined> =>
  ((await campaignInternals.of(campaign).perform({ seed, runs }, { do: 'tell', run })) as { story: string | undefined })
    .story

const orders = 'https://shop.test/orders'

describe('assertResilient', () => {
  test('reaches the same in blocks of any order as in one run, in the same runs', { timeout: 240_000 }, async () => {
    const app = {
      publish: ({ queue }: Sandbox) => queue.publish({ to: orders, body: '1', retries: 1 }),
      handler: (_: Request, __: unknown, { store }: Sandbox) => {
        store.run('INCR', 'count')
        return new Response()
      },
      stateOf: ({ store }: Sandbox) => store.get('count') ?? 'none',
      holds: () => true,
    }
    const campaign = defineCampaign(() => assertResilient(app))
    expect(await count(campaign)).toEqual({ check: 'assertResilient', size: runs })
    const [second, first] = [await attempt(campaign, 1000, runs), await attempt(campaign, 0, 1000)]
    const whole = await assertResilient({ ...app, seed, runs })
    const rows = united([second, first].map(({ coverage }) => coverage))
    const cells = rows.flatMap(({ state, point, could, struck }) =>
      could.flatMap((fault) => (struck[fault] === undefined ? [] : [{ state, fault, point, run: struck[fault] }])),
    )
    // The places in their order, and the faults of a place by name.
    const inOrder = (some: readonly { state: string; point: string; fault: string }[]) => {
      const place = ({ state, point }: { state: string; point: string }) => JSON.stringify([state, point])
      const order = [...new Set(some.map(place))]
      return [...some].sort((a, b) => order.indexOf(place(a)) - order.indexOf(place(b)) || (a.fault < b.fault ? -1 : 1))
    }
    expect(inOrder(cells)).toEqual(inOrder(whole.coverage.cells))
    expect([first.skipped + second.skipped, first.failed + second.failed]).toEqual([whole.skipped, 0])
  })

  /** Fails from its 1,050th run on. Only the test counts the runs. */
  const late = (before: { runs: number }) => ({
    publish: ({ queue }: Sandbox) => queue.publish({ to: orders, body: '1', retries: 1 }),
    handler: () => new Response(),
    holds: ({ traffic }: Sandbox) => ++before.runs <= 1050 || traffic.ofType('fault').length === 0,
  })

  test('numbers the failing run over all blocks, with a path that leads to it', { timeout: 240_000 }, async () => {
    const found = (await assertResilient({ ...late({ runs: 0 }), seed, runs, includeExhausted: true }).catch(
      (e) => e,
    )) as ResilienceError
    const at = Number.parseInt(found.path, 10)
    expect(at).toBeGreaterThanOrEqual(1050)
    expect(found.message).toMatch(new RegExp(`\\b${at + 1} of ${runs} .*\\bseed 3\\b`))
    const campaign = defineCampaign(() => assertResilient({ ...late({ runs: 1000 }), includeExhausted: true }))
    const { first } = await attempt(campaign, 1000, runs)
    expect(first).toEqual({ run: at, why: 'holds() returned false.' })
    // A block alone has the same fault plan, shrinks it in the same steps, and finds it by its path.
    const always = { ...late({ runs: 2000 }), includeExhausted: true }
    expect(
      await tell(
        defineCampaign(() => assertResilient(always)),
        at,
      ),
    ).toBe(found.message)
    const replayed = (await assertResilient({ ...always, seed, runs, path: found.path }).catch(
      (e) => e,
    )) as ResilienceError
    expect(replayed.faults).toEqual(found.faults)
  })

  test('numbers plans that are tried one by one after the random ones', { timeout: 240_000 }, async () => {
    const app = {
      publish: ({ queue }: Sandbox) => queue.publish({ to: orders, body: '1', retries: 1 }),
      outbound: { 'https://bank.test/*': () => Response.json({}) },
      handler: async (_: Request, __: unknown, { store }: Sandbox) => {
        // A handler that takes a failed payment as done loses it.
        const isPaid = await fetch('https://bank.test/pay')
          .then(({ ok }) => ok)
          .catch(() => false)
        store.run('SET', 'paid', String(isPaid))
        return new Response()
      },
      holds: ({ store }: Sandbox) => store.get('paid') === 'true',
    }
    const campaign = defineCampaign(() => assertResilient(app))
    const small = { seed, runs: 30 }
    const { size } = (await campaignInternals.of(campaign).perform(small, { do: 'count' })) as { size: number }
    const found = (await assertResilient({ ...app, ...small }).catch((e) => e)) as ResilienceError
    const done = await campaignInternals.of(campaign).perform(small, { do: 'attempt', from: 0, to: size, ended() {} })
    expect(size).toBeGreaterThan(30)
    expect(done).toMatchObject({ tried: { first: { run: Number(found.path) } } })
    expect(Number(found.path)).toBeGreaterThanOrEqual(30)
    const { story } = (await campaignInternals
      .of(campaign)
      .perform(small, { do: 'tell', run: Number(found.path) })) as { story: string }
    expect(story).toBe(`${found.message}\nReplay this failure with runs: 30.`)
  })
})

test('ends the function of a campaign after its one check', async () => {
  const seen: string[] = []
  const campaign = defineCampaign(async () => {
    try {
      await exploreInterleavings({ clients: { a: ask, b: ask } })
      seen.push('behind')
    } finally {
      seen.push('finally')
    }
  })
  const ask = (sandbox: Sandbox): Promise<unknown> =>
    sandbox.fetch(`${sandbox.urls.store}/get/a`, { headers: { authorization: `Bearer ${sandbox.tokens.store}` } })
  expect(await count(campaign)).toEqual({ check: 'exploreInterleavings', size: 2 })
  expect(seen).toEqual(['finally'])
  const two = defineCampaign(async () => {
    await exploreInterleavings({ clients: { a: ask, b: ask } }).catch(() => {})
    await assertCrashSafe(() => () => {})
  })
  await expect(count(two)).rejects.toThrow(/exploreInterleavings\(\).*assertCrashSafe\(\).*one check/)
  const plays = defineCampaign(() => exploreInterleavings({ name: 'x', steps: [{ drain: true }] }))
  await expect(count(plays)).rejects.toThrow('a campaign cannot explore a scenario')
  // Afterwards a check runs as a whole again.
  expect((await exploreInterleavings({ clients: { a: ask, b: ask } })).runs).toBe(2)
})
