import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

test('fork() of a past view starts at its instant, regardless of the present time', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  sandbox.store.run('SET', 'stock', '5')
  await sandbox.clock.advance('10s')
  const past = sandbox.asOf('-5s')
  const now = sandbox.asOf('-0s')
  sandbox.store.run('SET', 'stock', '4')
  await sandbox.clock.advance('1m')
  for (const look of [past, now]) {
    using fork = await look.fork()
    expect(fork.clock.now()).toBe(look.now)
    expect(fork.store.get('stock')).toBe('5')
    expect(fork.traffic.toTrace().entries).toEqual(look.traffic.toTrace().entries)
  }
})

test.each(['reset', 'load'] as const)('a past view can be read after a %s, but fork() throws', async (by) => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  sandbox.store.run('SET', 'stock', '5')
  await sandbox.clock.advance('10s')
  const past = sandbox.asOf('-5s')
  if (by === 'reset') sandbox.reset()
  else sandbox.load(createSandbox().dump())
  await sandbox.clock.advance('10s')
  expect(past.store.get('stock')).toBe('5')
  const refused = past.fork()
  await expect(refused).rejects.toThrow(/2030-01-01T00:00:05\.000Z: .*reset or loaded/)
  await expect(refused).rejects.toThrow('call sandbox.asOf() again')
})

test('fork() of a past view rejects another instant', async () => {
  using sandbox = createSandbox()
  await sandbox.clock.advance('10s')
  await expect(sandbox.asOf('-5s').fork({ at: '-1s' } as never)).rejects.toThrow('has no option "at"')
})

test('a past view shows clock moves as they were then', async () => {
  using sandbox = createSandbox()
  for (let count = 0; count < 3; count++) await sandbox.clock.advance('1s')
  const look = sandbox.asOf('-0s')
  await sandbox.clock.advance('1s')
  const [at] = [look.now]
  expect(look.traffic.ofType('clock')).toMatchObject([{ count: 3, to: at }])
  expect(sandbox.asOf('-2s').traffic.ofType('clock')).toMatchObject([{ count: 2, to: at - 1000 }])
  expect(sandbox.traffic.ofType('clock')).toMatchObject([{ count: 4, to: at + 1000 }])
})

test('a past view of the present does not show what ends later at the same instant', async () => {
  using sandbox = createSandbox()
  let answer = (_: Response): void => {}
  sandbox.destinations.on('https://shop.test/orders', () => new Promise((resolve) => (answer = resolve)))
  sandbox.queue.publish({ to: 'https://shop.test/orders' })
  const moved = sandbox.clock.advance('1s')
  await new Promise((resolve) => setTimeout(resolve, 5))
  const look = sandbox.asOf('-0s')
  answer(new Response())
  await moved
  expect(sandbox.traffic.ofType('attempt')[0]?.outcome?.status).toBe(200)
  expect(look.traffic.ofType('attempt')[0]?.outcome).toBeUndefined()
})

test('fork() of a past view reports that the journal has ended since', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  sandbox.store.run('SET', 'stock', '5')
  await sandbox.clock.advance('10s')
  const past = sandbox.asOf('-5s')
  expect(past.store.get('stock')).toBe('5')
  for (let count = 0; count < 6_000; count++) sandbox.faults.clear()
  const told = 'the journal of this sandbox reached its size limit and ended at 2030-01-01T00:00:10.000Z'
  expect(() => past.store.get('stock')).toThrow(told)
  expect(() => sandbox.asOf('-5s')).toThrow(told)
  await expect(past.fork()).rejects.toThrow(told)
  await expect(sandbox.fork()).rejects.toThrow(told)
  sandbox.reset()
  sandbox.store.run('SET', 'stock', '6')
  await sandbox.clock.advance('10s')
  expect(sandbox.asOf('-5s').store.get('stock')).toBe('6')
})
