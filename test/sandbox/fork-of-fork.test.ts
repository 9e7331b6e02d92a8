import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

const shop = 'https://shop.test/orders'

function outcomes(sandbox: Sandbox): unknown[] {
  return sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome)
}

/** A handler that runs for 15 seconds, with two concurrent sleeps. */
function slow(sandbox: Sandbox): void {
  sandbox.destinations.on(shop, async (_, task) => {
    const beside = task.sleep('8s')
    await task.sleep('10s')
    await beside
    await task.sleep('5s')
    return new Response('late')
  })
}

test('a fork of a fork gets the responses that arrive later', async () => {
  using sandbox = createSandbox()
  slow(sandbox)
  sandbox.queue.publish({ to: shop, retries: 0 })
  await sandbox.clock.advance('1m')
  using first = await sandbox.fork({ at: '-55s' })
  using second = await first.fork()
  using third = await second.fork()
  await first.clock.advance('7s')
  using later = await first.fork()
  using again = await later.fork({ at: '-3s' })
  const forks = [first, second, third, later, again]
  for (const fork of forks) {
    await fork.clock.advanceTo(sandbox.clock.now())
    expect(outcomes(fork)).toEqual(outcomes(sandbox))
    expect(fork.dump()).toEqual(sandbox.dump())
  }
})

test('a delivery without a response runs into its timeout in a fork of a fork', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.on(shop, (_, task) => task.sleep('1s').then(() => new Promise<Response>(() => {})))
  sandbox.queue.publish({ to: shop, retries: 0, timeout: '30s' })
  const moving = sandbox.clock.advance('10s').catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 20))
  using first = await sandbox.fork()
  using second = await first.fork()
  for (const fork of [first, second]) {
    await fork.clock.advance('1m')
    expect(outcomes(fork)).toMatchObject([{ error: 'context deadline exceeded' }])
  }
  expect(second.dump()).toEqual(first.dump())
  sandbox.clock.interrupt()
  await moving
})

test('a fork equals asOf() at the same entry, also within a handler', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.on(shop, async () => {
    sandbox.store.run('INCR', 'seen')
    await new Promise((resolve) => setTimeout(resolve, 2))
    sandbox.store.run('INCR', 'seen')
    await new Promise((resolve) => setTimeout(resolve, 2))
    return new Response('late')
  })
  for (let count = 0; count < 2; count++) {
    sandbox.queue.publish({ to: shop, retries: 0 })
    for (let move = 0; move < 3; move++) await sandbox.clock.advance('1s')
  }
  for (const { seq } of sandbox.traffic.entries) {
    using fork = await sandbox.fork({ at: { seq } })
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(fork.traffic.toTrace().entries).toEqual(sandbox.asOf({ seq }).traffic.toTrace().entries)
    expect(fork.store.dump()).toEqual(sandbox.asOf({ seq }).store.dump())
    // From here on, the response arrives that arrived in the origin at the same instant.
    await fork.clock.settle()
    const attempts = fork.traffic.ofType('attempt')
    expect(attempts.every(({ outcome }) => outcome?.status === 200)).toBe(true)
  }
})

test('forks of a fork deliver over the network to the allowed hosts only', async () => {
  const net = async (): Promise<Response> => new Response('from the network')
  using sandbox = createSandbox({ fetch: net, deliverTo: 'any' })
  const publish = async (world: Sandbox): Promise<number | undefined> => {
    world.queue.publish({ to: shop, retries: 0 })
    await world.clock.advance('1m')
    return world.traffic.ofType('attempt').at(-1)?.outcome?.status
  }
  expect(await publish(sandbox)).toBe(200)
  using first = await sandbox.fork()
  expect(await publish(first)).not.toBe(200)
  using second = await first.fork({ fetch: net, deliverTo: ['shop.test'] })
  expect(second.dump()).toEqual(first.dump())
  expect(await publish(second)).toBe(200)
  using third = await second.fork({ fetch: net, deliverTo: 'none' })
  expect(third.dump()).toEqual(second.dump())
  expect(await publish(third)).not.toBe(200)
})

test('a fork with another name has the URLs and tokens of its origin, and rules match its name', async () => {
  using sandbox = createSandbox({ name: 'one', secret: 'a secret of many characters' })
  const get = async (world: Sandbox): Promise<number> => {
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    return (await world.fetch(`${sandbox.urls.store}/get/x`, { headers })).status
  }
  sandbox.faults.add({ on: 'store.request', match: { tenant: 'one' }, times: 2, fault: fault.status(503) })
  expect(await get(sandbox)).toBe(503)
  using first = await sandbox.fork({ name: 'two' })
  expect(await get(first)).toBe(503)
  expect(await get(first)).toBe(200)
  first.faults.add({ on: 'store.request', match: { tenant: 'two' }, times: 2, fault: fault.status(503) })
  expect(await get(first)).toBe(503)
  using second = await first.fork({ name: 'three' })
  expect(second.dump()).toEqual(first.dump())
  expect(await get(second)).toBe(503)
  expect(await get(second)).toBe(200)
})

test('a fork of a fork can have other destinations', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.respond('https://shop.test/*', () => 200)
  sandbox.queue.publish({ to: shop, retries: 0 })
  await sandbox.clock.advance('1m')
  using first = await sandbox.fork({ destinations: {} })
  first.queue.publish({ to: shop, retries: 0 })
  await first.clock.advance('1m')
  using second = await first.fork()
  expect(second.dump()).toEqual(first.dump())
})

test.each(['auto', 'real'] as const)('a fork of a fork works for a sandbox whose clock was %s', async (clock) => {
  using sandbox = createSandbox({ clock })
  sandbox.destinations.on(shop, async (_, task) => {
    await task.sleep(20)
    return new Response('no', { status: 500 })
  })
  sandbox.queue.publish({ to: shop, retries: 2 })
  sandbox.queue.publish({ to: shop, delay: '1s' })
  await new Promise((resolve) => setTimeout(resolve, 40))
  using first = await sandbox.fork()
  using second = await first.fork()
  await first.clock.advance('1m')
  using third = await first.fork()
  using fourth = await first.fork({ at: '-30s' })
  await second.clock.advance('1m')
  await fourth.clock.advance('30s')
  for (const fork of [second, third, fourth]) expect(fork.dump()).toEqual(first.dump())
})
