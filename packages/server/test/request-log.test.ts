import { expect, test } from 'vitest'
import { type RequestLogEntry, startServer } from '../src/server.js'

test('--log redacts secrets in paths and queries', async () => {
  const lines: RequestLogEntry[] = []
  const server = await startServer({ port: 0, clock: 'manual', onRequest: (line) => lines.push(line) })
  const paths = [
    '/main/queue/v2/publish/https://me:Zq-pw@shop.test/a?api_key=Zq-key&page=2',
    '/main/queue/v2/publish/https%3A%2F%2Fme%3AZq-pw%40shop.test%2Fa%3Ftoken%3DZq-token',
    '/main/store/hset/user/name/Ada/password/Zq-field',
    '/main/store/auth/Zq-auth',
    '/main/store/get/greeting?_token=Zq-token',
  ]
  try {
    for (const path of paths) await (await fetch(server.origin + path, { method: 'POST' })).text()
    await expect.poll(() => lines.length).toBe(paths.length)
  } finally {
    await server.close()
  }
  expect(JSON.stringify(lines)).not.toContain('Zq')
  expect(lines.map(({ path }) => path)).toEqual([
    '/main/queue/v2/publish/https://***@shop.test/a?api_key=***&page=2',
    expect.stringMatching(/^\/main\/queue\/v2\/publish\/https%3A%2F%2F/),
    '/main/store/hset/user/name/Ada/password/***',
    '/main/store/auth/***',
    '/main/store/get/greeting?_token=***',
  ])
})
