import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
export const place = mkdtempSync(join(tmpdir(), 'stuntdouble-cli-'))
export const program = join(place, 'cli.mjs')

// The program as it will run, without waiting for a whole build.
beforeAll(async () => {
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  symlinkSync(join(root, 'scenarios'), join(place, 'scenarios'))
  copyFileSync(join(root, 'package.json'), join(place, 'package.json'))
  const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'silent' } as const
  await build({ ...options, entryPoints: [join(root, 'src/server/programs/cli.ts')], outfile: program })
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

export function started(...args: string[]) {
  return startedWith('ignore', ...args)
}

export function startedWith(input: 'ignore' | 'pipe', ...args: string[]) {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: [input, 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  running.push(child)
  let out = ''
  let err = ''
  let heard = (): void => {}
  child.stdout!.on('data', (chunk) => {
    out += chunk
    heard()
  })
  child.stderr!.on('data', (chunk) => {
    err += chunk
  })
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })))
  /** What was printed up to the line `ready`. */
  const ready = new Promise<string>((resolve, reject) => {
    heard = () => {
      if (/^ready$/m.test(out)) resolve(out)
    }
    void ended.then(() => reject(new Error(`ended before it was ready: ${err}`)))
  })
  ready.catch(() => undefined)
  /** Resolves once what was printed fits. */
  const printed = (wanted: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!wanted.test(out + err)) return
        child.stdout!.off('data', look)
        child.stderr!.off('data', look)
        resolve(out)
      }
      child.stdout!.on('data', look)
      child.stderr!.on('data', look)
      look()
      void ended.then(({ code }) => reject(new Error(`ended with ${code} before ${wanted}: ${out}${err}`)))
    })
  return { child, ended, ready, printed }
}

export const run = (...args: string[]): Promise<Ended> => started(...args).ended
