import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { onTestFinished } from 'vitest'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'

export const shop = 'https://shop.test/orders'

/** Opens a sandbox as a user of the vendor's SDKs sets it up: with its environment variables and its global fetch. */
export function open(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ seed: 7, ...options })
  replaceFetch(sandbox)
  onTestFinished(() => sandbox.dispose())
  const { env } = sandbox
  const client = new Client({ baseUrl: env.QSTASH_URL!, token: env.QSTASH_TOKEN!, retry: false })
  const receiver = new Receiver({
    currentSigningKey: env.QSTASH_CURRENT_SIGNING_KEY!,
    nextSigningKey: env.QSTASH_NEXT_SIGNING_KEY!,
  })
  const redis = new Redis({ url: env.UPSTASH_REDIS_REST_URL!, token: env.UPSTASH_REDIS_REST_TOKEN!, retry: false })
  return { sandbox, env, client, receiver, redis, clock: sandbox.clock, destinations: sandbox.destinations }
}
