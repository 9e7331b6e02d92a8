import { startServer } from 'stuntdouble/server'
import 'stuntdouble/vitest/extend'
import { expect, test } from 'vitest'

test('stores a key over REST', async () => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  const { env, store, traffic } = server.tenant('main')

  const response = await fetch(`${env.UPSTASH_REDIS_REST_URL}/set/greeting/hello`, {
    headers: { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
  })

  expect(await response.json()).toEqual({ result: 'OK' })
  expect(store).toHaveKey('greeting', { value: 'hello' })
  expect(traffic.ofType('request')).toHaveLength(1)
})
