import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { entries, moduleEntries, specifierOf } from '../support/entries.js'
import { typeErrors } from './walk.js'

// The types of each entry in a project that has no other peers than the entry needs, with `skipLibCheck: false`.

const root = new URL('../..', import.meta.url).pathname
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object }
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Packages whose types an entry may use. Every other entry needs none. */
const peers: Readonly<Record<string, readonly string[]>> = {
  msw: ['msw'],
  'msw/fast': ['msw'],
  nock: ['nock'],
  'fast-check': ['fast-check'],
  // Part of Jest and of @types/jest.
  jest: ['expect'],
  'jest/extend': ['expect'],
  'playwright/extend': ['@playwright/test'],
  playwright: ['@playwright/test'],
  'playwright/reporter': ['@playwright/test'],
  vitest: ['vitest'],
  'vitest/extend': ['vitest'],
  'vitest/reporter': ['vitest'],
  'msw-data': ['@msw/data'],
}

/** Creates a project with the packed package, its dependencies, the types of Node.js and some peers. */
function projectWith(packages: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-types-'))
  folders.push(folder)
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'stuntdouble'), { recursive: true })
  execFileSync('tar', ['-xzf', inject('tarball'), '--strip-components=1', '-C', join(modules, 'stuntdouble')])
  for (const name of ['@types/node', ...Object.keys(dependencies), ...packages]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(folder, 'package.json'), '{}')
  return folder
}

/** Writes a file that uses the types of an entry. */
function fileFor(folder: string, entry: string, ending: 'ts' | 'mts' | 'cts'): string {
  const file = `${entry.replace('/', '-')}.${ending}`
  const use = `import * as entry from '${specifierOf(entry)}'\n\nexport const names: string[] = Object.keys(entry)\n`
  writeFileSync(join(folder, file), use)
  return file
}

const lib = ['--ignoreConfig', '--lib', 'es2023,esnext.disposable,dom,dom.asynciterable', '--types', 'node']
const nodenext = [...lib, '--module', 'nodenext']
/** The usual setup of ts-jest. TypeScript 6 calls it `node10`, and TypeScript 7 has it no more. */
const node10 = [
  ...lib,
  '--module',
  'commonjs',
  '--moduleResolution',
  'node',
  '--esModuleInterop',
  '--ignoreDeprecations',
  '6.0',
]

// Vitest 4 has other types than the newest one, and test/package/vitest.full.test.ts checks them.
const { 'vitest4/extend': _, ...checked } = moduleEntries
const groups = new Map<string, string[]>()
for (const entry of Object.keys({ ...entries, ...checked })) {
  const packages = (peers[entry] ?? []).join()
  groups.set(packages, [...(groups.get(packages) ?? []), entry])
}

test.each([...groups])(
  'with the peers "%s" only, type-checks %j',
  async (packages, group) => {
    const folder = projectWith(packages.split(',').filter((name) => name !== ''))
    const files = group.flatMap((entry) => [
      fileFor(folder, entry, 'mts'),
      ...(entry in entries ? [fileFor(folder, entry, 'cts')] : []),
    ])
    expect(await typeErrors(folder, files, nodenext)).toBe('')
  },
  120_000,
)

test('finds the types of each entry with moduleResolution: node', async () => {
  const folder = projectWith([...new Set(Object.values(peers).flat())])
  const files = Object.keys({ ...entries, ...checked }).map((entry) => fileFor(folder, entry, 'ts'))
  const errors = (await typeErrors(folder, files, node10, 'typescript')).split(/\n(?! )/)
  // `msw/experimental` and `@msw/data` have no types with this option, so the declarations that import them cannot be
  // checked. The files that import our entries are.
  const unchecked = /^node_modules\/stuntdouble\/dist\/(?:msw\/fast\.d\.cts|msw-data\.d\.ts)\(/
  expect(errors.filter((message) => message !== '' && !unchecked.test(message))).toEqual([])
}, 300_000)

test('a missing peer and a missing entry are type errors', async () => {
  const folder = projectWith([])
  const missing = await typeErrors(
    folder,
    [fileFor(folder, 'nock', 'mts'), fileFor(folder, 'fast-check', 'mts')],
    nodenext,
  )
  expect(missing).toMatch(/fast-check\.d\.ts.*TS2307/)
  expect(await typeErrors(folder, [fileFor(folder, 'none', 'ts')], node10, 'typescript')).toMatch(/TS2307/)
}, 300_000)
