import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'

// Checks of the packed package in `npm test`. Types, publint, attw and the pages are in the other files.

const consumer = inject('consumer')
const own = join(consumer, 'node_modules/stuntdouble')
type Target = { readonly import?: { readonly default: string }; readonly default?: string; readonly require?: object }
const { bin, exports } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
  bin: Record<string, string>
  exports: Record<string, Target | string>
}
const entries = Object.entries(exports).flatMap(([path, target]) =>
  typeof target === 'string' ? [] : [{ name: path.replace(/^\./, 'stuntdouble'), target }],
)
/** Entries that register hooks and matchers on import, which works only in their runner. */
const needsRunner = /^stuntdouble\/(?:vitest|vitest4|jest|playwright)(?:\/extend)?$/

function run(format: 'module' | 'commonjs', program: string): unknown {
  const args = [`--input-type=${format}`, '--no-warnings', '-e', program]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: consumer, encoding: 'utf8' }))
}

test('imports every entry, with the same names in both formats', () => {
  const names = entries.filter(({ name }) => !needsRunner.test(name)).map(({ name }) => name)
  const both = entries.filter(({ name, target }) => names.includes(name) && target.require).map(({ name }) => name)
  expect(both.length).toBeGreaterThan(10)
  const keys = 'Object.keys(entry).filter((key) => key !== "module.exports").sort()'
  const imported = run(
    'module',
    `const found = {}
    for (const name of ${JSON.stringify(names)}) { const entry = await import(name); found[name] = ${keys} }
    console.log(JSON.stringify(found))`,
  ) as Record<string, string[]>
  const required = run(
    'commonjs',
    `const found = {}
    for (const name of ${JSON.stringify(both)}) { const entry = require(name); found[name] = ${keys} }
    console.log(JSON.stringify(found))`,
  )
  expect(Object.entries(imported).filter(([, exported]) => exported.length === 0)).toEqual([])
  expect(required).toEqual(Object.fromEntries(both.map((name) => [name, imported[name]])))
})

test.each(['module', 'commonjs'] as const)('gives a class one identity across entries, as %s', (format) => {
  const load = (name: string): string =>
    format === 'module' ? `await import('stuntdouble${name}')` : `require('stuntdouble${name}')`
  const program = `(async () => {
    const core = ${load('')}
    const server = await (${load('/server')}).startServer({ port: 0 })
    const sandbox = server.tenant('main')
    const own = core.createSandbox()
    const parts = [[sandbox, own], [sandbox.clock, own.clock]]
    console.log(JSON.stringify(parts.map(([one, other]) => one.constructor === other.constructor)))
    await server.close()
  })()`
  expect(run(format, program)).toEqual([true, true])
})

test('writes the entries that only a runner can import', () => {
  const files = readdirSync(join(own, 'dist'), { recursive: true, encoding: 'utf8' })
  const targets = entries.map(({ target }) => (target.import?.default ?? target.default ?? '').replace('./dist/', ''))
  expect(targets.filter((file) => !files.includes(file))).toEqual([])
})

test('starts the command line', () => {
  const program = join(own, bin.stuntdouble!)
  expect(execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' })).toContain('serve')
})
