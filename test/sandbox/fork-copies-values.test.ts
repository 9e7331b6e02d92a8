import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

const shop = 'https://shop.test/orders'

async function deliver(world: Sandbox): Promise<unknown> {
  world.queue.publish({ to: shop, retries: 0 })
  await world.clock.advance('1m')
  const { status, headers, body } = world.traffic.ofType('attempt').at(-1)!.outcome!
  return { status, headers, body }
}

async function call(world: Sandbox): Promise<unknown> {
  const answer = await world.outbound.fetch('https://bank.test/charge')
  return [answer.status, answer.headers.get('x-paid'), await answer.text()]
}

test.each([true, false])(
  'values that a test passes and changes afterwards keep their state (journal: %s)',
  async (journal) => {
    using sandbox = createSandbox({ journal })
    const [shopAnswer, bankAnswer] = [{}, {}].map(() => ({
      status: 201,
      headers: { 'x-paid': 'no' } as Record<string, string>,
      body: { lines: [{ count: 1 }] },
    })) as [Given, Given]
    const rule = { on: 'queue.delivery' as const, name: 'late', skip: 1, times: 1, fault: fault.status(503) }
    sandbox.destinations.respond(shop, shopAnswer)
    sandbox.outbound.record('https://bank.test/*', bankAnswer)
    sandbox.faults.add(rule)
    for (const answer of [shopAnswer, bankAnswer]) {
      answer.status = 418
      answer.headers['x-paid'] = 'yes'
      answer.body.lines[0]!.count = 2
    }
    Object.assign(rule, { skip: 0, times: 9, name: 'other' })
    Object.assign(rule.fault, { status: 418 })
    const worlds = journal ? [sandbox, await sandbox.fork(), await sandbox.fork()] : [sandbox]
    for (const world of worlds) {
      expect(world.faults.rules[0]?.rule).toMatchObject({ name: 'late', skip: 1 })
      expect(await deliver(world)).toMatchObject({ status: 201, body: '{"lines":[{"count":1}]}' })
      expect(await deliver(world)).toMatchObject({ status: 503 })
      expect(await deliver(world)).toMatchObject({ status: 201 })
      expect(await call(world)).toEqual([201, 'no', '{"lines":[{"count":1}]}'])
    }
    for (const world of worlds) world.dispose()
  },
)

interface Given {
  status: number
  readonly headers: Record<string, string>
  readonly body: { readonly lines: { count: number }[] }
}

test('each fork reads a given Response anew', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.respond(shop, new Response('from the shop', { status: 201 }))
  sandbox.outbound.script('https://bank.test/*', [new Response('from the bank')])
  using first = await sandbox.fork()
  using second = await first.fork()
  using third = await sandbox.fork()
  for (const world of [sandbox, first, second, third]) {
    expect(await deliver(world)).toMatchObject({ status: 201, body: 'from the shop' })
    expect(await call(world)).toEqual([200, null, 'from the bank'])
  }
})

test('a value that differs on each read is read once', async () => {
  using sandbox = createSandbox()
  let reads = 0
  const body = {
    get count() {
      return ++reads
    },
    ticket: { toJSON: () => ++reads },
  }
  sandbox.queue.publish({ to: shop, body, retries: 0 })
  expect(reads).toBe(2)
  sandbox.destinations.respond(shop, { body })
  await sandbox.clock.drain()
  const outcome = sandbox.traffic.ofType('attempt')[0]?.outcome?.body
  using first = await sandbox.fork()
  using second = await sandbox.fork({ at: { seq: 1 } })
  await second.clock.drain()
  for (const world of [first, second]) expect(world.dump()).toEqual(sandbox.dump())
  for (const world of [first, second]) expect(world.traffic.ofType('attempt')[0]?.outcome?.body).toBe(outcome)
})

test('cyclic and endlessly branching values are rejected quickly', () => {
  using sandbox = createSandbox()
  const circle: Record<string, unknown> = {}
  Object.assign(circle, { a: circle, b: circle, c: [circle, circle] })
  expect(() => sandbox.queue.publish({ to: shop, body: circle })).toThrow(/circular|circle|itself/i)
  const answered = (): unknown => sandbox.destinations.respond(shop, { body: circle })
  expect(answered).toThrow(/circular|circle|itself/i)
  let deep: unknown = 1
  for (let level = 0; level < 60; level++) deep = { deep }
  sandbox.queue.publish({ to: shop, body: deep as object })
})
