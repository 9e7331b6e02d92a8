import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'

const orders = 'https://shop.test/orders'

function asker({ urls, fetch, tokens }: Sandbox, tries = 1): (words: unknown) => Promise<unknown> {
  const headers = { authorization: `Bearer ${tokens.store}` }
  return async (words) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await fetch(`${urls.store}/pipeline`, {
          method: 'POST',
          headers,
          body: JSON.stringify(words),
        })
        if (answer.status < 500 || attempt >= tries) return answer.json()
      } catch (error) {
        if (attempt >= tries) throw error
      }
    }
  }
}

/** Returns the lines of a timeline about an entry, and the column at which their text begins. */
const answer = (code: number) => new Response(null, { status: code })

function rows(text: string): { column: number; words: string }[] {
  return text.split('\n').flatMap((line) => {
    const lead = /^ +#\d+ +[\d:.]+ +(?:\+[\da-z]+ +)?/.exec(line)?.[0]
    return lead === undefined ? [] : [{ column: lead.length, words: line.slice(lead.length) }]
  })
}

test('requests of a handler are below its delivery, with the replies of a pipeline', async () => {
  using sandbox = createSandbox()
  const { clock, destinations, queue, traffic } = sandbox
  const ask = asker(sandbox)
  let calls = 0
  destinations.on(orders, async () => {
    await ask([
      ['set', 'lock', 1, 'nx'],
      ['incr', 'n'],
    ])
    return answer(calls++ === 0 ? 500 : 200)
  })
  queue.publish({ to: orders })
  await clock.drain()
  await ask([['get', 'n']])
  const [, , first, request, lock, incr, second, again, nil, more, outside] = rows(traffic.timeline())
  const depth = (row: typeof first): number => row!.column - first!.column
  expect([request, lock, incr].map(depth)).toEqual([2, 4, 4])
  expect([second, again, nil, more].map(depth)).toEqual([0, 2, 4, 4])
  expect(lock!.words).toBe('set lock 1 nx (pipeline) → OK')
  expect(nil!.words).toBe('set lock 1 nx (pipeline) → nil')
  expect(more!.words).toBe('incr n (pipeline) → 2')
  // A request that belongs to no delivery.
  expect(depth(outside)).toBeLessThan(0)
})

test('the tree of a message contains the commands of its handler', async () => {
  using sandbox = createSandbox()
  const ask = asker(sandbox)
  sandbox.destinations.on(orders, async () => {
    await ask([['incr', 'n']])
    return answer(200)
  })
  const { id } = sandbox.queue.publish({ to: orders })
  await sandbox.clock.drain()
  await ask([['get', 'n']])
  const [root] = sandbox.traffic.tree(id).roots
  const [attempt] = root!.children
  expect(attempt!.children.map(({ entry }) => entry.type)).toEqual(['request'])
  expect(attempt!.children[0]!.children.map(({ entry }) => entry.type)).toContain('command')
})

test('entries have no parent while two deliveries are in flight', async () => {
  using sandbox = createSandbox()
  const ask = asker(sandbox)
  sandbox.destinations.on(orders, async (_, task) => {
    await task.sleep('1s')
    await ask([['incr', 'n']])
    await task.sleep('1s')
    return answer(200)
  })
  sandbox.queue.publish({ to: orders })
  sandbox.queue.publish({ to: orders })
  await sandbox.clock.drain()
  const shown = rows(sandbox.traffic.timeline())
  const [top] = shown
  const asked = shown.filter(({ words }) => words.includes('/pipeline'))
  expect(asked.map(({ column }) => column)).toEqual([top!.column, top!.column])
})

describe('a repeated request', () => {
  const told = /the same request as #(\d+), which (.*)/g
  const repetitions = (sandbox: Sandbox) =>
    [...sandbox.traffic.timeline().matchAll(told)].map(([, seq, why]) => {
      const { type } = sandbox.traffic.get(Number(seq))!
      return `${type} ${why}`
    })

  test.each([
    ['after a broken connection', fault.reset(), ['request got no response']],
    ['after a lost answer', fault.lostAck(), ['request got no response']],
    ['after an error of the service', fault.status(503), ['request got status 503']],
  ] as const)('%s', async (_, fault, expected) => {
    using sandbox = createSandbox()
    sandbox.faults.add({ on: 'store.request', times: 1, fault })
    await asker(sandbox, 2)([['incr', 'n']])
    expect(repetitions(sandbox)).toEqual(expected)
  })

  test('is marked within a delivery, but not in the next delivery, which the queue repeats', async () => {
    using sandbox = createSandbox()
    const { clock, destinations, faults, queue } = sandbox
    const ask = asker(sandbox, 2)
    faults.add({ on: 'store.request', times: 3, fault: fault.status(500) })
    let calls = 0
    destinations.on(orders, async () => {
      await ask([['incr', 'n']])
      return answer(calls++ < 2 ? 500 : 200)
    })
    queue.publish({ to: orders })
    await clock.drain()
    // Two in the first delivery and two in the second: each second one is a repetition within its own delivery.
    expect(repetitions(sandbox)).toEqual(['request got status 500', 'request got status 500'])
  })

  test.each([
    ['another body', [['incr', 'm']]],
    ['a success before', [['incr', 'n']]],
  ])('is not recognized with %s', async (name, second) => {
    using sandbox = createSandbox()
    if (name === 'another body') sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.status(503) })
    const ask = asker(sandbox)
    await ask([['incr', 'n']])
    await ask(second)
    expect(repetitions(sandbox)).toEqual([])
  })
})

test('an error that a handler throws again is shown once', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.on(orders, () => {
    throw new TypeError('boom')
  })
  sandbox.queue.publish({ to: orders, retries: 2 })
  await sandbox.clock.drain()
  const text = sandbox.traffic.timeline()
  expect(text.match(/boom/g)).toHaveLength(1)
  expect(text.match(/attempt \d of 3 .* → 500/g)).toHaveLength(3)
  const { messageId } = sandbox.traffic.ofType('published')[0]!
  expect(String(sandbox.traffic.tree(messageId)).match(/boom/g)).toHaveLength(1)
})
