// Cost of importing an entry in a test file, over msw/node. Each import is a separate process.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Figure, Variant } from '../harness.ts'

const run = promisify(execFile)
const folder = new URL('../suite/', import.meta.url).pathname
const programs = new URL('../../node_modules/', import.meta.url).pathname
const file = join(tmpdir(), `stuntdouble-import-${process.pid}`)
let spent = 0

/** Time of the import inside the child process, without the start of the process. */
function importing(name: string): Variant {
  const program = `const start = process.cpuUsage(); await import('${name}'); const { user, system } = process.cpuUsage(start); process.stdout.write(String(user + system)); process.exit(0)`
  return {
    name,
    async run() {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
      spent = Number(stdout)
    },
  }
}

function imports(): Figure {
  return {
    name: 'import over msw/node',
    baseline: importing('msw/node'),
    variants: ['stuntdouble', 'stuntdouble/fetch', 'stuntdouble/msw', 'stuntdouble/server'].map(importing),
    atMost: { stuntdouble: 0.65, 'stuntdouble/msw': 1.3, 'stuntdouble/server': 0.9 },
    rounds: 21,
    times: 1,
    reading: () => spent,
  }
}

/** Time of the import inside a test file, where the runner itself is loaded. */
function inTestFile(name: string, argv: readonly string[], env: Record<string, string>): Variant {
  return {
    name,
    async run() {
      await run(process.execPath, argv, { cwd: folder, env: { ...process.env, ...env, SPENT: file } })
      spent = Number(readFileSync(file, 'utf8'))
    },
  }
}

const inVitest = (name: string): Variant =>
  inTestFile(name, [join(programs, 'vitest/vitest.mjs'), 'run', 'import.case.ts'], { IMPORTED: name })

function importsInVitest(): Figure {
  return {
    name: 'import in a test file of Vitest over msw/node, without the runner',
    baseline: inVitest('msw/node'),
    variants: ['stuntdouble', 'stuntdouble/vitest'].map(inVitest),
    atMost: { 'stuntdouble/vitest': 0.75 },
    rounds: 9,
    times: 1,
    reading: () => spent,
  }
}

function inJest(name: string, format: 'module' | 'commonjs'): Variant {
  // Without the option, Jest cannot load msw.
  const argv = ['--experimental-vm-modules', join(programs, 'jest/bin/jest.js'), 'import.case.cjs']
  return inTestFile(`${name} as ${format}`, argv, { IMPORTED: name, FORMAT: format })
}

function importsInJest(): Figure {
  return {
    name: 'import in a test file of Jest over msw/node, without the runner',
    baseline: inJest('msw/node', 'module'),
    variants: [
      inJest('stuntdouble', 'commonjs'),
      inJest('stuntdouble/jest', 'commonjs'),
      inJest('stuntdouble', 'module'),
      inJest('stuntdouble/jest', 'module'),
    ],
    atMost: { 'stuntdouble/jest as commonjs': 0.75, 'stuntdouble/jest as module': 0.75 },
    rounds: 9,
    times: 1,
    reading: () => spent,
  }
}

export const figures = [imports, importsInVitest, importsInJest]
