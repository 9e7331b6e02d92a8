import { type RedisConfigNodejs, Redis as RedisOfSdk } from '@upstash/redis'
import { describe, expect, test, vi } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox } from '../../src/sandbox/sandbox.js'

// From version 1.40, the SDK asks for plain JSON by default, and version 1.39 asks for base64. Here the tests and
// examples that name no encoding run as with 1.40. [store.md 3.2]

vi.mock('@upstash/redis', async (original) => {
  const actual = await original<typeof import('@upstash/redis')>()
  class Redis extends actual.Redis {
    constructor(config: RedisConfigNodejs) {
      super({ responseEncoding: false, ...config })
    }

    static override fromEnv(config?: Parameters<typeof RedisOfSdk.fromEnv>[0]): RedisOfSdk {
      return actual.Redis.fromEnv({ responseEncoding: false, ...config })
    }
  }
  return { ...actual, Redis }
})

test('no request names an encoding', async () => {
  using sandbox = createSandbox()
  replaceFetch(sandbox)
  const redis = new RedisOfSdk({ url: sandbox.urls.store, token: sandbox.tokens.store })
  await redis.set('k', 'v')
  expect(sandbox.traffic.ofType('request')[0]?.headers).not.toHaveProperty('upstash-encoding')
})

// Each file has hooks of its own, which a suite keeps apart.
describe('acceptance/misuse', () => import('./acceptance/misuse.test.js') as never)
describe('acceptance/ratelimit', () => import('./acceptance/ratelimit.test.js') as never)
describe('acceptance/scripts', () => import('./acceptance/scripts.test.js') as never)
describe('acceptance/store-http', () => import('./acceptance/store-http.test.js') as never)
describe('acceptance/uncommon-inputs', () => import('./acceptance/uncommon-inputs.test.js') as never)
describe('lock', () => import('./lock.test.js') as never)
describe('ratelimit', () => import('./ratelimit.test.js') as never)
describe('store/pubsub', () => import('./store/pubsub.test.js') as never)
describe('store/pubsub-transports', () => import('./store/pubsub-transports.test.js') as never)
describe('store/vectors', () => import('./store/vectors.test.js') as never)
describe('orders/orders', () => import('../../examples/orders/orders.test.js') as never)
describe('saga/trip', () => import('../../examples/saga/trip.test.js') as never)
describe('guides/redis', () => import('../../examples/guides/redis.test.js') as never)
describe('guides/rate-limits', () => import('../../examples/guides/rate-limits.test.js') as never)
describe('usage-page/usage-page', () => import('../../examples/usage-page/usage-page.test.js') as never)
