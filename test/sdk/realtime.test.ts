import { CursorUnavailableError, handle, Realtime } from '@upstash/realtime'
import { Redis } from '@upstash/redis'
import { sandboxMatchers } from 'stuntdouble/matchers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { startServer } from '../../packages/server/src/server.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'

expect.extend(sandboxMatchers)

let close: () => unknown = () => undefined

// The SDK sends a ping every minute, also after a subscription that was rejected. Such a ping would fail after its test.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(async () => {
  vi.useRealTimers()
  await close()
})

const transports: Readonly<Record<string, () => Sandbox | Promise<Sandbox>>> = {
  'this process'() {
    const sandbox = createSandbox()
    replaceFetch(sandbox)
    close = () => sandbox.dispose()
    return sandbox
  },
  async 'a server'() {
    const server = await startServer({ port: 0, clock: 'manual' })
    close = () => server.close()
    return server.tenant('main')
  },
}

const schema = { chat: { message: z.object({ text: z.string() }) } }

function realtimeOf({ env }: Sandbox, options: object = {}) {
  const redis = new Redis({ url: env.UPSTASH_REDIS_REST_URL!, token: env.UPSTASH_REDIS_REST_TOKEN!, retry: false })
  return new Realtime({ schema, redis, ...options })
}

type AnyRealtime = ReturnType<typeof realtimeOf>

/** Opens the route as EventSource does. */
async function opened(realtime: AnyRealtime, query: string) {
  const abort = new AbortController()
  const request = new Request(`https://shop.test/api/realtime?${query}`, { signal: abort.signal })
  const response = (await handle({ realtime })(request))!
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<Record<string, unknown> | undefined> => {
    while (!text.includes('\n\n')) {
      const { done, value } = await reader.read()
      if (done) return undefined
      text += value
    }
    const [event = ''] = text.split('\n\n', 1)
    text = text.slice(event.length + 2)
    return JSON.parse(event.replace('data: ', ''))
  }
  return { response, next, close: () => abort.abort() }
}

describe.each(Object.keys(transports))('@upstash/realtime with a store in %s', (transport) => {
  const open = () => transports[transport]!()

  test('the route sends events of several channels, and only of these', async () => {
    const sandbox = await open()
    const realtime = realtimeOf(sandbox)
    const { response, next, close } = await opened(realtime, 'channel=a&channel=b')
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const connected = [await next(), await next()]
    expect(connected.map((event) => event!.channel).sort()).toEqual(['a', 'b'])
    for (const name of ['c', 'b', 'a']) await realtime.channel(name).emit('chat.message', { text: `for ${name}` })
    expect([await next(), await next()]).toMatchObject([
      { channel: 'b', event: 'chat.message', data: { text: 'for b' }, id: expect.stringMatching(/^\d+-\d+$/) },
      { channel: 'a', data: { text: 'for a' } },
    ])
    close()
    await expect.poll(() => sandbox.store.run('PUBSUB', 'NUMSUB', 'a', 'b')).toEqual(['a', 0, 'b', 0])
  })

  test('the route replays what follows the last event that a client has seen', async () => {
    const realtime = realtimeOf(await open())
    const channel = realtime.channel('a')
    for (const text of ['1', '2', '3']) await channel.emit('chat.message', { text })
    const [first] = await channel.history()
    const { next, close } = await opened(realtime, `channel=a&last_ack_a=${first!.id}`)
    await channel.emit('chat.message', { text: '4' })
    expect(await next()).toEqual({ type: 'connected', channel: 'a' })
    const texts = []
    for (let count = 0; count < 3; count++) texts.push(((await next()) as { data: { text: string } }).data.text)
    expect(texts).toEqual(['2', '3', '4'])
    close()
  })

  test('emit() adds to a stream of limited length, sets its expiration and publishes', async () => {
    const sandbox = await open()
    const realtime = realtimeOf(sandbox, { history: { maxLength: 2, expireAfterSecs: 60 } })
    for (const text of ['1', '2', '3']) await realtime.emit('chat.message', { text })
    expect(await realtime.history()).toMatchObject([{ data: { text: '2' } }, { data: { text: '3' } }])
    expect(sandbox.store).toHaveExecuted('XADD', 'default', 'MAXLEN', '=', '2', '*', expect.anything(), {})
    expect(sandbox.store).toHaveKey('default', { ttl: '60s' })
    await sandbox.clock.advance('61s')
    expect(await realtime.history()).toEqual([])
  })

  test('subscribe() replays the history, and continues after a cursor', async () => {
    const realtime = realtimeOf(await open())
    for (const text of ['1', '2']) await realtime.emit('chat.message', { text })
    const [, last] = await realtime.history()
    const received = async (live: string, options: object): Promise<unknown[]> => {
      const texts: unknown[] = []
      const onData = ({ data }: { data: unknown }) => texts.push((data as { text: string }).text)
      const end = await realtime.subscribe({ events: ['chat.message'], onData, ...options } as never)
      await realtime.emit('chat.message', { text: live })
      await expect.poll(() => texts.at(-1)).toBe(live)
      await (end as () => Promise<void>)()
      return texts
    }
    expect(await received('3', { after: last!.id })).toEqual(['3'])
    expect(await received('4', { history: { limit: 1 } })).toEqual(['1', '4'])
    expect(await received('5', { history: true })).toEqual(['1', '2', '3', '4', '5'])
    await expect(received('6', { after: '1-1' })).rejects.toThrow(CursorUnavailableError)
  })

  test('emit() rejects data that does not match the schema, before any request', async () => {
    const sandbox = await open()
    await expect(realtimeOf(sandbox).emit('chat.message', { text: 1 } as never)).rejects.toThrow(z.core.$ZodError)
    expect(sandbox).not.toHaveReceivedRequest({})
  })
})
