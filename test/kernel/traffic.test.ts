import { beforeEach, describe, expect, test } from 'vitest'
import { latin1 } from '../../src/kernel/bytes.js'
import type { AttemptEntry, DeadLetterEntry, Entry, RequestEntry } from '../../src/kernel/traffic.js'
import { Traffic } from '../../src/kernel/traffic.js'

const request = (url = 'https://store.test/'): RequestEntry => ({
  type: 'request',
  service: 'store',
  method: 'GET',
  url,
  headers: [],
  body: latin1(''),
})
const attempt = (messageId: string): AttemptEntry => ({
  type: 'attempt',
  messageId,
  kind: 'message',
  url: 'https://shop.test/',
  method: 'POST',
  retried: 0,
  maxRetries: 3,
  why: 'first attempt',
  headers: [],
  body: latin1(''),
})
const deadLetter = (messageId: string): DeadLetterEntry => ({
  type: 'dead-letter',
  messageId,
  dlqId: `1-${messageId}`,
  kind: 'message',
  url: 'https://shop.test/',
  status: 500,
})

let now = 0
let traffic: Traffic
beforeEach(() => {
  now = 1_000
  traffic = new Traffic(() => now)
})

test('entries are numbered from 1 and carry the time and their cause', () => {
  const first = traffic.append(request())
  now = 2_000
  const second = traffic.append(attempt('m1'), first.seq)
  expect([first.seq, first.at, first.cause]).toEqual([1, 1_000, undefined])
  expect([second.seq, second.at, second.cause]).toEqual([2, 2_000, 1])
  expect('cause' in first).toBe(false)
  expect(traffic.entries).toEqual([first, second])
  expect(traffic.size).toBe(2)
})

test('entries are found by type, by message and by number', () => {
  const entries = [request(), attempt('m1'), attempt('m2'), deadLetter('m1'), request('https://store.test/b')].map(
    (body) => traffic.append(body),
  )
  expect(traffic.of('attempt')).toEqual([entries[1], entries[2]])
  expect(traffic.of('request').map((entry) => entry.url)).toEqual(['https://store.test/', 'https://store.test/b'])
  expect(traffic.of('fault')).toEqual([])
  expect(traffic.about('m1')).toEqual([entries[1], entries[3]])
  expect(traffic.about('unknown')).toEqual([])
  expect(entries.map((entry) => traffic.find(entry.seq))).toEqual(entries)
  expect(traffic.find(0)).toBeUndefined()
  expect(traffic.find(6)).toBeUndefined()
})

test('numbering goes on after clear, and finding still works', () => {
  const old = traffic.append(attempt('m1'))
  traffic.clear()
  expect(traffic.size).toBe(0)
  expect(traffic.find(old.seq)).toBeUndefined()
  expect(traffic.of('attempt')).toEqual([])
  expect(traffic.about('m1')).toEqual([])
  const next = traffic.append(request())
  expect(next.seq).toBe(2)
  expect(traffic.find(2)).toBe(next)
})

describe('subscribers', () => {
  test('hear of every entry and of its completion, until they leave', () => {
    const heard: [number, boolean][] = []
    const leave = traffic.subscribe((entry: Entry) => {
      heard.push([entry.seq, entry.type === 'request' && entry.answer !== undefined])
    })
    const entry = traffic.append(request())
    traffic.append(attempt('m1'))
    traffic.complete(entry, { answer: { at: now, status: 200, headers: [], body: latin1('"OK"') } })
    leave()
    traffic.append(request())
    expect(heard).toEqual([
      [1, false],
      [2, false],
      [1, true],
    ])
    expect(entry.answer?.status).toBe(200)
  })
})

test('a limited log forgets the older half; numbers, types and messages stay right', () => {
  const limited = new Traffic(() => now, 10)
  for (let count = 1; count <= 23; count++) {
    limited.append(attempt(`m${count}`))
    limited.of('attempt')
    expect(limited.size).toBeLessThanOrEqual(10)
  }
  const kept = limited.entries.map((entry) => entry.seq)
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 23 - kept.length + 1 + index))
  expect(limited.of('attempt').map((entry) => entry.seq)).toEqual(kept)
  expect(limited.about('m1')).toEqual([])
  expect(limited.about('m23')).toHaveLength(1)
  expect(limited.find(23)).toBe(limited.entries.at(-1))
  expect(limited.find(1)).toBeUndefined()
})
