import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Turns } from '../src/turns.js'

/** A host whose time passes only while requests run. */
function host(): {
  now: () => number
  pause: () => Promise<void>
  work: (ms: number) => void
  turn: () => Promise<void>
} {
  let time = 0
  let waiting: (() => void)[] = []
  return {
    now: () => time,
    pause: () => new Promise((resolve) => void waiting.push(resolve)),
    work: (ms) => {
      time += ms
    },
    turn: async () => {
      const ready = waiting
      waiting = []
      for (const resolve of ready) resolve()
      await Promise.resolve()
    },
  }
}

test('Turns runs requests immediately until the slice of the turn is used up', async () => {
  const one = host()
  const turns = new Turns(one, 20)
  const ran: string[] = []
  const request = (name: string, ms: number) => () => {
    ran.push(name)
    one.work(ms)
  }
  const connection = {}
  turns.take('main', connection, request('a', 15))
  turns.take('main', connection, request('b', 15))
  turns.take('main', connection, request('c', 1))
  expect(ran).toEqual(['a', 'b'])
  expect(turns.waiting('main', connection)).toBe(1)
  await one.turn()
  expect(ran).toEqual(['a', 'b', 'c'])
})

test('Turns delays another client by only one of a hundred heavy requests of one connection', async () => {
  const one = host()
  const turns = new Turns(one, 20)
  const [heavy, light] = [{}, {}]
  let before = 0
  let isAnswered = false
  for (let count = 0; count < 100; count++) {
    turns.take('main', heavy, () => {
      if (!isAnswered) before++
      one.work(100)
    })
  }
  turns.take('main', light, () => {
    isAnswered = true
  })
  for (let turn = 0; turn < 3; turn++) await one.turn()
  expect(isAnswered).toBe(true)
  expect(before).toBeLessThanOrEqual(2)
})

test('Turns delays another tenant by only one request of many connections', async () => {
  const one = host()
  const turns = new Turns(one, 20)
  const order: string[] = []
  for (let count = 0; count < 50; count++) {
    turns.take('crowd', {}, () => {
      order.push('crowd')
      one.work(100)
    })
  }
  turns.take('other', {}, () => void order.push('other'))
  for (let turn = 0; turn < 100; turn++) await one.turn()
  expect(order.indexOf('other')).toBeLessThanOrEqual(2)
  expect(order).toHaveLength(51)
})

test.each([
  ['tenant', 'other'],
  ['connection', 'crowd'],
])('Turns delays a request that arrives during a heavy one by no other request: another %s', async (_what, group) => {
  const one = host()
  const turns = new Turns(one, 20)
  const ran: string[] = []
  const heavy = {}
  for (let count = 0; count < 10; count++) {
    turns.take('crowd', heavy, () => {
      ran.push('heavy')
      one.work(100)
    })
  }
  await one.turn()
  const before = ran.length
  turns.take(group, {}, () => void ran.push('light'))
  await one.turn()
  expect(ran.indexOf('light')).toBe(before)
})

test('Turns gives a group its next turn after groups that arrived meanwhile', async () => {
  const one = host()
  const turns = new Turns(one, 20)
  const ran: string[] = []
  const take = (group: string) =>
    turns.take(group, {}, () => {
      ran.push(group)
      one.work(100)
    })
  for (let count = 0; count < 3; count++) take('heavy')
  for (let turn = 0; turn < 8; turn++) {
    take(`other${turn}`)
    await one.turn()
  }
  expect(ran.lastIndexOf('heavy')).toBeLessThanOrEqual(4)
})

test('Turns runs every request once, and those of a connection in order', async () => {
  const arrival = fc.record({ tenant: fc.nat(2), connection: fc.nat(2), ms: fc.nat(30), turns: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(arrival, { maxLength: 60 }), async (arrivals) => {
      const one = host()
      const turns = new Turns(one, 20)
      const connections = Array.from({ length: 9 }, () => ({ ran: [] as number[] }))
      const sent = connections.map((): number[] => [])
      for (const [at, { tenant, connection, ms, turns: isTurn }] of arrivals.entries()) {
        const place = tenant * 3 + connection
        sent[place]!.push(at)
        turns.take(String(tenant), connections[place]!, () => {
          connections[place]!.ran.push(at)
          one.work(ms)
        })
        if (isTurn) await one.turn()
      }
      for (let turn = 0; turn <= arrivals.length; turn++) await one.turn()
      expect(connections.map(({ ran }) => ran)).toEqual(sent)
    }),
  )
})
