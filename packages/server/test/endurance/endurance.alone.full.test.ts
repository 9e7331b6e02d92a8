import { afterAll, beforeAll, expect, test } from 'vitest'
import { attacked } from './attacks.js'
import { type Built, built } from './built.js'
import { crowd } from './crowd.js'
import { damages } from './damages.js'
import { kills } from './kills.js'
import { malformed } from './malformed.js'

// A short version; `npm run test:endurance` is the full one.
let place: Built
beforeAll(async () => {
  place = await built()
})
afterAll(() => place[Symbol.dispose]())

test('a crowd of clients gets every response, each its own', async () => {
  const { answers, struck, wrong } = await crowd({ tenants: 10, connections: 40, milliseconds: 1_500 })
  expect(wrong).toEqual([])
  expect(answers).toBeGreaterThan(100)
  expect(struck).toBeGreaterThan(20)
})

test('a killed server has saved what it acknowledged, in a readable file', async () => {
  const { acknowledged, wrong } = await kills(4, place)
  expect(wrong).toEqual([])
  expect(acknowledged).toBeGreaterThan(10)
})

test('malformed requests leave the server running, without internal errors and memory growth', async () => {
  const { requests, answers, heap, wrong } = await malformed(2_000, place)
  expect(wrong).toEqual([])
  expect([requests, answers]).toEqual([expect.any(Number), expect.any(Number)])
  expect(answers).toBeGreaterThan(500)
  expect(heap[1] - heap[0]).toBeLessThan(8_000_000)
})

test('a state file that is wrong inside is rejected with one line, or is harmless', async () => {
  const { wrong, refused, served } = await damages(20, place)
  expect(wrong).toEqual([])
  expect(refused).toBeGreaterThan(5)
  expect(refused + served).toBe(20)
})

// Blocking times depend on the machine, and only `npm run test:endurance` checks them.
test('attacks get responses, end, and leave nothing behind', async () => {
  const names = [
    'a loop over SORT',
    'LREM',
    'eight stars',
    'given up',
    'end of time',
    'lack what they need',
    'sent to its end',
    'never end, without a token',
    'filled with new keys',
  ]
  const { attacks, wrong } = await attacked(place, { names })
  expect(wrong).toEqual([])
  expect(attacks).toBe(13)
})
