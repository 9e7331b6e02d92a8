import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findChromium, noChromium } from '../support/chromium.js'
import type { World } from './app/main.js'
import { type OpenPage, openBuiltPage } from './page.js'

// The core in a page: built by Vite, run by Chromium, called by both SDKs through msw's service worker.

declare const world: World

test('docs/adapters/msw.md shows the sandbox of the page', () => {
  const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
  expect(read('../../docs/adapters/msw.md')).toContain(`\`\`\`js\n${read('app/sandbox.ts')}\`\`\``)
})

const missing = findChromium() === undefined
const about = missing ? `: not run, ${noChromium}` : ''

describe.skipIf(missing)(`a page whose service worker responds for the services${about}`, () => {
  let opened: OpenPage

  beforeAll(async () => {
    opened = await openBuiltPage(new URL('app', import.meta.url).pathname)
    await opened.page.waitForFunction(() => 'world' in globalThis)
  })

  afterAll(() => opened?.[Symbol.asyncDispose]())

  test('runs values, pipelines, scripts and bytes beyond ASCII through the store SDK', async () => {
    const told = await opened.page.evaluate(async () => {
      const { redis } = world
      await redis.set('greeting', 'grüße 👋', { ex: 60 })
      const pipeline = redis.pipeline()
      pipeline.hset('profile:42', { name: 'Ada', born: 1815 })
      pipeline.hgetall('profile:42')
      return [
        await redis.get('greeting'),
        await pipeline.exec(),
        await redis.eval("return redis.call('INCRBY', KEYS[1], ARGV[1])", ['visits'], [41]),
        await redis.get('nothing'),
      ]
    })
    expect(told).toEqual(['grüße 👋', [2, { name: 'Ada', born: 1815 }], 41, null])
  })

  test('passes an error of the store to the SDK', async () => {
    const told = await opened.page.evaluate(async () => {
      await world.redis.set('text', 'abc')
      return world.redis.incr('text').catch((error: Error) => `${error.name}: ${error.message}`)
    })
    expect(told).toMatch(/^UpstashError: .*ERR value is not an int or out of range/)
  })

  test('expires keys on the clock of the sandbox', async () => {
    const told = await opened.page.evaluate(async () => {
      const { redis, sandbox } = world
      await redis.set('session', 'Ada', { ex: 3600 })
      await sandbox.clock.advance('59m')
      const left = await redis.ttl('session')
      await sandbox.clock.advance('1m')
      return [left, await redis.get('session')]
    })
    expect(told).toEqual([60, null])
  })

  test('delivers a message and its retry, with a signature, through the queue SDK', async () => {
    const url = 'https://shop.test/orders'
    const told = await opened.page.evaluate(async (url) => {
      const { fault, queue, receiver, sandbox } = world
      const orders = sandbox.destinations.record(url)
      sandbox.destinations.script(url, [fault.status(503)])
      const { messageId } = await queue.publishJSON({ url, body: { id: 42 }, delay: 60 })
      const { url: waiting } = await queue.messages.get(messageId)
      await sandbox.clock.drain()
      const { url: to, body, headers } = orders.last()
      const signature = new Map(headers).get('upstash-signature') ?? new Map(headers).get('Upstash-Signature') ?? ''
      // The receiver reads the clock of the machine.
      const signed = { signature, url: to, clockTolerance: 100 * 365 * 24 * 3600 }
      return {
        waiting,
        arrived: orders.count,
        body: JSON.parse(body) as unknown,
        isValid: await receiver.verify({ ...signed, body }),
        forged: await receiver.verify({ ...signed, body: '{"id":43}' }).catch((error: Error) => error.name),
        read: (await queue.messages.get(messageId)).url,
      }
    }, url)
    expect(told).toEqual({
      waiting: url,
      arrived: 2,
      body: { id: 42 },
      isValid: true,
      forged: 'SignatureError',
      read: url,
    })
  })

  test('streams events to the SDK while they are open', async () => {
    const told = await opened.page.evaluate(async () => {
      const { redis, sandbox } = world
      const heard: unknown[] = []
      const subscriber = redis.subscribe<string>('news')
      await new Promise<void>((resolve) => subscriber.on('subscribe', () => resolve()))
      const two = new Promise<void>((resolve) => {
        subscriber.on('message', ({ message }) => {
          heard.push(message)
          if (heard.length === 2) resolve()
        })
      })
      await redis.publish('news', 'one')
      sandbox.store.run('PUBLISH', 'news', 'two')
      await two
      const during = sandbox.store.run('PUBSUB', 'NUMSUB', 'news')
      await subscriber.unsubscribe()
      const start = Date.now()
      while (String(sandbox.store.run('PUBSUB', 'NUMSUB', 'news')) !== 'news,0' && Date.now() - start < 3000)
        await new Promise((resolve) => setTimeout(resolve, 10))
      return [heard, during, sandbox.store.run('PUBSUB', 'NUMSUB', 'news')]
    })
    expect(told).toEqual([
      ['one', 'two'],
      ['news', 1],
      ['news', 0],
    ])
  })

  test('fails a request whose connection breaks', async () => {
    const told = await opened.page.evaluate(async () => {
      const { fault, sandbox } = world
      const { urls, tokens } = sandbox
      sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.reset() })
      const headers = { authorization: `Bearer ${tokens.store}` }
      const broken = await fetch(`${urls.store}/ping`, { headers }).catch((error: Error) => error.name)
      const next = await fetch(`${urls.store}/ping`, { headers })
      return [broken, await next.text()]
    })
    expect(told).toEqual(['TypeError', '{"result":"PONG"}'])
  })

  test('sends nothing over the network and logs no error', async () => {
    const entries = await opened.page.evaluate(
      () => world.sandbox.traffic.entries.filter(({ type }) => type === 'request').length,
    )
    expect(entries).toBeGreaterThan(10)
    expect(opened.escaped).toEqual([])
    expect(opened.complaints).toEqual([])
  })
})
