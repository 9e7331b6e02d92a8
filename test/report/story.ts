import { type Bytes, utf8 } from '../../src/kernel/bytes.js'
import { TrafficLog } from '../../src/kernel/traffic-log.js'

export const start = Date.parse('2030-01-01T09:00:00Z')

/** A traffic log whose time the test sets. */
export class TestTraffic extends TrafficLog {
  time: { now: number }

  constructor(now: number = start) {
    const time = { now }
    super({ now: () => time.now })
    this.time = time
  }

  at(seconds: number): this {
    this.time.now = start + seconds * 1000
    return this
  }
}

export const publishedOrder = {
  type: 'published',
  messageId: 'msg_2KdAAAAAAAAAAAAAAAAAAAA',
  kind: 'message',
  url: 'https://shop.test/orders',
  method: 'POST',
  headers: [['content-type', 'application/json']],
  body: utf8('{"id":42}'),
  maxRetries: 2,
  notBefore: start,
  deduplicated: false,
} as const

export const none: Bytes = utf8('')

/** An order: published, rejected with 500, response lost, delivered, and then reported to a callback. */
export function orderStory(): TestTraffic {
  const traffic = new TestTraffic()
  const request = traffic.append({
    type: 'request',
    service: 'queue',
    method: 'POST',
    url: 'https://queue.test/v2/publish/https://shop.test/orders',
    headers: [],
    body: utf8('{"id":42}'),
  })
  const published = traffic.append(publishedOrder, request.seq)
  traffic.complete(request, { response: { at: start, status: 201, headers: [], body: none } })
  const attempt = (retried: number) =>
    traffic.append(
      {
        type: 'attempt',
        messageId: publishedOrder.messageId,
        kind: 'message',
        url: publishedOrder.url,
        method: 'POST',
        retried,
        maxRetries: 2,
        reason: retried === 0 ? 'first attempt' : `retry ${retried} of 2`,
        headers: [],
        body: publishedOrder.body,
      },
      published.seq,
    )
  const first = attempt(0)
  traffic.at(3)
  traffic.complete(first, {
    outcome: {
      at: start + 3000,
      status: 500,
      error: '500 Internal Server Error',
      headers: [],
      body: utf8('out of stock'),
      state: 'RETRY',
      next: { at: start + 15_000, delayMs: 12_000, reason: 'default back-off' },
    },
  })
  traffic.at(15)
  const second = attempt(1)
  const charge = traffic.append({
    type: 'request',
    service: 'store',
    method: 'POST',
    url: 'https://store.test/',
    headers: [],
    body: none,
  })
  traffic.append(
    { type: 'command', argv: [utf8('INCR'), utf8('charged:42')], user: 'default', via: 'request', reply: 1 },
    charge.seq,
  )
  traffic.complete(charge, { response: { at: start + 15_000, status: 200, headers: [], body: none } })
  traffic.complete(second, {
    outcome: {
      at: start + 15_000,
      status: 0,
      error: 'connection reset',
      headers: [],
      body: none,
      state: 'RETRY',
      next: { at: start + 163_000, delayMs: 148_000, reason: 'default back-off' },
      note: 'the handler ran, its response was lost',
    },
  })
  traffic.at(163)
  const third = attempt(2)
  traffic.complete(third, {
    outcome: { at: start + 163_000, status: 200, headers: [], body: utf8('ok'), state: 'DELIVERED' },
  })
  return traffic
}
