import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findRedisServer } from '../../../../test/support/redis-server.ts'
import { RespClient } from '../../../../test/support/resp.ts'
import { childOf } from './children.ts'

/** Real Redis servers of a test on free ports: masters of one Redis Cluster, or a single server. */
export interface Engines {
  /** Value of `--cluster`. */
  readonly url: string
  readonly ports: readonly number[]
  /** Kills a server with SIGKILL. */
  kill(index: number): Promise<void>
  /** Starts a server again with the same files. Resolves when it accepts commands. */
  restart(index: number): Promise<void>
  close(): Promise<void>
}

export interface EnginesOptions {
  readonly program?: { readonly path: string; readonly env: Record<string, string> } | undefined
  readonly masters?: number
  /** Further arguments of the command line. */
  readonly more?: readonly string[]
  /** Whether every write is persisted, as a cluster requires. Default `true`. */
  readonly isKept?: boolean
}

/** Returns the path of valkey-server, if it is installed. */
export function findValkeyServer(): { readonly path: string; readonly env: Record<string, string> } | undefined {
  const path = (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, 'valkey-server'))
    .find((candidate) => existsSync(candidate))
  return path === undefined ? undefined : { path, env: {} }
}

export const slots = 16_384

export async function startEngines({
  program = findRedisServer(),
  masters = 3,
  more = [],
  isKept = true,
}: EnginesOptions = {}): Promise<Engines> {
  if (program === undefined)
    throw new Error(
      'there is no redis-server on this machine: `node test/support/obtain-redis-server.ts` obtains one from Debian',
    )
  const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-engines-'))
  const ports = await freePorts(masters * 2)
  const children: ChildProcess[] = []
  const start = async (index: number, isOld = true): Promise<void> => {
    const port = ports[index]!
    const dir = join(folder, String(port))
    mkdirSync(dir, { recursive: true })
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--loglevel', 'warning']
    if (isKept) args.push('--appendonly', 'yes', '--appendfsync', 'always')
    if (masters > 1) {
      args.push(
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        String(ports[masters + index]),
        '--cluster-node-timeout',
        '2000',
      )
      args.push('--cluster-require-full-coverage', 'no')
    }
    const child = childOf(program.path, [...args, ...more], {
      env: { ...process.env, ...program.env },
      stdio: 'ignore',
    })
    children[index] = child
    await answering(port, child, isOld)
  }
  for (let index = 0; index < masters; index++) await start(index, false)
  if (masters > 1) await met(ports.slice(0, masters), ports.slice(masters))
  const kill = async (index: number): Promise<void> => {
    const child = children[index]!
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: ports
      .slice(0, masters)
      .map((port) => `redis://127.0.0.1:${port}`)
      .join(','),
    ports: ports.slice(0, masters),
    kill,
    restart: start,
    close: async () => {
      await Promise.all(children.map((_, index) => kill(index)))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function met(ports: readonly number[], buses: readonly number[]): Promise<void> {
  const clients = await Promise.all(ports.map((port) => RespClient.connect(port)))
  const share = Math.ceil(slots / ports.length)
  for (const [index, client] of clients.entries()) {
    const last = Math.min((index + 1) * share, slots) - 1
    await client.send(['CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last)])
    await client.send(['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)])
  }
  for (const client of clients.slice(1))
    await client.send(['CLUSTER', 'MEET', '127.0.0.1', String(ports[0]), String(buses[0])])
  for (const client of clients) {
    const knows = new RegExp(`cluster_state:ok[^]*cluster_slots_ok:${slots}[^]*cluster_known_nodes:${ports.length}`)
    while (!knows.test(JSON.stringify(await client.send(['CLUSTER', 'INFO'])))) await wait(50)
    client.close()
  }
}

/** Waits until a server replies, because it may have to read its files first. */
async function answering(port: number, child: ChildProcess, isOld: boolean): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the engine ended with ${child.exitCode}`)
    try {
      const client = await RespClient.connect(port)
      const told = JSON.stringify(await client.send(['GET', 'x']))
      client.close()
      // A new server of a Cluster reports that it is down until it has met the others.
      if (!told.includes('LOADING') && !(isOld && told.includes('CLUSTERDOWN'))) return
    } catch {}
    await wait(25)
  }
}

/**
 * Returns free ports below the range of outgoing connections. It holds all of them at the same time, so that they
 * differ.
 */
async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    probes.map(
      (probe) =>
        new Promise<number>((resolve, reject) => {
          probe.once('error', reject)
          probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port))
        }),
    ),
  )
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))))
  return ports
}
