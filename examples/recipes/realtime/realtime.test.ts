import { expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// Import the app after the sandbox, because it reads its environment on import.

import { realtime } from './realtime.ts'
import { GET } from './route.ts'

/** Opens the stream that a browser opens, and reads its events one by one. */
async function browser(query: string, headers: Record<string, string> = { cookie: 'session=1' }) {
  const abort = new AbortController()
  const response = await GET(new Request(`https://shop.test/api/realtime?${query}`, { headers, signal: abort.signal }))
  const reader = response!.body!.pipeThrough(new TextDecoderStream()).getReader()
  const waiting: string[] = []
  /** Returns the next event, or `undefined` at the end of the stream. */
  const next = async () => {
    while (waiting.length === 0) {
      const { done, value } = await reader.read()
      if (done) return undefined
      waiting.push(...value.split('\n\n').filter((block) => block !== ''))
    }
    return JSON.parse(waiting.shift()!.replace('data: ', ''))
  }
  return { next, close: () => abort.abort() }
}

const orders = realtime.channel('orders')

test('a browser receives the events of its channels', async () => {
  const { next, close } = await browser('channel=orders&channel=news')
  expect([await next(), await next()]).toEqual([
    { type: 'connected', channel: 'orders' },
    { type: 'connected', channel: 'news' },
  ])
  await orders.emit('order.placed', { id: 42 })
  await realtime.channel('news').emit('order.placed', { id: 43 })
  expect(await next()).toMatchObject({ channel: 'orders', event: 'order.placed', data: { id: 42 } })
  expect(await next()).toMatchObject({ channel: 'news', data: { id: 43 } })
  close()
  expect(sandbox.store).toHaveExecuted('PUBLISH', 'orders', { event: 'order.placed' })
})

test('a browser that connects again receives what it has missed, once', async () => {
  const first = await browser('channel=orders')
  await first.next()
  await orders.emit('order.placed', { id: 1 })
  const { id: seen } = await first.next()
  first.close()

  await orders.emit('order.placed', { id: 2 })
  const second = await browser(`channel=orders&last_ack_orders=${seen}`)
  expect(await second.next()).toEqual({ type: 'connected', channel: 'orders' })
  await orders.emit('order.placed', { id: 3 })
  expect([await second.next(), await second.next()]).toMatchObject([{ data: { id: 2 } }, { data: { id: 3 } }])
  second.close()
})

test('the stream ends before the limit of the platform, and asks the browser to connect again', async () => {
  const { next } = await browser('channel=orders')
  await next()
  await sandbox.clock.advance('298s')
  const last = []
  for (let event = await next(); event !== undefined; event = await next()) last.push(event.type)
  // A ping each minute keeps the connection open.
  expect(last).toEqual(['ping', 'ping', 'ping', 'ping', 'reconnect'])
  expect(sandbox.store.run('PUBSUB', 'NUMSUB', 'orders')).toEqual(['orders', 0])
})

test('the history is kept for a day, and then replayed no more', async () => {
  const { clock, store } = sandbox
  await orders.emit('order.shipped', { id: 42, carrier: 'north' })
  expect(store).toHaveKey('orders', { ttl: '1d' })
  expect(await orders.history()).toMatchObject([{ event: 'order.shipped', data: { id: 42, carrier: 'north' } }])
  await clock.advance('1d')
  expect(await orders.history()).toEqual([])
})

test('a server subscribes with history', async () => {
  await orders.emit('order.placed', { id: 1 })
  const received: unknown[] = []
  const unsubscribe = await orders.subscribe({
    events: ['order.placed'],
    history: true,
    onData: ({ data }) => received.push(data),
  })
  await orders.emit('order.shipped', { id: 1, carrier: 'north' })
  await orders.emit('order.placed', { id: 2 })
  await expect.poll(() => received).toEqual([{ id: 1 }, { id: 2 }])
  await unsubscribe()
})

test('an event that does not match its schema is not sent', async () => {
  await expect(orders.emit('order.placed', { id: '42' } as never)).rejects.toThrow()
  expect(sandbox).not.toHaveReceivedRequest({})
})

test('a browser without a session reads only the public channel', async () => {
  const response = await GET(new Request('https://shop.test/api/realtime?channel=orders'))
  expect(response!.status).toBe(401)
  const { next, close } = await browser('channel=news', {})
  expect(await next()).toEqual({ type: 'connected', channel: 'news' })
  close()
})
