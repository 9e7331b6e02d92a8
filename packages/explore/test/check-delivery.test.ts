import { createSandbox, type Sandbox } from 'stuntdouble'
import { arb, assertResilient, deliveryFaultKinds, ResilienceError } from 'stuntdouble/fast-check'
import { describe, expect, test } from 'vitest'
import { catalog, faultKinds } from '../../../src/faults/catalog.js'
import type { FaultKind, FaultRule } from '../../../src/faults/fault.js'

const orders = 'https://shop.test/orders'
const publish = (sandbox: Sandbox) => sandbox.queue.publish({ to: orders, body: { id: 42 } })

/** Charges on every call, which is the defect. */
const charge = async (request: Request, _: unknown, { store }: Sandbox): Promise<Response> => {
  const { id } = (await request.json()) as { id: number }
  store.run('INCR', `charged:${id}`)
  return Response.json({ ok: true })
}

const chargeOnce = async (request: Request, task: unknown, sandbox: Sandbox): Promise<Response> => {
  const id = request.headers.get('service-message-id')!
  return sandbox.store.run('SET', `seen:${id}`, 1, 'NX') === null ? new Response() : charge(request, task, sandbox)
}

async function brokenBy(options: Parameters<typeof assertResilient>[0]): Promise<ResilienceError> {
  const error = await assertResilient(options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ResilienceError) return error
  throw new Error(`nothing was found: ${error}`)
}

describe('assertResilient() with a handler that charges twice', () => {
  const subject = { publish, handler: charge, holds: ({ store }: Sandbox) => store.get('charged:42') === '1' }

  test('shrinks the failure to one lost acknowledgement', async () => {
    const { message, faults } = await brokenBy({ ...subject, seed: 7, faults: arb.deliveryFaults({ maxRules: 4 }) })
    expect(faults).toEqual([{ on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } }])
    expect(message).toMatch(/^Fails after \d+ of 100 .*seed 7.*shrunk.*\d.*to 1\b.*\n/)
    expect(message).toMatch(/^ {2}attempt 1 {2}lost-ack .*\b200\b.*response was lost$/m)
    expect(message).toContain('  attempt 2  ok        responded 200\n')
    expect(message).toContain('  → charged:42 = "2", without faults "1"\n')
    expect(message).toContain('\n2030-01-01\n')
    expect(message).toContain(
      "defineScenario('found by assertResilient', [\n  { on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } },\n])",
    )
  })

  test('finds the failure with every seed', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { faults } = await brokenBy({ ...subject, seed })
      expect(faults).toEqual([{ on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } }])
    }
  })

  test('finds the failure again by seed and path, and with its scenario', async () => {
    const { seed, path, faults, message } = await brokenBy({ ...subject, seed: 3 })
    const again = await brokenBy({ ...subject, seed, path })
    expect(again.faults).toEqual(faults)
    expect(message).toContain(`Replay: assertResilient({ …, seed: 3, path: '${path}' })`)
    const sandbox = createSandbox()
    sandbox.destinations.on(orders, (request) => charge(request, undefined, sandbox))
    sandbox.faults.add(faults)
    publish(sandbox)
    await sandbox.clock.drain()
    expect(sandbox.store.get('charged:42')).toBe('2')
  })

  test('passes if the handler deduplicates messages', async () => {
    expect((await assertResilient({ ...subject, handler: chargeOnce, runs: 300 })).runs).toBe(300)
  })

  test('reports a failure without any fault as such', async () => {
    const { message, faults } = await brokenBy({ ...subject, holds: ({ store }) => store.get('charged:42') === '3' })
    expect(faults).toEqual([])
    expect(message).toMatch(/^Fails without any fault:\n {2}attempt 1 {2}ok {2}responded 200\n/)
    expect(message).not.toContain('defineScenario')
  })

  test('reports the message of an assertion', async () => {
    const { message } = await brokenBy({ ...subject, holds: ({ store }) => expect(store.get('charged:42')).toBe('1') })
    expect(message).toContain("  → expected '2' to be '1'")
  })
})

describe('assertResilient()', () => {
  test('skips fault plans that hit every attempt of a message, unless they are included', async () => {
    const options = {
      publish: ({ queue }: Sandbox) => queue.publish({ to: orders, retries: 1, body: { id: 42 } }),
      handler: chargeOnce,
      holds: ({ store }: Sandbox) => store.get('charged:42') === '1',
      faults: arb.deliveryFaults({ kinds: ['status'] }),
    }
    expect((await assertResilient(options)).skipped).toBeGreaterThan(0)
    const { faults } = await brokenBy({ ...options, includeExhausted: true })
    expect(faults.map(({ fault }) => fault.kind)).toEqual(['status', 'status'])
  })

  test('fails on an error of the publisher and on an assertion in a handler', async () => {
    const thrown = await brokenBy({
      publish: () => Promise.reject(new Error('no shop')),
      handler: charge,
      holds: () => true,
    })
    expect(thrown.message).toContain('  → no shop')
    const inside = await brokenBy({
      publish,
      handler: (request) => {
        expect(request.method).toBe('GET')
        return new Response()
      },
      holds: () => true,
    })
    expect(inside.message).toContain("  → expected 'POST' to be 'GET'")
  })

  test('fails with a short report if messages publish one another forever', async () => {
    const { message } = await brokenBy({
      publish,
      handler: (_, __, { queue }) => {
        queue.publish({ to: orders })
        return new Response()
      },
      holds: () => true,
      runs: 1,
    })
    expect(message).toContain('clock.drain() stopped: ')
    expect(message).toMatch(/\n {2}and \d+ more\n/)
    expect(message.split('\n').length).toBeLessThan(300)
  })

  test('serves handlers by URL, including callbacks', async () => {
    const found = await brokenBy({
      publish: ({ queue }) => queue.publish({ to: orders, body: { id: 1 }, callback: 'https://shop.test/done' }),
      handler: {
        [orders]: charge,
        'https://shop.test/done': (_, __, { store }) => {
          store.run('INCR', 'reports')
          return new Response()
        },
      },
      faults: arb.deliveryFaults({ on: 'queue.callback' }),
      holds: ({ store }) => store.get('reports') === '1',
    })
    expect(found.faults).toEqual([{ on: 'queue.callback', times: 1, fault: { kind: 'lost-ack' } }])
    expect(found.message).toContain('  callback, attempt 1  lost-ack')
  })

  test('throws a TypeError for invalid options', async () => {
    // @ts-expect-error The property is missing.
    await expect(assertResilient({ publish, handler: charge })).rejects.toThrow(
      'assertResilient(): holds must be a function',
    )
    // @ts-expect-error The handler is missing.
    await expect(assertResilient({ publish, holds: () => true })).rejects.toThrow(
      'assertResilient(): handler is missing',
    )
    const subject = { publish, handler: chargeOnce, holds: () => true }
    for (const [more, sentence] of [
      [{ runs: 0 }, /runs.*\b1 or more \(got 0\)/],
      [{ guidance: 'coverge' }, /guidance.*'coverage' or 'none' \(got "coverge"\)\. .*"coverage"/],
      [{ faults: { maxRules: 2 } as never }, 'faults must be a fast-check arbitrary'],
      [{ runs: '9' }, /runs.*\b1 or more \(got "9"\)/],
      [{ seed: 'x' }, /seed.*whole number \(got "x"\)/],
      [{ handler: {} }, 'assertResilient(): handler is missing'],
      [{ handler: { [orders]: 3 } }, new RegExp(`handler of ${orders} .*function`)],
      [{ examples: [[], [{ on: 'x' }]] }, 'examples[1]: on: there is no point "x"'],
      [{ publish: () => {} }, /nothing was published.*`publish`/],
    ] as const)
      await expect(assertResilient({ ...subject, ...(more as object) })).rejects.toThrow(sentence)
    expect(() => arb.deliveryFaults({ kinds: ['quota-exceeded'] })).toThrow(
      /quota-exceeded.*no effect.*queue\.delivery.*store\.request/,
    )
    expect(() => arb.deliveryFaults({ kinds: ['late' as FaultKind] })).toThrow(/fault "late".*one of/)
    expect(() => arb.deliveryFaults({ kinds: ['rset' as FaultKind] })).toThrow('Did you mean "reset"?')
    expect(() => arb.deliveryFaults({ on: 'queue.delivry' as never })).toThrow(
      /injection point "queue\.delivry".*"queue\.delivery"/,
    )
    expect(() => arb.faultRules({ on: ['queue.delivry' as never] })).toThrow('Did you mean "queue.delivery"?')
    expect(() => arb.faultRules({ on: 'queue.delivery' as never })).toThrow(/\bon\b.*list of injection points/)
    expect(() => arb.command({ commands: ['GET'] as never })).toThrow("commands must be 'all' or 'documented'")
    expect(() => arb.message({ only: ['dealy'] as never })).toThrow('Did you mean "delay"?')
    expect(() => arb.deliveryFaults({ kinds: [] })).toThrow('`kinds` must not be empty')
  })
})

describe('shrinking', () => {
  /** Four rules of different kinds that all take effect, one of them the wanted one. */
  const kinds = faultKinds.filter((kind) => catalog[kind].points.includes('queue.delivery') && kind !== 'outage')
  const struck = ({ traffic }: Sandbox, kind: FaultKind) => traffic.ofType('fault').some(({ fault }) => fault === kind)

  test.each(kinds)('removes three of four faults if only one %s is needed', async (kind) => {
    const others = kinds.filter((other) => other !== kind)
    const rule = (of: FaultKind, skip: number) =>
      ({ on: 'queue.delivery', skip, times: 1, fault: catalog[of].example }) as FaultRule
    const [a, b, c] = (['status', 'reset', 'hang', 'latency'] as const).filter((other) => other !== kind)
    const four = [rule(a!, 0), rule(b!, 1), rule(kind, 2), rule(c!, 0)]
    const { faults, message } = await brokenBy({
      publish: ({ queue }) => {
        for (const id of [1, 2, 3]) queue.publish({ to: orders, body: { id }, retries: 9 })
      },
      handler: () => new Response(),
      faults: arb.deliveryFaults({ kinds: [...others, kind] }),
      examples: [four],
      holds: (sandbox) => !struck(sandbox, kind),
    })
    expect(faults).toEqual([{ on: 'queue.delivery', times: 1, fault: catalog[kind].example }])
    expect(message).toMatch(/\b1 of 100 .*seed 1\b.*\b4 faults to 1\b/)
  })

  test('keeps two faults if both are needed', async () => {
    const { faults } = await brokenBy({
      publish,
      handler: charge,
      faults: arb.deliveryFaults({ kinds: ['status', 'reset', 'hang', 'lost-ack'] }),
      holds: (sandbox) => !(struck(sandbox, 'hang') && struck(sandbox, 'reset')),
      runs: 1000,
    })
    expect(faults.map(({ fault }) => fault.kind).sort()).toEqual(['hang', 'reset'])
    expect(faults.every((rule: FaultRule) => rule.skip === undefined)).toBe(true)
  })

  test('replaces a kind by a simpler one that also fails', async () => {
    const { faults } = await brokenBy({
      publish,
      handler: charge,
      faults: arb.deliveryFaults({ kinds: ['duplicate', 'late-response', 'half-open', 'truncate'] }),
      holds: ({ store }) => store.get('charged:42') === '1',
    })
    expect(faults).toEqual([{ on: 'queue.delivery', times: 1, fault: { kind: 'duplicate', copies: 1 } }])
  })

  test('the default kinds are all kinds of the catalog for deliveries', () => {
    for (const kind of deliveryFaultKinds) expect(catalog[kind].points).toContain('queue.delivery')
  })
})
