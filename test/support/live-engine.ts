import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.js'
import { findRedisServer } from './redis-server.ts'
import { RespClient, type RespReply } from './resp.js'

/** Message of skipped tests. */
export const noEngine =
  'there is no redis-server on this machine: `node test/support/obtain-redis-server.ts` obtains one from Debian'
export const hasEngine: boolean = findRedisServer() !== undefined

/** A redis-server of one test, with its own directory and port. */
export interface LiveEngine extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Creates a client that does not belong to the sandbox. */
  readonly client: RespClient
  /** Its process, which a test can stop, continue or kill. */
  readonly child: ChildProcess
  /** Returns all stored data, including the marker of a sandbox. */
  keys(): Promise<readonly string[]>
  /** Ends it and starts an empty one on the same port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startEngine(...more: readonly string[]): Promise<LiveEngine> {
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'stuntdouble-engine-'))
  let { child, client } = await started(port, directory, more)
  const stop = async (): Promise<void> => {
    await ended(child, client)
    rmSync(directory, { recursive: true, force: true })
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get client() {
      return client
    },
    get child() {
      return child
    },
    keys: async () => textsIn(await client.send(['KEYS', '*'])),
    async restart() {
      await ended(child, client)
      ;({ child, client } = await started(port, directory, more))
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Starts three masters with equal numbers of hash slots. */
export async function startCluster(): Promise<{ readonly nodes: readonly LiveEngine[] } & AsyncDisposable> {
  const nodes: LiveEngine[] = []
  const stop = async (): Promise<void> => void (await Promise.all(nodes.map((node) => node.stop())))
  try {
    const buses: number[] = []
    for (let number = 0; number < 3; number++) {
      const bus = await freePort()
      buses.push(bus)
      nodes.push(await startEngine('--cluster-enabled', 'yes', '--cluster-port', String(bus)))
    }
    const bounds = [0, 5461, 10923, 16384]
    for (const [at, { client }] of nodes.entries()) {
      await client.send(['CLUSTER', 'ADDSLOTSRANGE', String(bounds[at]), String(bounds[at + 1]! - 1)])
      await client.send(['CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1)])
    }
    for (const [at, { port }] of nodes.entries()) {
      if (at > 0) await nodes[0]!.client.send(['CLUSTER', 'MEET', '127.0.0.1', String(port), String(buses[at])])
    }
    for (const { client } of nodes) await until(async () => isWhole(await client.send(['CLUSTER', 'INFO'])))
    for (const { client } of nodes) {
      await until(async () => {
        const slots = await client.send(['CLUSTER', 'SLOTS'])
        return 'array' in slots && slots.array.length === 3
      })
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, [Symbol.asyncDispose]: stop }
}

function isWhole(info: RespReply): boolean {
  return 'bulk' in info && info.bulk.includes('cluster_state:ok')
}

/** Waits for an effect of a real program. */
export async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt++) {
    if (await done()) return
    await wait(25)
  }
  throw new Error('it did not come')
}

function textsIn(reply: RespReply): string[] {
  return 'array' in reply ? reply.array.map((item) => ('bulk' in item ? item.bulk : '')).sort() : []
}

async function started(
  port: number,
  directory: string,
  more: readonly string[],
): Promise<{ child: ChildProcess; client: RespClient }> {
  const server = findRedisServer()
  if (server === undefined) throw new Error(noEngine)
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory]
  const child = spawn(server.path, [...args, ...more], { env: { ...process.env, ...server.env }, stdio: 'ignore' })
  for (let attempt = 0; attempt < 400 && child.exitCode === null; attempt++) {
    try {
      return { child, client: await RespClient.connect(port) }
    } catch {
      await wait(25)
    }
  }
  throw new Error('redis-server did not start')
}

async function ended(child: ChildProcess, client: RespClient): Promise<void> {
  client.close()
  if (child.exitCode !== null || child.signalCode !== null) return
  const over = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await over
}
