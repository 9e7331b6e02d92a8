import { expect, test, vi } from 'vitest'
import { latin1 } from '../../../src/kernel/bytes.js'
import { locator, sandboxUrlsOf } from '../../../src/protocol/address.js'
import type { RawRequest } from '../../../src/protocol/service.js'
import { commandTable } from '../../../src/store/commands/index.js'
import { HeapWatch } from '../src/heap-watch.js'
import { outOfMemory, refusedFor, refusedOrder, refusesCommand, storesMore } from '../src/no-memory.js'

const base = 'http://double.test'
const locate = locator(sandboxUrlsOf({ base }))

function heapThatHolds(bytes: number) {
  const host = { bytes, ms: 0 }
  const [forget, tell, collect, later] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()]
  const heap = new HeapWatch({ limit: 1_000, held: () => host.bytes, forget, tell, collect, now: () => host.ms, later })
  heap.collected()
  return { heap, host, forget, tell, collect, later }
}

const asked = (method: string, path: string, body = ''): RawRequest => ({
  method,
  url: base + path,
  headers: [],
  body: () => latin1(body),
})

test('frees memory and warns once, only when the heap is nearly full', () => {
  const { heap, host, forget, tell } = heapThatHolds(590)
  expect([heap.isFull, forget.mock.calls.length, tell.mock.calls.length]).toEqual([false, 0, 0])
  for (const bytes of [610, 810, 610]) {
    host.bytes = bytes
    heap.collected()
  }
  expect([heap.isFull, heap.isCritical, forget.mock.calls.length]).toEqual([true, false, 3])
  expect(tell.mock.calls.flat()).toEqual([expect.stringMatching(/--max-old-space-size.*/)])
  host.bytes = 500
  heap.collected()
  expect(heap.isFull).toBe(false)
})

test('calls each waiting caller back once, and checks the heap regularly meanwhile', () => {
  const { heap, host, tell, collect, later } = heapThatHolds(700)
  const goOn = vi.fn()
  heap.whenRoom(goOn)
  heap.whenRoom(goOn)
  expect([later.mock.calls.map(([, ms]) => ms), tell.mock.calls.length]).toEqual([[1_000], 2])
  later.mock.calls[0]![0]()
  expect([collect.mock.calls.length, goOn.mock.calls.length, later.mock.calls[1]![1]]).toEqual([1, 0, 2_000])
  host.bytes = 500
  later.mock.calls[1]![0]()
  heap.collected()
  expect(goOn).toHaveBeenCalledTimes(2)
  // Without a waiting caller it stops checking and prints no second warning.
  later.mock.calls.at(-1)![0]()
  heap.whenRoom(goOn)
  expect([collect.mock.calls.length, tell.mock.calls.length]).toEqual([2, 2])
})

test('collects garbage when the heap has grown near its limit, and after a deletion', () => {
  const { heap, host, collect } = heapThatHolds(500)
  const look = (times: number): void => {
    for (let time = 0; time < times; time++) heap.look()
  }
  heap.start()
  try {
    host.bytes = 599
    look(100)
    expect(collect).not.toHaveBeenCalled()
    host.bytes = 700
    look(100)
    expect([heap.isFull, collect.mock.calls.length]).toEqual([true, 1])
    host.ms += 10_000
    look(100)
    // The memory that was freed when the heap became full may be enough.
    expect(collect).toHaveBeenCalledTimes(2)
    host.ms += 10_000
    look(100)
    expect(collect).toHaveBeenCalledTimes(2)
    heap.freed()
    host.bytes = 100
    look(100)
    expect([heap.isFull, collect.mock.calls.length]).toEqual([false, 3])
  } finally {
    heap.end()
  }
})

const words = (text: string) => text.split(' ').map((word) => latin1(word))

test.each(
  'SET|APPEND|LPUSH|HSET|ZADD|SADD|XADD|SETBIT|INCR|JSON.SET|EVAL|EVALSHA|FCALL|SCRIPT LOAD|COPY|SORT|MSET|set|PFADD'.split(
    '|',
  ),
)('storesMore() is true for %s', (name) => {
  expect(storesMore(words(`${name} k v`))).toBe(true)
})

// Commands without the flag `denyoom` in redis-server 7.0.
const others =
  'GET|MGET|DEL|UNLINK|FLUSHALL|FLUSHDB|EXPIRE|PERSIST|LPOP|RPOP|LREM|LTRIM|SPOP|SREM|HDEL|ZREM|ZPOPMIN|XDEL|XTRIM|GETDEL|RENAME|PING|INFO|EVAL_RO|BLPOP|del|JSON.DEL'
test.each(others.split('|'))('storesMore() is false for %s', (name) => {
  expect(storesMore(words(`${name} k`))).toBe(false)
})

test('storesMore() is true for most commands that write', () => {
  const writing = commandTable.commands.filter(({ writes }) => writes)
  expect(writing.filter(({ name }) => storesMore(words(name))).length).toBeGreaterThan(writing.length / 2)
})

test('a full heap rejects requests that store, and admits those that read or delete', () => {
  const { heap } = heapThatHolds(700)
  const status = (call: RawRequest): number | undefined => refusedFor(heap, call, locate)?.status
  const set = refusedFor(heap, asked('GET', '/store/set/k/v'), locate)
  expect([set?.status, JSON.parse(String(set?.body))]).toEqual([400, { error: outOfMemory }])
  expect(status(asked('POST', '/store', '["SET","k","v"]'))).toBe(400)
  expect(status(asked('POST', '/store/pipeline', '[["GET","k"],["SET","k","v"]]'))).toBe(400)
  expect(status(asked('POST', '/store', `["GET","${'x'.repeat(100_000)}"]`))).toBe(400)
  expect(status(asked('POST', '/store', '["GET","k"]'))).toBeUndefined()
  expect(status(asked('POST', '/store', '["DEL","k"]'))).toBeUndefined()
  expect(status(asked('POST', '/store', 'no JSON'))).toBeUndefined()
  expect(status(asked('POST', '/store/pipeline', '[["GET","k"],["FLUSHALL"]]'))).toBeUndefined()
  expect(status(asked('POST', '/queue/v2/publish/https://a.test', 'x'))).toBe(503)
  expect(status(asked('GET', '/queue/v2/messages/1'))).toBeUndefined()
  expect(status(asked('DELETE', '/queue/v2/messages/1'))).toBeUndefined()
  expect(refusedOrder(heap, asked('PUT', ''), '/_control/w1/state')?.status).toBe(503)
  for (const path of ['reset', 'clock/advance'])
    expect(refusedOrder(heap, asked('POST', ''), `/_control/w1/${path}`)).toBeUndefined()
  expect(refusedOrder(heap, asked('DELETE', ''), '/_control/w1')).toBeUndefined()
  for (const path of ['state', 'snapshot', 'store/dump', 'queue/dump', 'store/changes', 'traffic/trace?limit=1'])
    expect(refusedOrder(heap, asked('GET', ''), `/_control/w1/${path}`)?.status).toBe(503)
  for (const path of ['traffic?limit=1', 'queue/messages', 'clock', ''])
    expect(refusedOrder(heap, asked('GET', ''), `/_control/w1/${path}`)).toBeUndefined()
  expect(refusesCommand(heap, words('SET k v'))).toBe(outOfMemory)
  expect(refusesCommand(heap, words('GET k'))).toBeUndefined()
})

test.each([
  ['GET', '/store/flushall', ''],
  ['GET', '/store/del/k1/k2', ''],
  ['POST', '/store', '["UNLINK","k"]'],
  ['POST', '/store/pipeline', '[["PING"],["hdel","h","f"]]'],
  ['POST', '/store/multi-exec', '[["LTRIM","l","0","1"]]'],
  ['DELETE', '/queue/v2/messages/1', ''],
  ['DELETE', '/_control/w1/traffic', ''],
  ['POST', '/_control/w1/reset', ''],
  ['POST', '/_control/w1/queue/reset', ''],
  ['POST', '/_control/w1/clock/advance', ''],
  ['POST', '/_control/w1/queue/messages/msg_1/cancel', ''],
  ['POST', '/_control/w1/store/run', '{"command":["FLUSHALL"]}'],
])('a full heap is collected a second after %s %s %s', (method, path, body) => {
  const { heap, host, collect } = heapThatHolds(900)
  heap.start()
  try {
    const ask = () => {
      const call = asked(method, path, body)
      return path.startsWith('/_control') ? refusedOrder(heap, call, path) : refusedFor(heap, call, locate)
    }
    host.ms = 60_000
    heap.look()
    expect(collect).toHaveBeenCalledTimes(1)
    host.ms = 120_000
    expect(ask()).toBeUndefined()
    host.bytes = 100
    host.ms += 1_001
    expect(refusedFor(heap, asked('POST', '/store', '["SET","k","v"]'), locate)).toBeUndefined()
    expect(collect).toHaveBeenCalledTimes(2)
  } finally {
    heap.end()
  }
})

test('health checks and small reads run while any memory is left', () => {
  const { heap } = heapThatHolds(900)
  const status = (path: string, body?: string) =>
    refusedFor(heap, asked(body === undefined ? 'GET' : 'POST', path, body), locate)?.status
  for (const name of ['ping', 'PING', 'echo/x', 'time', 'info', 'dbsize', 'exists/k', 'ttl/k', 'strlen/k'])
    expect(status(`/store/${name}`)).toBeUndefined()
  expect(status('/store', '["PING"]')).toBeUndefined()
  expect(status('/store/pipeline', '[["PING"],["DBSIZE"]]')).toBeUndefined()
  expect(status('/store/pipeline', '[["PING"],["GET","k"]]')).toBe(503)
  for (const name of ['get/k', 'keys/*', 'lrange/l/0/-1']) expect(status(`/store/${name}`)).toBe(503)
  for (const [command, expected] of [
    ['["PING"]', undefined],
    ['["GET","k"]', 503],
    ['["SET","k","v"]', 503],
  ] as const) {
    const order = asked('POST', '', `{"command":${command}}`)
    expect(refusedOrder(heap, order, '/_control/w1/store/run')?.status).toBe(expected)
  }
})

test('a heap above the second limit rejects reads, too', () => {
  const { heap } = heapThatHolds(900)
  expect(refusedFor(heap, asked('POST', '/store', '["GET","k"]'), locate)?.status).toBe(503)
  expect(refusedFor(heap, asked('POST', '/store', '["FLUSHALL"]'), locate)).toBeUndefined()
  expect(refusedOrder(heap, asked('GET', ''), '/_control/w1/traffic')?.status).toBe(503)
  expect(refusedOrder(heap, asked('POST', ''), '/_control/w1/reset')).toBeUndefined()
})
