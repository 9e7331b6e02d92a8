import { expect, test } from 'vitest'
import { Clock, goOn } from '../../../../src/kernel/clock.js'
import { createRandom } from '../../../../src/kernel/random.js'
import { course, traceOf } from '../../../../test/sandbox/random-world.js'
import { type Network, Nodes } from './shelf.js'

const pause = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms))

/** Fails twice, then succeeds, both after a delay. */
const flaky: Network = async (request) => {
  await pause(1)
  return new Response('so', { status: Number(request.headers.get('upstash-retried')) < 2 ? 500 : 200 })
}

function publishAll({ sandbox }: Nodes): void {
  const { queue } = sandbox
  for (let number = 0; number < 6; number++) {
    queue.publish({ to: `https://shop.test/${number}`, delay: `${number % 3}s`, retries: 3, retryDelay: '2000' })
  }
  queue.publish({ to: 'https://shop.test/line', queue: 'line', callback: 'https://shop.test/done' })
}

test('a sandbox with an automatic clock has the same result after a crash behind any record', async () => {
  const options = { clock: 'auto' } as const
  const whole = new Nodes(flaky, options)
  await whole.open()
  publishAll(whole)
  whole.keepAtOnce()
  const before = whole.shelf.records.length
  const ended = async ({ sandbox }: Nodes): Promise<void> => {
    while (!sandbox.clock.isDrained) await pause(5)
  }
  await pause(0)
  await ended(whole)
  const { records } = whole.shelf
  const random = createRandom('places in auto')
  expect(whole.sandbox.traffic.ofType('attempt').length).toBeGreaterThan(20)
  for (let count = 0; count < 12; count++) {
    const node = new Nodes(flaky, options)
    node.shelf.records = records.slice(0, before + 1 + random.int(records.length - before))
    await node.open()
    await ended(node)
    expect(course(node.sandbox)).toEqual(course(whole.sandbox))
    expect(node.sandbox.dump()).toEqual(whole.sandbox.dump())
    node.world.dispose()
  }
  whole.world.dispose()
})

test('a sandbox with a real clock has one history after several takeovers', async () => {
  const options = { clock: 'real' } as const
  const nodes = new Nodes(flaky, options)
  await nodes.open()
  const { queue, store } = nodes.sandbox
  for (let number = 0; number < 5; number++) {
    queue.publish({ to: `https://shop.test/${number}`, retries: 3, retryDelay: String(10 * (number + 1)) })
    store.run('SET', `key-${number}`, 'v', 'PX', String(20 * number + 5))
  }
  const past: string[] = []
  for (let move = 0; move < 6; move++) {
    nodes.keepAtOnce()
    await pause(25)
    nodes.shelf.put(nodes.world)
    const { traffic, clock } = nodes.sandbox
    const entries = traffic.toTrace().entries.length
    past.push(traceOf(nodes.sandbox))
    const { records } = nodes.shelf
    const instant = clock.now()
    nodes.world.dispose()
    const again = new Nodes(() => new Promise<Response>(() => {}), options)
    await again.open({ snapshot: undefined, records })
    const now = again.sandbox.traffic.toTrace().entries.slice(0, entries)
    expect(now.map(({ seq, at, type }) => [seq, at, type])).toEqual(
      (JSON.parse(past.at(-1)!) as typeof now).map(({ seq, at, type }) => [seq, at, type]),
    )
    again.world.dispose()
    await nodes.open()
    expect(nodes.sandbox.clock.now()).toBeGreaterThanOrEqual(instant)
  }
  while (nodes.sandbox.queue.messages.length > 0) await pause(10)
  const attempts = nodes.sandbox.traffic.ofType('attempt')
  expect(attempts.filter(({ outcome }) => outcome?.state === 'DELIVERED')).toHaveLength(5)
  // Each attempt is recorded once, however often it was sent.
  expect(attempts).toHaveLength(15)
  nodes.shelf.put(nodes.world)
  const last = traceOf(nodes.sandbox)
  nodes.world.dispose()
  await nodes.open()
  expect(traceOf(nodes.sandbox)).toBe(last)
  nodes.world.dispose()
})

test('a real clock that continues a later time does not go back, and runs at the normal speed', async () => {
  const later = Date.now() + 3_600_000
  const clock = new Clock({ mode: 'real', startAt: later })
  const fired: number[] = []
  clock.schedule(later + 20, 'soon', () => void fired.push(clock.now()))
  clock.schedule(later - 1000, 'overdue', () => void fired.push(clock.now()))
  goOn(clock)
  expect(clock.now()).toBeGreaterThanOrEqual(later)
  expect(clock.now()).toBeLessThan(later + 3_600_000)
  while (fired.length < 2) await pause(5)
  expect(fired[0]).toBeGreaterThanOrEqual(later)
  expect(fired[1]).toBeGreaterThanOrEqual(later + 20)
})
