import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { onTestFinished } from 'vitest'
import { programBundle } from '../../../test/support/bundle.js'

const root = new URL('../../..', import.meta.url).pathname
/** Folder for the program and for files of tests, deleted when the process ends. */
export const place = mkdtempSync(join(tmpdir(), 'stuntdouble-cli-'))
export const program = join(place, 'cli.mjs')
process.once('exit', () => rmSync(place, { recursive: true, force: true }))

// Builds the program as users run it, without a whole build. It is built when the first file of a process imports this
// one, because test files share a process and hooks of an imported file run only for the first of them.
symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
mkdirSync(join(place, 'dist'))
symlinkSync(join(root, 'packages/server/scenarios'), join(place, 'dist/scenarios'))
copyFileSync(join(root, 'package.json'), join(place, 'package.json'))
await build({
  ...programBundle,
  entryPoints: [join(root, 'packages/server/src/programs/cli.ts')],
  outfile: program,
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
  onTestFinished(() => void child.kill('SIGKILL'))
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
  /** Output up to the line `ready`. */
  const ready = new Promise<string>((resolve, reject) => {
    heard = () => {
      if (/^ready$/m.test(out)) resolve(out)
    }
    void ended.then(() => reject(new Error(`ended before it was ready: ${err}`)))
  })
  ready.catch(() => undefined)
  /** Resolves when the output matches. */
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
