// The same as a test without a double: a map for the store, a list for the queue.
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sixCalls } from './calls.js'
import { noteTime } from './spent.js'

const values = new Map<string, unknown>()
const published: unknown[] = []
const base64 = (value: string): string => Buffer.from(value).toString('base64')
const commands: Record<string, (key: string, ...rest: unknown[]) => unknown> = {
  set: (key, value) => {
    values.set(key, value)
    return base64('OK')
  },
  get: (key) => base64(String(values.get(key))),
  incr: (key) => {
    const next = Number(values.get(key) ?? 0) + 1
    values.set(key, next)
    return next
  },
  hset: (key, ...fields) => {
    values.set(key, fields)
    return fields.length / 2
  },
  expire: () => 1,
}
const server = setupServer(
  http.post('https://store.test/', async ({ request }) => {
    const [name, key, ...rest] = (await request.json()) as [string, string, ...unknown[]]
    return HttpResponse.json({ result: commands[name.toLowerCase()]!(key, ...rest) })
  }),
  http.post('https://store.test/pipeline', async ({ request }) => {
    const all = (await request.json()) as [string, string, ...unknown[]][]
    return HttpResponse.json(
      all.map(([name, key, ...rest]) => ({ result: commands[name.toLowerCase()]!(key, ...rest) })),
    )
  }),
  http.post('https://queue.test/v2/publish/*', async ({ request }) => {
    published.push(await request.json())
    return HttpResponse.json({ messageId: `msg_${published.length}` })
  }),
)

noteTime()
beforeAll(() => {
  Object.assign(process.env, {
    UPSTASH_REDIS_REST_URL: 'https://store.test',
    UPSTASH_REDIS_REST_TOKEN: 'token',
    QSTASH_URL: 'https://queue.test',
    QSTASH_TOKEN: 'token',
  })
  server.listen({ onUnhandledFrame: 'error' })
})
beforeEach(() => {
  values.clear()
  published.length = 0
})
afterAll(() => server.close())

for (let number = 0; number < 200; number++) {
  test(`number ${number}`, async () => {
    await sixCalls(number)
    expect(published.at(-1)).toEqual({ id: number })
    expect(values.get('orders')).toBe(1)
  })
}
