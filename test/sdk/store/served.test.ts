import { Redis } from '@upstash/redis'
import { afterEach, beforeEach, describe, it } from 'vitest'
import { type StuntdoubleServer, startServer } from '../../../packages/server/src/server.js'
import { examples, setups } from './examples.js'

// The same examples against `stuntdouble serve --clock manual`: sockets, HTTP, a path prefix, and the root without one.

let server: StuntdoubleServer
beforeEach(async () => {
  server = await startServer({ port: 0, clock: 'manual' })
})
afterEach(() => server.close())

describe.each(['/main/store', ''])('at the path "%s"', (path) => {
  describe.each(setups)('pipelining $enableAutoPipelining, encoding $responseEncoding', (setup) => {
    it.each(Object.entries(examples))('returns the documented results of %s', async (_, example) => {
      const { clock, env } = server.tenant('main')
      const url = server.origin + path
      const redis = new Redis({ url, token: env.UPSTASH_REDIS_REST_TOKEN!, retry: false, ...setup })
      await example({ redis, advance: (ms) => clock.advance(ms), now: () => clock.now() })
    })
  })
})
