// Cost of the scripts of a rate limiter, over the same scripts in ioredis-mock, and through ioredis in js-redis-server.
import type { Redis } from 'ioredis'
import RedisMock from 'ioredis-mock'
import { clientPeers } from '../client-peers.ts'
import { each, type Figure } from '../harness.ts'
import { rateLimitScripts } from '../rate-limit-scripts.ts'
import { loneStore, words } from '../store.ts'

interface Mock {
  eval(source: string, count: number, ...words: readonly string[]): Promise<unknown>
  hset(key: string, ...pairs: readonly (string | number)[]): Promise<unknown>
  disconnect(): void
}

/** Lua of the peers does not support the first line, which declares how a script locks its keys. */
const withoutFirstLine = (source: string): string => source.replace(/^#![^\n]*/, '')

const overMock = rateLimitScripts().map(({ name, source, keys, args }) => (): Figure => {
  const mock = new (RedisMock as unknown as new (options: object) => Mock)({ keyPrefix: `${name}:` })
  const body = withoutFirstLine(source)
  const store = loneStore()
  return {
    name: `EVAL of ${name} over ioredis-mock`,
    baseline: {
      name: 'ioredis-mock',
      async run(times) {
        // Its scripts do not convert a missing field to false, which the token bucket tests for.
        if (name === 'token bucket') await mock.hset(keys[0]!, 'refilledAt', 1_700_000_000_000, 'tokens', 1000)
        for (let count = 0; count < times; count++) await mock.eval(body, keys.length, ...keys, ...args)
      },
    },
    variants: [each('EVAL', [words('EVAL', source, keys.length, ...keys, ...args)], (row) => store.execute(row))],
    atMost: { EVAL: 1 / 100 },
    dispose: () => mock.disconnect(),
  }
})

const overClients = rateLimitScripts().map(({ name, source, keys, args }) => async (): Promise<Figure> => {
  const { ours, theirs } = await clientPeers()
  const body = withoutFirstLine(source)
  const running = (name: string, client: Redis) => ({
    name,
    async run(times: number) {
      for (let count = 0; count < times; count++) await client.eval(body, keys.length, ...keys, ...args)
    },
  })
  return {
    name: `EVAL of ${name} through ioredis over js-redis-server`,
    baseline: running('js-redis-server', theirs),
    variants: [running('ioredisConnector()', ours)],
    atMost: { 'ioredisConnector()': 1 },
    dispose() {
      ours.disconnect()
      theirs.disconnect()
    },
  }
})

export const figures = [...overMock, ...overClients]
