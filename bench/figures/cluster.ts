// Cost of the failover of tenants: a write and a read at a node of a cluster over the same at a single server, and
// three nodes over one. Each server is a separate process. The time is elapsed time, because most of it is spent in
// Redis.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { againIfClosed, type Figure, type Variant } from '../harness.ts'
import { type RedisServer, startRedis } from '../redis-server.ts'

const connections = 32
const tenants = 40
const token = 'a-store-token'
const program = new URL('../../dist/cli.js', import.meta.url).pathname

interface Server {
  readonly origin: string
  readonly child: ChildProcess
}

function startServer(...words: string[]): Promise<Server> {
  const args = [program, 'serve', '--port', '0', '--store-token', token, ...words]
  const env = { ...process.env, STUNTDOUBLE_CLUSTER_SECRET: 'a secret of the nodes' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
      if (/^ready$/m.test(printed)) resolve({ origin: /inspector {2}(http:\/\/[^/\s]+)/.exec(printed)![1]!, child })
    })
    child.once('exit', (code) => reject(new Error(`a server ended with ${code}: ${printed}`)))
  })
}

/** The server for a request: the next one in turn, or always the same one for a tenant. */
type Balance = 'in turn' | 'by tenant'

interface Asked {
  readonly words: readonly string[]
  /** Receives the elapsed time of a turn. */
  readonly passed: { micros: number }
}

function client(name: string, servers: readonly Server[], { words, passed }: Asked, balance: Balance): Variant {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const body = JSON.stringify(words)
  const headers = { authorization: `Bearer ${token}`, 'content-length': body.length }
  let turn = 0
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const tenant = turn++ % tenants
      // A tenant stays on the node of its first request, so each balance has its own tenants.
      const [index, path] = balance === 'in turn' ? [turn, `/w${tenant}/store`] : [tenant, `/s${tenant}/store`]
      const sent = request(
        servers[index % servers.length]!.origin + path,
        { agent, method: 'POST', headers },
        (response) => {
          response.on('data', () => {}).on('end', () => resolve())
          if (response.statusCode !== 200) reject(new Error(`${name}: ${response.statusCode}`))
        },
      )
      againIfClosed(sent, ask, resolve, reject)
      sent.end(body)
    })
  return {
    name,
    async run(times) {
      const start = performance.now()
      let left = times
      const one = async (): Promise<void> => {
        while (left-- > 0) await ask()
      }
      await Promise.all(Array.from({ length: connections }, one))
      passed.micros = (performance.now() - start) * 1000
    },
  }
}

async function compared(name: string, words: readonly string[]): Promise<Figure | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-bench-'))
  const places = [join(folder, 'one'), join(folder, 'three')]
  const engines: RedisServer[] = []
  for (const place of places) {
    mkdirSync(place)
    const engine = await startRedis(['--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--dir', place])
    if (engine === undefined) return undefined
    engines.push(engine)
  }
  const node = (index: number): Promise<Server> =>
    startServer('--cluster', `redis://127.0.0.1:${engines[index]!.port}`, '--cluster-public-url', 'http://cluster.test')
  const alone = await startServer()
  const one = await node(0)
  const three = [await node(1), await node(1), await node(1)]
  const passed = { micros: 0 }
  const asked = { words, passed }
  return {
    name,
    baseline: client('one node', [one], asked, 'in turn'),
    variants: [
      client('a server alone', [alone], asked, 'in turn'),
      client('three nodes in turn', three, asked, 'in turn'),
      client('three nodes by tenant', three, asked, 'by tenant'),
    ],
    reading: () => passed.micros,
    turn: 400,
    rounds: 9,
    dispose: () => {
      for (const { child } of [alone, one, ...three]) child.kill('SIGKILL')
      for (const engine of engines) engine.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const clusterWrite = (): Promise<Figure | undefined> =>
  compared('a write that is kept, time passed, 32 connections and 40 tenants', ['INCR', 'count'])
const clusterRead = (): Promise<Figure | undefined> =>
  compared('a read that is fenced, time passed, 32 connections and 40 tenants', ['GET', 'count'])

export const figures = [clusterWrite, clusterRead]
