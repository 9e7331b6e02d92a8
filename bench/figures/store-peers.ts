// What a command costs inside the store, over the same in its peers: ioredis-mock and a real server.
import { Redis } from 'ioredis'
import RedisMock from 'ioredis-mock'
import type { Figure, Variant } from '../harness.ts'
import { startRedis } from '../redis-server.ts'
import { type Argv, executing, filled, keysOf, words } from '../store.ts'

/** Few and small: ioredis-mock copies values, so that its cost grows with them. */
const keys = keysOf(1000)

const commands: Readonly<Record<string, (key: string) => Argv>> = {
  GET: (key) => words('GET', key),
  SET: (key) => words('SET', key, 'value'),
  INCR: (key) => words('INCR', key),
  HSET: (key) => words('HSET', key, 'field', 'value'),
  LPUSH: (key) => words('LPUSH', key, 'value'),
}

/** A hundred calls are on their way together: what suits the peers best. */
function batches(name: string, rows: readonly Argv[], send: (batch: readonly Argv[]) => Promise<unknown>): Variant {
  let at = 0
  return {
    name,
    async run(times) {
      for (let left = times; left > 0; left -= 100) {
        await send(rows.slice(at, at + Math.min(left, 100)))
        at = (at + 100) % rows.length
      }
    },
  }
}

function figure(name: string, peer: Variant, rows: readonly Argv[], goal: number): Figure {
  const command = rows[0]![0]!
  return {
    name: `${command} over ${name}`,
    baseline: peer,
    variants: [executing(command, filled(rows), rows)],
    atMost: { [command]: 1 / goal },
    rounds: 9,
  }
}

/** Lists grow with every push; they begin anew with every round. */
const emptied = (variant: Variant, empty: () => Promise<unknown>): Variant => ({
  name: variant.name,
  async run(times) {
    await empty()
    await variant.run(times)
  },
})

const overMock = Object.values(commands).map((row) => async (): Promise<Figure> => {
  const rows = keys.map(row)
  const mock = new (RedisMock as unknown as typeof Redis)({ keyPrefix: `${rows[0]![0]}:` })
  if (rows[0]![0] === ('GET' as unknown)) for (const key of keys) await mock.set(key, 'value')
  const calls = new Map(rows.map((row) => [row, [row[0]!.toLowerCase(), row.slice(1)] as const]))
  const call = mock as unknown as Record<string, (...words: readonly string[]) => Promise<unknown>>
  const peer = batches('ioredis-mock', rows, (batch) =>
    Promise.all(
      batch.map((row) => {
        const [name, rest] = calls.get(row)!
        return call[name]!(...rest)
      }),
    ),
  )
  const isPush = rows[0]![0] === ('LPUSH' as unknown)
  return {
    ...figure('ioredis-mock, a hundred calls at a time', isPush ? emptied(peer, () => mock.flushall()) : peer, rows, 8),
    dispose: () => mock.disconnect(),
  }
})

/** Only what the client computes is counted: the server's own time would come on top. */
const overRedis = Object.values(commands).map((row) => async (): Promise<Figure | undefined> => {
  const server = await startRedis()
  if (server === undefined) return undefined
  const rows = keys.map(row)
  const redis = new Redis(server.port)
  if (rows[0]![0] === ('GET' as unknown)) for (const key of keys) await redis.set(key, 'value')
  const calls = new Map(rows.map((row) => [row, [row[0]!.toLowerCase(), ...row.slice(1)]]))
  const peer = batches('ioredis, redis-server', rows, (batch) =>
    redis.pipeline(batch.map((row) => calls.get(row)!)).exec(),
  )
  return {
    ...figure('redis-server, pipelines of a hundred', peer, rows, 15),
    dispose() {
      redis.disconnect()
      server.stop()
    },
  }
})

export const figures = [...overMock, ...overRedis]
