import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { programBundle } from '../../../../test/support/bundle.js'

// The program in its own folder, in which campaigns import the package by its name, as after `npm install`.

const root = new URL('../../../..', import.meta.url).pathname
export const place: string = mkdtempSync(join(tmpdir(), 'stuntdouble-campaigns-'))
const program: string = join(place, 'dist/cli.js')

beforeAll(async () => {
  mkdirSync(join(place, 'node_modules/.bin'), { recursive: true })
  for (const name of [
    'fast-check',
    'tinypool',
    'pure-rand',
    'citty',
    'valibot',
    'yaml',
    'rou3',
    'croner',
    'eventsource-parser',
    '@noble',
    '@valibot',
    '@upstash',
    '@orama',
    'jose',
    'neverthrow',
    'crypto-js',
    'uncrypto',
  ])
    symlinkSync(join(root, 'node_modules', name), join(place, 'node_modules', name))
  copyFileSync(join(root, 'package.json'), join(place, 'package.json'))
  const entryPoints = {
    cli: join(root, 'packages/server/src/programs/cli.ts'),
    'campaign-worker': join(root, 'packages/explore/src/workers/worker.ts'),
    checks: join(root, 'packages/explore/src/checks.ts'),
    'fast-check': join(root, 'packages/explore/src/fast-check.ts'),
    scenarios: join(root, 'packages/explore/src/scenarios.ts'),
  }
  await build({ ...programBundle, splitting: true, entryPoints, outdir: join(place, 'dist') })
  chmodSync(program, 0o755)
  symlinkSync('../../../../test', join(place, 'node_modules/stuntdouble'))
  symlinkSync('../../dist/cli.js', join(place, 'node_modules/.bin/stuntdouble'))
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Writes a file in the folder. */
export function written(name: string, text: string): string {
  writeFileSync(join(place, name), text)
  return name
}

export const read = (name: string): string => readFileSync(join(place, name), 'utf8')

export function started(...args: string[]): {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when the output matches. */
  printed(wanted: RegExp): Promise<void>
} {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, 'campaign', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: place,
    env: { ...process.env, NO_COLOR: '1' },
  })
  running.push(child)
  let [out, err] = ['', '']
  let heard = (): void => {}
  child.stdout.on('data', (chunk) => {
    out += chunk
    heard()
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
    heard()
  })
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })))
  const printed = (wanted: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      heard = () => {
        if (wanted.test(out + err)) resolve()
      }
      heard()
      void ended.then(() => reject(new Error(`ended before ${wanted}: ${out}${err}`)))
    })
  return { child, ended, printed }
}

export const explore = (...args: string[]): Promise<Ended> => started(...args).ended
