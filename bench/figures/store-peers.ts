// Cost of a command inside the store, over the same in its peers: ioredis-mock and a real server. Cost of a command
// through ioredis to a store in this process, over the same to js-redis-server.
import { Redis } from 'ioredis'
import RedisMock from 'ioredis-mock'
import { clientPeers } from '../client-peers.ts'
import { each, type Figure, type Variant } from '../harness.ts'
import { startRedis } from '../redis-server.ts'
import { type Argv, keysOf, loneStore, words } from '../store.ts'

/** Few and small, because ioredis-mock copies values, so its cost grows with them. */
const keys = keysOf(1000)

const commands: readonly ((key: string) => Argv)[] = [
  (key) => words('GET', key),
  (key) => words('SET', key, 'value'),
  (key) => words('INCR', key),
  (key) => words('HSET', key, 'field', 'value'),
  (key) => words('LPUSH', key, 'value'),
]

type Call = readonly [name: string, ...words: string[]]

interface Peer {
  readonly name: string
  /** Sends the calls of a batch concurrently, which is the fastest way for the peers. */
  send(batch: readonly Call[]): Promise<unknown>
  /** Returns the microseconds of processor time outside this process so far. */
  computed(): Promise<number>
  close(): void
}

let spent = 0

/** Counts the processor time of this process and of the peer's process. */
async function counted(work: () => void | Promise<void>, computed: Peer['computed']): Promise<void> {
  const outside = await computed()
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  spent = user + system + (await computed()) - outside
}

/** Sends the calls a hundred at a time. */
function sending(peer: Peer, calls: readonly Call[]): Variant {
  const setUp = calls[0]![0] === 'get' ? calls.map(([, key]): Call => ['set', key!, '1']) : calls
  return {
    name: peer.name,
    // Each round begins with the state after one round over the keys. Otherwise lists would grow during all rounds.
    async run(times) {
      await peer.send([['flushall']])
      await peer.send(setUp)
      await counted(async () => {
        for (let left = times, at = 0; left > 0; left -= 100, at = (at + 100) % calls.length) {
          await peer.send(calls.slice(at, at + Math.min(left, 100)))
        }
      }, peer.computed)
    },
  }
}

const callsOf = (rows: readonly Argv[]): Call[] => rows.map(([name, ...rest]): Call => [name!.toLowerCase(), ...rest])

function figure(peer: Peer, name: string, rows: readonly Argv[], goal: number): Figure {
  const command = rows[0]![0]!
  const store = loneStore()
  const ours = each(command, rows, (row) => store.execute(row))
  const setUp: readonly Argv[] = command === ('GET' as unknown) ? keys.map((key) => words('SET', key, 'value')) : rows
  return {
    name: `${command} over ${name}`,
    baseline: sending(peer, callsOf(rows)),
    variants: [
      {
        name: command,
        run(times) {
          store.execute(words('FLUSHALL'))
          for (const row of setUp) store.execute(row)
          return counted(() => ours.run(times), nothing)
        },
      },
    ],
    reading: () => spent,
    atMost: { [command]: 1 / goal },
    rounds: 9,
    dispose: () => peer.close(),
  }
}

const nothing = async (): Promise<number> => 0

function ioredisMock(keyPrefix: string): Peer {
  const mock = new (RedisMock as unknown as typeof Redis)({ keyPrefix })
  const methods = mock as unknown as Record<string, (...words: readonly string[]) => Promise<unknown>>
  return {
    name: 'ioredis-mock',
    send: (batch) => Promise.all(batch.map(([name, ...rest]) => methods[name]!(...rest))),
    computed: nothing,
    close: () => mock.disconnect(),
  }
}

async function redisServer(): Promise<Peer | undefined> {
  const server = await startRedis()
  if (server === undefined) return undefined
  const redis = new Redis(server.port)
  return {
    name: 'redis-server',
    send: (batch) => redis.pipeline(batch as unknown as string[][]).exec(),
    async computed() {
      const info = await redis.info('cpu')
      const seconds = (mode: string): number => Number(new RegExp(`used_cpu_${mode}:([\\d.]+)`).exec(info)![1])
      return (seconds('sys') + seconds('user')) * 1e6
    },
    close() {
      redis.disconnect()
      server.stop()
    },
  }
}

const overMock = commands.map((row) => (): Figure => {
  const rows = keys.map(row)
  return figure(ioredisMock(`${rows[0]![0]}:`), 'ioredis-mock, a hundred calls at a time', rows, 8)
})

const overRedis = commands.map((row) => async (): Promise<Figure | undefined> => {
  const peer = await redisServer()
  return peer && figure(peer, 'redis-server through ioredis, pipelines of a hundred, both processes', keys.map(row), 15)
})

const overClients = commands.map((row) => async (): Promise<Figure> => {
  const rows = keys.map(row)
  const command = rows[0]![0]!
  const { ours, theirs } = await clientPeers()
  const peerOf = (name: string, client: Redis): Peer => {
    const methods = client as unknown as Record<string, (...words: readonly string[]) => Promise<unknown>>
    const send = (batch: readonly Call[]) => Promise.all(batch.map(([name, ...rest]) => methods[name]!(...rest)))
    return { name, send, computed: nothing, close: () => client.disconnect() }
  }
  const [own, other] = [peerOf('ioredisConnector()', ours), peerOf('js-redis-server', theirs)]
  return {
    name: `${command} through ioredis over js-redis-server, a hundred calls at a time`,
    baseline: sending(other, callsOf(rows)),
    variants: [sending(own, callsOf(rows))],
    reading: () => spent,
    atMost: { [own.name]: 1 },
    rounds: 9,
    dispose() {
      own.close()
      other.close()
    },
  }
})

export const figures = [...overMock, ...overClients, ...overRedis]
