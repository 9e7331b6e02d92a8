import { expect, test } from 'vitest'
import { Account } from '../../src/kernel/account.js'
import { InputJournal } from '../../src/kernel/input-journal.js'

const clock = { now: () => 7, standStill: () => 7, timers: () => 0 }
const log = { latest: 0, ended: 0 }
const task = { label: 'a handler', sleep: () => Promise.resolve() }

function journal(bytes: number, above?: Account): InputJournal {
  return new InputJournal(clock, log, new Account(bytes, above))
}

test('a full journal is discarded and keeps nothing', () => {
  const all = new Account(10_000)
  const one = journal(1_000, all)
  for (let count = 0; count < 3; count++) one.note('moved', undefined)
  expect([one.inputs.length, one.fullAt]).toEqual([3, undefined])
  expect(all.held).toBeGreaterThan(3 * 48)
  let isTold = false
  one.whenFull(() => {
    isTold = true
  })
  for (let count = 0; count < 100; count++) one.note('moved', undefined)
  expect([one.inputs.length, one.fullAt, isTold, all.held]).toEqual([0, 7, true, 0])
})

test.each<[string, (one: InputJournal, body: string) => unknown]>([
  ['a request', (one, body) => one.request({ method: 'POST', url: 'https://store.test/', headers: [] }, body)],
  ['a command of a connection', (one, body) => one.command({ ...command, rows: [['SET', 'key', body]] })],
  ['a direct call', (one, body) => one.note('direct', ['store', ['run', 'SET', 'key', body]])],
  ['bytes', (one, body) => one.note('direct', ['store', ['run', 'SET', 'key', new TextEncoder().encode(body)]])],
  ['a message', (one, body) => one.note('direct', ['queue', ['publish', { to: 'https://shop.test', body: { body } }]])],
  ['an answer', (one, body) => one.outside(task, () => ({ status: 200, body }))],
  ['an answer that came later', async (one, body) => one.outside(task, async () => ({ status: 200, body }))],
])('counts the size of %s', async (_, bring) => {
  const one = journal(6_000)
  await bring(one, 'x'.repeat(4000))
  expect(one.fullAt).toBeUndefined()
  await bring(one, 'x'.repeat(4000))
  expect(one.fullAt).toBe(7)
})

const command = { isTransaction: false, user: 'default', via: 'direct', cause: undefined } as const

test('keeps and counts headers once that several requests share', () => {
  const all = new Account(1_000_000)
  const one = journal(1_000_000, all)
  const ask = (id: string): number =>
    one.request(
      {
        method: 'GET',
        url: '/',
        headers: [
          ['x-id', id],
          ['user-agent', 'a'.repeat(1_000)],
        ],
      },
      '',
    )
  ask('1')
  const first = all.held
  ask('1')
  expect(all.held - first).toBeLessThan(first - 1_000)
  const [before, after] = one.inputs.of('request')
  expect(after!.headers).toBe(before!.headers)
  const second = all.held
  ask('2')
  expect(all.held - second).toBeGreaterThan(1_000)
})
