import { expect, test } from 'vitest'
import { Journal } from '../../src/kernel/journal.js'

const clock = { now: () => 7, standStill: () => 7, timers: () => 0 }
const log = { latest: 0, ended: 0 }
const task = { label: 'a handler', sleep: () => Promise.resolve() }

function journal(inputs: number, bytes: number): Journal {
  return new Journal(clock, log, { inputs, bytes })
}

test('a journal that is full is given up, and keeps nothing', () => {
  const one = journal(3, 1000)
  for (let count = 0; count < 3; count++) one.note('moved', undefined)
  expect([one.inputs.length, one.fullAt]).toEqual([3, undefined])
  one.note('moved', undefined)
  one.note('moved', undefined)
  expect([one.inputs.length, one.fullAt]).toEqual([0, 7])
})

test.each<[string, (one: Journal, body: string) => unknown]>([
  ['a request', (one, body) => one.request({ method: 'POST', url: 'https://store.test/', headers: [] }, body)],
  ['a command of a connection', (one, body) => one.command({ ...command, rows: [['SET', 'key', body]] })],
  ['a direct call', (one, body) => one.note('direct', ['store', ['run', 'SET', 'key', body]])],
  ['bytes', (one, body) => one.note('direct', ['store', ['run', 'SET', 'key', new TextEncoder().encode(body)]])],
  ['a message', (one, body) => one.note('direct', ['queue', ['publish', { to: 'https://shop.test', body: { body } }]])],
  ['an answer', (one, body) => one.outside(task, () => ({ status: 200, body }))],
  ['an answer that came later', async (one, body) => one.outside(task, async () => ({ status: 200, body }))],
])('what comes with %s is weighed', async (_, bring) => {
  const one = journal(1000, 5000)
  await bring(one, 'x'.repeat(4000))
  expect(one.fullAt).toBeUndefined()
  await bring(one, 'x'.repeat(4000))
  expect(one.fullAt).toBe(7)
})

const command = { isTransaction: false, user: 'default', via: 'direct', cause: undefined } as const
