import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import config from '../../vitest.config.js'

// The name of a test file states when it runs. See docs/contributing/development.md.

interface Project {
  readonly test: { readonly name: string; readonly include: readonly string[]; readonly exclude?: readonly string[] }
}

const root = new URL('../..', import.meta.url).pathname
const projects = config.test?.projects as unknown as readonly Project[]
/** Files of Vitest, Jest and Playwright. Only Vitest has files with their own process and nightly files. */
const named = [
  /^(?:(?:test|examples)\/.*|packages\/[\w-]+\/test(?:\/.*)?)\/[\w-]+(?:\.alone)?(?:\.full|\.nightly)?\.test\.ts$/,
  /^test\/jest\/[\w-]+\.test\.cjs$/,
  /^test\/playwright\/[\w-]+(?:\.full)?\.spec\.ts$/,
  /^test\/site\/[\w-]+\.full\.spec\.ts$/,
]
const isNamed = (file: string): boolean => named.some((pattern) => pattern.test(file))
const files = globSync(
  ['test/**/*.{test,spec}.{ts,cjs}', 'packages/*/test/**/*.test.ts', 'examples/**/*.{test,spec}.ts'],
  {
    cwd: root,
    // These are separate projects that tests install and run.
    exclude: [
      '**/node_modules/**',
      'test/fixtures/{cases,inspected}/**',
      'test/versions/**',
      'examples/recipes/emulate/**',
    ],
  },
)

function projectsOf(file: string): string[] {
  const matches = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesGlob(file, pattern))
  return projects
    .filter(({ test }) => matches(test.include) && !matches(test.exclude ?? []))
    .map(({ test }) => test.name)
}

describe('a test file', () => {
  test('has a name with its tier, and whether it needs its own process', () => {
    expect(files.filter((file) => !isNamed(file))).toEqual([])
  })

  test('belongs to exactly one project of Vitest', () => {
    const units = files.filter((file) => file.endsWith('.test.ts'))
    expect(units.map((file) => [file, projectsOf(file).length]).filter(([, count]) => count !== 1)).toEqual([])
  })

  test.each([
    ['test/store/hash.test.ts', 'quick'],
    ['test/store/hash.alone.test.ts', 'quick-alone'],
    ['test/store/hash.full.test.ts', 'full'],
    ['test/store/hash.alone.full.test.ts', 'full-alone'],
    ['test/store/hash.nightly.test.ts', 'nightly'],
    ['test/store/hash.alone.nightly.test.ts', 'nightly-alone'],
    ['test/package/entries.test.ts', 'package-quick'],
    ['test/package/entries.full.test.ts', 'package-full'],
    ['test/twin/hash.test.ts', 'twin-quick'],
    ['test/twin/hash.full.test.ts', 'twin-full'],
  ])('called %s is in the project %s', (file, project) => {
    expect(projectsOf(file)).toEqual([project])
  })

  test.each([
    'test/store/hash.ful.test.ts',
    'test/store/hash.full.alone.test.ts',
    'test/store/hash.test.cjs',
    'test/site/reading.spec.ts',
    'test/package/entries.nightly.test.ts',
    'test/twin/hash.alone.test.ts',
  ])('must not be called %s', (file) => {
    expect(isNamed(file) && projectsOf(file).length !== 0).toBe(false)
  })
})

test.each(projects.map(({ test }) => test.name))('the project %s has files', (project) => {
  expect(files.filter((file) => projectsOf(file).includes(project))).not.toEqual([])
})
