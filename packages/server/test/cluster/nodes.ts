import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { programBundle } from '../../../../test/support/bundle.js'
import { childOf } from './children.ts'

const root = new URL('../../../..', import.meta.url).pathname

export const base = 'http://cluster.test:4010'
export const clusterSecret = 'a secret of all nodes of the tests'

/** The program as users run it, without a whole build. */
export interface Program {
  readonly path: string
  remove(): void
}

export async function builtProgram(): Promise<Program> {
  const place = mkdtempSync(join(tmpdir(), 'stuntdouble-nodes-'))
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  copyFileSync(join(root, 'package.json'), join(place, 'package.json'))
  const path = join(place, 'cli.mjs')
  await build({ ...programBundle, entryPoints: [join(root, 'packages/server/src/programs/cli.ts')], outfile: path })
  return { path, remove: () => rmSync(place, { recursive: true, force: true }) }
}

/** A node in its own process. */
export interface NodeProcess {
  readonly child: ChildProcess
  /** URL that it listens on: http://127.0.0.1:PORT */
  readonly origin: string
  readonly id: string
  /** Returns its output so far, of both streams. */
  output(): string
  /** Ends it with a signal. Returns its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

export interface NodeOptions {
  readonly program: Program
  readonly engine: string
  readonly words?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a node. Resolves when it is ready. */
export async function startNode({ program, engine, words = [], env = {} }: NodeOptions): Promise<NodeProcess> {
  const args = ['serve', '--port', '0', '--cluster', engine, '--cluster-public-url', base, ...words]
  const child = childOf(process.execPath, [program.path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', STUNTDOUBLE_CLUSTER_SECRET: clusterSecret, ...env },
  })
  let printed = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        printed += chunk
        if (/^ready$/m.test(printed)) resolve()
      })
    }
    void ended.then((code) => reject(new Error(`the node ended with ${code} before it was ready: ${printed}`)))
  })
  await ready
  const [, id = '', origin = ''] = /^cluster {2}node (\w+) at (\S+)$/m.exec(printed) ?? []
  return {
    child,
    origin,
    id,
    output: () => printed,
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}

/** Starts a node that cannot start. Returns its exit code and its output. */
export function refusedNode({
  program,
  engine,
  words = [],
  env = {},
}: NodeOptions): Promise<{ code: number | null; said: string }> {
  const args = [program.path, 'serve', '--port', '0', '--cluster', engine, ...words]
  const given = { ...process.env, NO_COLOR: '1', STUNTDOUBLE_CLUSTER_SECRET: clusterSecret, ...env }
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env: given })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    child.once('close', (code) => resolve({ code, said }))
  })
}
