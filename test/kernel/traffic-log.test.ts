import { beforeEach, describe, expect, test } from 'vitest'
import { Account } from '../../src/kernel/account.js'
import { latin1 } from '../../src/kernel/bytes.js'
import type { AttemptEntry, DeadLetterEntry, Entry, EntryBody, RequestEntry } from '../../src/kernel/traffic-log.js'
import { entryTypes, TrafficLog } from '../../src/kernel/traffic-log.js'

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
  reason: 'first attempt',
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
let traffic: TrafficLog
beforeEach(() => {
  now = 1_000
  traffic = new TrafficLog({ now: () => now })
})

test('numbers entries from 1 and records their time and cause', () => {
  const first = traffic.append(request())
  now = 2_000
  const second = traffic.append(attempt('m1'), first.seq)
  expect([first.seq, first.at, first.cause]).toEqual([1, 1_000, undefined])
  expect([second.seq, second.at, second.cause]).toEqual([2, 2_000, 1])
  expect('cause' in first).toBe(false)
  expect(traffic.entries).toEqual([first, second])
  expect(traffic.size).toBe(2)
})

test('finds entries by type, message and number', () => {
  const entries = [request(), attempt('m1'), attempt('m2'), deadLetter('m1'), request('https://store.test/b')].map(
    (body) => traffic.append(body),
  )
  expect(traffic.ofType('attempt')).toEqual([entries[1], entries[2]])
  expect(traffic.ofType('request').map((entry) => entry.url)).toEqual(['https://store.test/', 'https://store.test/b'])
  expect(traffic.ofType('fault')).toEqual([])
  expect(traffic.forMessage('m1')).toEqual([entries[1], entries[3]])
  expect(traffic.forMessage('unknown')).toEqual([])
  expect(entries.map((entry) => traffic.get(entry.seq))).toEqual(entries)
  expect(traffic.get(0)).toBeUndefined()
  expect(traffic.get(6)).toBeUndefined()
})

test('continues numbering after clear(), and still finds entries', () => {
  const old = traffic.append(attempt('m1'))
  traffic.clear()
  expect(traffic.size).toBe(0)
  expect(traffic.get(old.seq)).toBeUndefined()
  expect(traffic.ofType('attempt')).toEqual([])
  expect(traffic.forMessage('m1')).toEqual([])
  const next = traffic.append(request())
  expect(next.seq).toBe(2)
  expect(traffic.get(2)).toBe(next)
})

describe('subscribers', () => {
  test('are called for every entry and its completion, until they unsubscribe', () => {
    const heard: [number, boolean][] = []
    const leave = traffic.subscribe((entry: Entry) => {
      heard.push([entry.seq, entry.type === 'request' && entry.response !== undefined])
    })
    const entry = traffic.append(request())
    traffic.append(attempt('m1'))
    traffic.complete(entry, { response: { at: now, status: 200, headers: [], body: latin1('"OK"') } })
    leave()
    traffic.append(request())
    expect(heard).toEqual([
      [1, false],
      [2, false],
      [1, true],
    ])
    expect(entry.response?.status).toBe(200)
  })
})

describe('a limited log', () => {
  test('replaces the older half by an entry about it; numbers, types and messages stay right', () => {
    const limited = new TrafficLog({ now: () => now }, 10)
    const log = Array.from({ length: 23 }, (_, count) => {
      now = 1_000 * (count + 1)
      const entry = limited.append(attempt(`m${count + 1}`))
      limited.ofType('attempt')
      expect(limited.size).toBeLessThanOrEqual(10)
      return entry
    })
    const [mark, ...kept] = limited.entries
    expect(kept).toEqual(log.slice(-kept.length))
    const gone = log.length - kept.length
    expect(mark).toEqual({ type: 'dropped', count: gone, limit: 10, unit: 'entries', seq: gone, at: gone * 1_000 })
    expect(limited.dropped).toBe(gone)
    expect(limited.ofType('attempt')).toEqual(kept)
    expect(limited.ofType('dropped')).toEqual([mark])
    expect(limited.forMessage('m1')).toEqual([])
    expect(limited.forMessage('m23')).toHaveLength(1)
    expect(limited.get(23)).toBe(log[22])
    expect(limited.get(gone)).toBe(mark)
    expect(limited.get(1)).toBeUndefined()
  })

  test('counts from zero after clear()', () => {
    const limited = new TrafficLog({ now: () => now }, 4)
    for (let count = 0; count < 9; count++) limited.append(request())
    expect(limited.dropped).toBeGreaterThan(0)
    limited.clear()
    expect([limited.dropped, limited.size, limited.latest]).toEqual([0, 0, 9])
  })

  test('is limited by the bytes of bodies: of requests, responses, messages and responses of destinations', () => {
    const kib = latin1('x'.repeat(10_240))
    const limit = 112 * 1024
    const write: Record<string, (log: TrafficLog) => void> = {
      request: (log) => void log.append({ ...request(), body: kib }),
      answer: (log) =>
        log.complete(log.append(request()), { response: { at: 0, status: 200, headers: [], body: kib } }),
      outcome: (log) => {
        const entry = log.append(attempt('m1'))
        log.complete(entry, { outcome: { at: 0, status: 200, headers: [], body: kib, state: 'DELIVERED' } }, 10_240)
      },
    }
    for (const add of Object.values(write)) {
      const limited = new TrafficLog({ now: () => now }, { bytes: new Account(limit) })
      for (let count = 1; count <= 10; count++) add(limited)
      expect([limited.dropped, limited.size]).toEqual([0, 10])
      add(limited)
      expect(limited.size).toBeLessThan(10)
      expect(limited.entries[0]).toMatchObject({ type: 'dropped', unit: 'bytes', limit })
      for (let count = 0; count < 100; count++) {
        add(limited)
        expect(limited.size).toBeLessThanOrEqual(11)
      }
      // The entry about dropped entries replaces one entry.
      expect(limited.dropped + limited.size - 1).toBe(111)
    }
  })

  test.each(Object.keys(entryTypes))('counts the size of an entry without its values: %s', (type) => {
    const kept = new Account(100_000)
    const limited = new TrafficLog({ now: () => now }, { bytes: kept })
    const [headers, body] = [[], latin1('')]
    for (let count = 0; count < 1_000; count++) {
      limited.append({ type, url: '', headers, body, argv: [], key: body } as unknown as EntryBody)
      expect(kept.held).toBeLessThanOrEqual(kept.limit)
    }
    expect(limited.dropped).toBeGreaterThan(100)
    limited.clear()
    expect(kept.held).toBe(0)
  })

  test.each<[string, (word: string) => EntryBody]>([
    ['a word', (word) => ({ type: 'command', argv: [latin1('SET'), latin1(word)], user: 'a', via: 'direct' })],
    ['a reply', (word) => ({ type: 'command', argv: [], user: 'a', via: 'direct', reply: [['1', word]] })],
    ['a key', (word) => ({ type: 'keyspace', event: 'set', key: latin1(word) })],
    ['a url', (word) => request(word)],
    ['a header', (word) => ({ ...request(), headers: [['x', word]] })],
    ['an event', (word) => ({ type: 'notify', eventId: '1', runIds: [], body: latin1(word) })],
    ['a reason', (word) => ({ type: 'message', messageId: '1', state: 'WAITING', reason: word })],
  ])('counts the size of %s', (_, write) => {
    const limited = new TrafficLog({ now: () => now }, { bytes: new Account(100_000) })
    for (let count = 0; count < 5; count++) limited.append(write('x'.repeat(10_000)))
    expect(limited.dropped).toBe(0)
    for (let count = 0; count < 6; count++) limited.append(write('x'.repeat(10_000)))
    expect(limited.dropped).toBeGreaterThan(0)
  })

  test('counts equal headers of consecutive requests once', () => {
    const kept = new Account(100_000)
    const limited = new TrafficLog({ now: () => now }, { bytes: kept })
    const headers: RequestEntry['headers'] = [['x', 'x'.repeat(10_000)]]
    for (let count = 0; count < 20; count++) limited.append({ ...request(), headers })
    expect(limited.dropped).toBe(0)
  })

  test('frees memory for other data below the same limit, and adds nothing to dropped entries', () => {
    const kept = new Account(100_000)
    const limited = new TrafficLog({ now: () => now }, { bytes: kept })
    const first = limited.append(request())
    for (let count = 0; count < 100; count++) limited.append(request())
    expect(limited.dropped).toBe(0)
    new Account(90_000, kept).put(70_000)
    limited.append(request())
    expect(limited.dropped).toBeGreaterThan(0)
    const { held } = kept
    limited.complete(first, { response: { at: now, status: 200, headers: [], body: latin1('x'.repeat(20_000)) } })
    expect(kept.held).toBe(held)
  })

  test('keeps an entry that is larger than the limit until the next one', () => {
    const limited = new TrafficLog({ now: () => now }, { bytes: new Account(10) })
    limited.append({ ...request(), body: latin1('x'.repeat(100)) })
    expect(limited.size).toBeGreaterThan(0)
    limited.append(attempt('m1'))
    limited.append(attempt('m2'))
    expect(limited.entries.at(-1)).toMatchObject({ messageId: 'm2' })
  })

  test('keeps nothing with limit 0, but still announces entries', () => {
    const none = new TrafficLog({ now: () => now }, 0)
    const heard: string[] = []
    none.subscribe((entry) => heard.push(entry.type))
    none.append(attempt('m1'))
    expect([none.keeps, none.size, heard]).toEqual([false, 0, ['attempt']])
  })

  test('throws a RangeError for a negative limit', () => {
    expect(() => new TrafficLog({ now: () => now }, -1)).toThrow('must be at least 0')
  })
})

test('after() returns the entries since a number, also after entries were dropped', () => {
  const limited = new TrafficLog({ now: () => now }, 10)
  for (let count = 1; count <= 23; count++) limited.append(attempt(`m${count}`))
  expect(limited.after(21).map((entry) => entry.seq)).toEqual([22, 23])
  expect(limited.after(23)).toEqual([])
  expect(limited.after(99)).toEqual([])
  expect(limited.after(2)).toEqual(limited.entries)
})

test('a recorded log can have gaps', () => {
  const all = [request(), attempt('m1'), attempt('m2'), request(), deadLetter('m1')].map((body) => traffic.append(body))
  const some = all.filter((entry) => entry.type !== 'request')
  const recorded = TrafficLog.recorded(some)
  expect(all.map(({ seq }) => recorded.get(seq))).toEqual([undefined, all[1], all[2], undefined, all[4]])
  expect([0, 1, 2, 3, 4, 5, 6].map((seq) => recorded.after(seq).length)).toEqual([3, 3, 2, 1, 1, 0, 0])
  expect(recorded.forMessage('m1')).toEqual([all[1], all[4]])
})

describe('entries of clock moves', () => {
  test('record where time moved, one entry per move', () => {
    const end = traffic.moves('advance')
    now = 2_000
    traffic.append(attempt('m1'))
    now = 6_000
    end()
    expect(traffic.entries[0]).toEqual({
      type: 'clock',
      move: 'advance',
      seq: 1,
      at: 1_000,
      to: 6_000,
      count: 1,
      endedAfterSeq: 2,
    })
    expect(traffic.size).toBe(2)
  })

  test('are merged if nothing happens between the moves', () => {
    for (let count = 0; count < 1_000; count++) {
      const end = traffic.moves('advance')
      now += 1
      end()
    }
    expect(traffic.entries).toEqual([expect.objectContaining({ type: 'clock', at: 1_000, to: 2_000, count: 1_000 })])
    traffic.append(request())
    traffic.moves('advance')()
    traffic.moves('drain')()
    expect(traffic.ofType('clock').map(({ move: call, count: moves }) => [call, moves])).toEqual([
      ['advance', 1_000],
      ['advance', 1],
      ['drain', 1],
    ])
  })
})
