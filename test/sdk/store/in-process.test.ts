import { Redis } from '@upstash/redis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import { examples, methods, setups } from './examples.js'

let sandbox: Sandbox
beforeEach(() => {
  sandbox = createSandbox()
  replaceFetch(sandbox)
})
afterEach(() => sandbox.dispose())

const called = new Set<string>()

/** Records which methods are called. */
function noted(redis: Redis): Redis {
  return new Proxy(redis, {
    get(target, name) {
      called.add(String(name))
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

describe.each(setups)('pipelining $enableAutoPipelining, encoding $responseEncoding', (setup) => {
  it.each(Object.entries(examples))('returns the documented results of %s', async (_, example) => {
    const { clock, env } = sandbox
    const url = env.UPSTASH_REDIS_REST_URL!
    const redis = new Redis({ url, token: env.UPSTASH_REDIS_REST_TOKEN!, retry: false, ...setup })
    await example({ redis: noted(redis), advance: (ms) => clock.advance(ms), now: () => clock.now() })
  })
})

it('examples call every method of their groups', () => {
  expect(methods.filter((method) => !called.has(method))).toEqual([])
})
