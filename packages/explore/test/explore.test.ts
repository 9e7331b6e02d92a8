import { defineScenario, fault, type Sandbox, type SignatureFlaw, signatureFlaws } from 'stuntdouble'
import { exploreFaults, exploreInterleavings } from 'stuntdouble/checks'
import { describe, expect, test } from 'vitest'

const orders = 'https://shop.test/orders'

/** Runs a command over HTTP, as a handler in another process does. */
async function command(sandbox: Sandbox, ...words: (string | number)[]): Promise<unknown> {
  const answer = await sandbox.fetch(sandbox.urls.store, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    body: JSON.stringify(words),
  })
  return ((await answer.json()) as { result: unknown }).result
}

type Handle = (sandbox: Sandbox, request: Request) => Promise<unknown>
const handledBy = (handle: Handle) => ({
  setup: (sandbox: Sandbox) => {
    sandbox.destinations.on(orders, async (request) => {
      await handle(sandbox, request)
      return new Response()
    })
  },
})
const buyers = (count: number) =>
  defineScenario({
    name: 'buyers',
    given: { commands: [['SET', 'stock', 1]] },
    steps: [...Array<object>(count).fill({ publish: { to: orders } }), { drain: true }] as never,
  })

describe('exploreFaults()', () => {
  const charge: Handle = (sandbox) => command(sandbox, 'INCR', 'charged')

  test('injects one fault at each place in turn', async () => {
    const once = defineScenario({ name: 'once', steps: [{ publish: { to: orders } }, { drain: true }] })
    const tried = await exploreFaults(once, {
      ...handledBy(charge),
      fault: [fault.status(500), fault.lostAck()],
      holds: ({ store }) => store.get('charged') === '1',
    })
    expect(tried.table()).toBe(
      [
        '✓    no fault',
        '✓    status at delivery 1: attempt 1 to https://shop.test/orders',
        '✗    lost-ack at delivery 1: attempt 1 to https://shop.test/orders  charged = "2", expected "1"; holds() returned false',
        '2 of 3 hold.',
      ].join('\n'),
    )
    expect(tried.holds).toBe(false)
    expect(tried.outcomes[2]!.rule).toEqual({ on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } })
    expect(tried.outcomes[2]!.sandbox.store.get('charged')).toBe('2')
  })

  test('counts repeated work of external hosts as a difference, unless the scenario itself fails', async () => {
    const once = defineScenario({ name: 'once', steps: [{ publish: { to: orders } }, { drain: true }] })
    const pay: Handle = ({ outbound }) => outbound.fetch('https://bank.test/charges', { method: 'POST', body: '1' })
    const prepare = (sandbox: Sandbox): void => {
      sandbox.outbound.respond('https://bank.test/charges', 201)
      handledBy(pay).setup(sandbox)
    }
    const tried = (most: number) =>
      exploreFaults(once, { setup: prepare, holds: ({ traffic }) => traffic.ofType('outbound').length <= most })
    expect((await tried(1)).table()).toMatch(
      /^✗ .* {2}call POST https:\/\/bank\.test\/charges "1".*\b2 times.*\b1 time\b.*holds\(\) returned false$/m,
    )
    expect((await tried(0)).table()).toMatch(/^✗ {4}lost-ack .* {2}holds\(\) returned false$/m)
  })

  test('injects a fault at every attempt of a run that has its own faults', async () => {
    const thrice = defineScenario({
      name: 'thrice',
      faults: [{ on: 'queue.delivery', times: 2, fault: fault.reset() }],
      steps: [{ publish: { to: orders } }, { drain: true }],
    })
    const seen: number[] = []
    const tried = await exploreFaults(thrice, {
      ...handledBy(charge),
      holds: ({ traffic, store }) => seen.push(traffic.ofType('attempt').length * 10 + Number(store.get('charged'))),
    })
    // The run has three attempts; the lost response adds one more, which does the work twice.
    expect(seen).toEqual([31, 42, 42, 42])
    expect(tried.runs).toBe(4)
  })

  test('injects faults at requests and commands of the handlers', async () => {
    const work: Handle = async (sandbox) => {
      await command(sandbox, 'SET', 'a', 1)
      await command(sandbox, 'INCR', 'b')
    }
    const once = defineScenario({ name: 'once', steps: [{ publish: { to: orders } }, { drain: true }] })
    const holds = ({ store }: Sandbox) => expect(store.get('b')).toBe('1')
    const tried = await exploreFaults(once, { ...handledBy(work), on: ['store.request', 'store.command'], holds })
    expect(tried.outcomes.map(({ title: what }) => what)).toEqual([
      'no fault',
      'lost-ack at request 1: POST https://store.test/',
      'lost-ack at request 2: POST https://store.test/',
      'lost-ack at command 1: SET a 1',
      'lost-ack at command 2: INCR b',
    ])
    // The second request runs twice; after the first one nothing has been counted yet.
    expect(tried.outcomes.map(({ holds }) => holds)).toEqual([true, true, false, true, false])
    expect(tried.outcomes[2]!.reason).toContain("expected '2' to be '1'")
  })

  test('distinguishes faults of one kind by their fields, such as the ten flaws of a signature', async () => {
    const once = defineScenario({ name: 'once', steps: [{ publish: { to: orders } }, { drain: true }] })
    const flawed = (Object.keys(signatureFlaws) as SignatureFlaw[]).map((flaw) => fault.badSignature(flaw))
    const tried = await exploreFaults(once, { ...handledBy(charge), fault: flawed })
    expect(tried.outcomes.slice(1).map(({ title: what }) => what)).toEqual(
      Object.keys(signatureFlaws).map(
        (flaw) => `bad-signature (flaw: '${flaw}') at delivery 1: attempt 1 to ${orders}`,
      ),
    )
    expect(tried.outcomes).toHaveLength(11)
    const statuses = [fault.status(500), fault.status(503, { body: 'later' }), fault.lostAck()]
    const mixed = await exploreFaults(once, { ...handledBy(charge), fault: statuses })
    expect(mixed.outcomes.slice(1).map(({ title: what }) => what.split(' at ')[0])).toEqual([
      'status (status: 500)',
      "status (status: 503, body: 'later')",
      'lost-ack',
    ])
  })

  test('stops at maxRuns', async () => {
    await expect(exploreFaults(buyers(9), { maxRuns: 'x' as never })).rejects.toThrow(
      /exploreFaults\(\).*maxRuns.*\b1 or more.*"x"/,
    )
    const tried = await exploreFaults(buyers(9), { ...handledBy(charge), maxRuns: 5 })
    expect([tried.runs, tried.complete]).toEqual([5, false])
    expect(tried.table()).toMatch(/\b5 of 5 hold.*not tried.*maxRuns/)
  })
})

describe('exploreInterleavings() with a scenario', () => {
  test('finds the order in which both deliveries read before either one writes', async () => {
    const buy: Handle = async (sandbox) => {
      if (Number(await command(sandbox, 'GET', 'stock')) > 0) await command(sandbox, 'DECR', 'stock')
    }
    const holds = ({ store }: Sandbox) => store.get('stock') === '0'
    const tried = await exploreInterleavings(buyers(2), { ...handledBy(buy), holds })
    expect(tried.complete).toBe(true)
    const broken = tried.outcomes.filter(({ holds }) => !holds)
    expect(broken).toHaveLength(1)
    expect(broken[0]!.sandbox.store.get('stock')).toBe('-1')
    expect(broken[0]!.count).toBeLessThan(tried.runs)
    expect(tried.table()).toMatch(
      /^✗ {2}12 × .*\b1 starts.*\b2 starts.*\b1: POST \/ \["GET","stock"\].*\b2: .* {2}double spend.*stock = "-1".*"0".*holds\(\) returned false$/m,
    )
    expect(tried.table()).toMatch(/\n8 of 20 hold\.$/)
    expect(broken[0]!.anomaly).toMatchObject({ name: 'double-spend', steps: [2, 3, 4], keys: ['stock'] })
    expect(broken[0]!.steps!.map(({ client: who, request, reply }) => `${who}: ${request} → ${reply}`)).toEqual([
      'delivery 1: GET stock → 1',
      'delivery 2: GET stock → 1',
      'delivery 1: DECR stock → 0',
      'delivery 2: DECR stock → -1',
    ])
    expect(tried.report().split('\n\n')[0]!.split('\n').length).toBeLessThanOrEqual(13)

    const buyAtOnce: Handle = async (sandbox) => {
      if (Number(await command(sandbox, 'DECR', 'stock')) < 0) await command(sandbox, 'INCR', 'stock')
    }
    expect((await exploreInterleavings(buyers(2), { ...handledBy(buyAtOnce), holds })).holds).toBe(true)
  })

  // Two deliveries with three turns each have 6! / (3! 3!) orders, three with two turns have 6! / (2! 2! 2!).
  test.each([
    [2, 2, 20],
    [3, 1, 90],
    [2, 0, 2],
    [1, 3, 1],
  ])('plays %i deliveries with %i requests each in %i orders', async (count, requests, orders) => {
    const work: Handle = async (sandbox) => {
      for (let nth = 0; nth < requests; nth++) await command(sandbox, 'INCR', 'n')
    }
    const tried = await exploreInterleavings(buyers(count), handledBy(work))
    expect([tried.runs, tried.complete, tried.outcomes.length]).toEqual([orders, true, 1])
  })

  test('reports each outcome once, with the order that leads to it', async () => {
    const push: Handle = async (sandbox, request) => {
      await command(sandbox, 'RPUSH', 'list', request.headers.get('service-message-id')!.slice(4, 8))
    }
    const tried = await exploreInterleavings(buyers(2), handledBy(push))
    const endings = tried.outcomes.map(({ sandbox }) => sandbox.store.run('LRANGE', 'list', 0, -1))
    expect(endings).toHaveLength(2)
    expect(endings[0]).toEqual([...(endings[1] as string[])].reverse())
    expect(tried.outcomes.reduce((sum, { count: times }) => sum + times, 0)).toBe(6)
    expect(tried.outcomes[0]!.order![0]).toBe('delivery 1 starts')
  })

  test('stops at maxRuns', async () => {
    const work: Handle = (sandbox) => command(sandbox, 'INCR', 'n')
    const tried = await exploreInterleavings(buyers(4), { ...handledBy(work), maxRuns: 30 })
    expect([tried.runs, tried.complete]).toEqual([30, false])
  })
})

test('exploreFaults() throws a TypeError for invalid options', async () => {
  await expect(exploreFaults({ name: '' })).rejects.toThrow('The scenario "" is invalid.')
  const rejection = async (options: object) => (await exploreFaults(buyers(1), options).catch((error) => error)).message
  expect(await rejection({ on: 'stream.open' })).toMatch(
    /^exploreFaults\(\).*lost-ack.*no effect.*stream\.open.*store\.request, /,
  )
  expect(await rejection({ on: ['queue.delivery', 'workflow.wait'], fault: { kind: 'drop' } })).toMatch(
    /^exploreFaults\(\).*none.*\bdrop\b.*effect at workflow\.wait\.$/,
  )
  expect(await rejection({ on: 'workflow.steps' })).toMatch(
    /^exploreFaults\(\).*unknown.*workflow\.steps\b.* store\.request, store\.command, queue\.request, queue\.delivery, queue\.callback, stats\.request, outbound\.request, stream\.open, stream\.event, schedule\.fire, workflow\.step, workflow\.call, workflow\.wait\.$/,
  )
  expect(await rejection({ on: [] })).toContain('exploreFaults(): unknown injection point (none).')
  expect(await rejection({ fault: { kind: 'lost-akc' } })).toContain('Did you mean "lost-ack"?')
  expect(await rejection({ fault: { kind: 'outage' } })).toContain('until')
})
