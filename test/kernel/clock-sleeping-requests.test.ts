import { describe, expect, test } from 'vitest'
import { Clock } from '../../src/kernel/clock.js'
import type { Task } from '../../src/kernel/time.js'

/** Returns a service whose responses take time, for requests from the work of timers. */
function world() {
  const clock = new Clock({ startAt: 0, warn: () => {} })
  const request = (wait: number): Promise<void> => clock.track('request GET /', (task) => task.sleep(wait))
  const log: [number, string][] = []
  const note = (text: string): void => void log.push([clock.now(), text])
  return { clock, request, log, note }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('work that waits for a request that sleeps', () => {
  test('counts as asleep, so that time reaches the response', async () => {
    const { clock, request, log, note } = world()
    clock.schedule(10, 'delivery', async () => {
      await request(300)
      note('answered')
      await request(200)
      note('answered again')
    })
    await clock.drain()
    expect(log).toEqual([
      [310, 'answered'],
      [510, 'answered again'],
    ])
  })

  test('counts as asleep when the request arrives turns of the event loop later, as with msw', async () => {
    const { clock, request, log, note } = world()
    clock.schedule(10, 'delivery', async () => {
      for (let count = 0; count < 5; count++) await turn()
      await request(300)
      for (let count = 0; count < 5; count++) await turn()
      note('answered')
    })
    await clock.advance(1_000)
    expect(log).toEqual([[310, 'answered']])
  })

  test('counts as asleep while it also sleeps itself, until the longer one ends', async () => {
    const { clock, request, log, note } = world()
    for (const [at, own, asked] of [
      [10, 50, 300],
      [1010, 300, 50],
    ] as const) {
      clock.schedule(at, 'delivery', async (task) => {
        await Promise.all([task.sleep(own), request(asked)])
        note('both')
      })
    }
    await clock.drain()
    expect(log).toEqual([
      [310, 'both'],
      [1310, 'both'],
    ])
  })

  test('counts as asleep after a sleep of its own', async () => {
    const { clock, request, log, note } = world()
    clock.schedule(10, 'delivery', async (task) => {
      await task.sleep(5)
      await request(300)
      note('answered')
    })
    clock.schedule(12, 'other', () => note('other'))
    await clock.drain()
    expect(log).toEqual([
      [12, 'other'],
      [315, 'answered'],
    ])
  })

  test('gets the responses to two concurrent requests at their own instants', async () => {
    const { clock, request, log, note } = world()
    for (const [name, wait] of [
      ['a', 300],
      ['b', 100],
    ] as const) {
      clock.schedule(10, name, async () => {
        await request(wait)
        note(`${name} answered`)
        await request(150)
        note(`${name} answered again`)
      })
    }
    await clock.drain()
    expect(log).toEqual([
      [110, 'b answered'],
      [260, 'b answered again'],
      [310, 'a answered'],
      [460, 'a answered again'],
    ])
  })

  test('does not stay asleep for a request that it does not wait for, once it has ended', async () => {
    const { clock, request, log, note } = world()
    clock.schedule(10, 'delivery', async () => {
      void request(300).then(() => note('answered'))
      await undefined
      note('ended')
    })
    clock.schedule(20, 'later', async () => {
      await turn()
      note('later')
    })
    await clock.drain()
    expect(log).toEqual([
      [10, 'ended'],
      [20, 'later'],
      [310, 'answered'],
    ])
  })

  test('blocks time while a client outside the work has a request that sleeps', async () => {
    const { clock, request, log, note } = world()
    clock.schedule(10, 'delivery', async () => {
      for (let count = 0; count < 20; count++) await turn()
      note('ended')
    })
    const outside = request(300).then(() => note('answered'))
    clock.schedule(50, 'other', () => note('other'))
    await clock.drain()
    await outside
    expect(log).toEqual([
      [10, 'ended'],
      [50, 'other'],
      [300, 'answered'],
    ])
  })
})

test('whenAsleep() is called each time a task falls asleep, also because of its requests', async () => {
  const { clock, request, log, note } = world()
  clock.schedule(10, 'delivery', async (task) => {
    task.whenAsleep!(() => note('asleep'))
    await task.sleep(5)
    await request(5)
    await Promise.all([request(5), request(10)])
  })
  await clock.drain()
  expect(log).toEqual([
    [10, 'asleep'],
    [15, 'asleep'],
    [20, 'asleep'],
  ])
})

test('an aborted sleep ends immediately and leaves no timer', async () => {
  const { clock, log, note } = world()
  const client = new AbortController()
  const asleep = clock.track('request GET /', async (task) => {
    await task.sleep('5m', client.signal)
    note('woke')
  })
  clock.schedule(2_000, 'client gives up', () => client.abort())
  await clock.drain()
  await asleep
  expect(log).toEqual([[2_000, 'woke']])
  expect([clock.now(), clock.pending.length]).toEqual([2_000, 0])
})

test('`beside()` runs work for the same caller after the task has ended', async () => {
  const { clock, log, note } = world()
  const answer = (): Promise<{ body: Promise<void> }> =>
    clock.track('request GET /', async (task: Task) => ({
      body: task.beside!('body', (other) => other.sleep(400)),
    }))
  clock.schedule(10, 'delivery', async () => {
    const { body } = await answer()
    note('head')
    await body
    note('body')
  })
  await clock.drain()
  expect(log).toEqual([
    [10, 'head'],
    [410, 'body'],
  ])
})
