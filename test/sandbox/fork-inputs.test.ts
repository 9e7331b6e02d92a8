import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

async function expectSame(sandbox: Sandbox): Promise<void> {
  using fork = await sandbox.fork()
  expect(fork.dump()).toEqual(sandbox.dump())
  expect(JSON.stringify(fork.traffic.toTrace())).toBe(JSON.stringify(sandbox.traffic.toTrace()))
}

test('a fork knows a data store that was loaded', async () => {
  using sandbox = createSandbox()
  sandbox.store.run('RPUSH', 'jobs', 'a', 'b')
  sandbox.store.load(sandbox.store.dump())
  sandbox.store.run('RPUSH', 'jobs', 'c')
  await expectSame(sandbox)
})

test('a fork knows a call that the app gave up, and why', async () => {
  using sandbox = createSandbox()
  sandbox.calls.on('https://bank.test/*', async (_, task) => {
    await task.sleep('10s')
    return new Response('late')
  })
  const app = new AbortController()
  const charged = sandbox.calls.fetch('https://bank.test/charge', { signal: app.signal }).catch(String)
  await sandbox.clock.advance('1s')
  app.abort(new Error('no time for it'))
  await charged
  await sandbox.clock.advance('1m')
  expect(sandbox.traffic.timeline()).toContain('no time for it')
  await expectSame(sandbox)
})

class Order {
  state = 'new'
}

class Money {
  cents = 5
  toJSON(): string {
    return `${this.cents} cents`
  }
}

test('a fork gets what was given to a call as it was then, whatever became of it', async () => {
  using sandbox = createSandbox()
  const [bytes, order, money] = [Buffer.from('abc'), new Order(), new Money()]
  const [url, day] = [new URL('https://shop.test/orders'), new Date(0)]
  sandbox.destinations.answer(url, 200)
  sandbox.store.run('SET', 'bytes', bytes)
  for (const body of [bytes, order, money, { order, money, day }]) {
    sandbox.queue.publish({ to: 'https://shop.test/orders', body })
  }
  bytes.fill(0)
  order.state = 'paid'
  money.cents = 0
  url.pathname = '/elsewhere'
  day.setTime(1)
  await sandbox.clock.drain()
  await expectSame(sandbox)
})
