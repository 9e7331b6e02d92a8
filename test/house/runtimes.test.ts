import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { comparableTrace, traceDifference } from '../runtimes/compare-traces.js'
import { folders } from '../runtimes/install-runtime.js'
import { readResults, versionsOf } from '../runtimes/results.js'
import { runtimes } from '../runtimes/runtimes.js'
import { suiteTests } from '../runtimes/suite/tests.js'
import { runtimesPage } from '../support/runtimes-page.js'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly dependencies?: Readonly<Record<string, string>> }>
  >
}

describe('the table of runtimes', () => {
  test('is generated from the results', () => {
    expect(read('docs/runtimes.md')).toBe(runtimesPage())
  })

  test.each(runtimes.map((runtime) => [runtime.name, runtime] as const))('is not stale for %s', (name, runtime) => {
    const result = readResults()[name]
    // If this fails, run `npm run docs -- runtimes`.
    expect(result?.versions).toEqual(versionsOf(runtime))
    const left = suiteTests(() => {}).filter(({ needs }) => needs !== undefined && runtime.lacks.includes(needs))
    expect(result?.skipped).toEqual(left.map(({ name }) => name))
    expect(result?.passed).toBe(40 - left.length)
  })

  test('has only runtimes that still exist', () => {
    expect(Object.keys(readResults())).toEqual(runtimes.map(({ name }) => name))
  })
})

describe.each(folders)('test/runtimes/%s', (folder) => {
  const text = read(`test/runtimes/${folder}/package-lock.json`)
  const { packages } = JSON.parse(text) as Lock

  test('is used', () => {
    expect(runtimes.map((runtime) => runtime.folder)).toContain(folder)
  })

  test('has a lock file without a registry', () => {
    expect(text).not.toMatch(/"resolved": "(?!file:stuntdouble\.tgz")/)
  })

  test('locks what package.json lists, and the dependencies of this package', () => {
    const own = JSON.parse(read(`test/runtimes/${folder}/package.json`)) as { dependencies: Record<string, string> }
    expect(packages['']!.dependencies).toEqual(own.dependencies)
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
    // If this fails, run `node test/runtimes/lock-runtimes.ts`.
    expect(packages['node_modules/stuntdouble']!.dependencies).toEqual(dependencies)
  })
})

describe('the comparison of traces', () => {
  const trace = (fields: object): string => JSON.stringify({ entries: [{ type: 'outbound', ...fields }] })

  test('ignores only the excluded parts', () => {
    const node = {
      headers: [
        ['Upstash-Telemetry-Runtime', 'node@v24.21.0'],
        ['accept', '*/*'],
      ],
      body: 'SyntaxError: Unexpected token',
    }
    const bun = {
      headers: [
        ['Upstash-Telemetry-Runtime', 'bun@1.4.5'],
        ['accept', '*/*'],
      ],
      body: 'SyntaxError: JSON Parse error',
      possibleCauses: [1, 2],
    }
    expect(traceDifference(trace(node), trace(bun))).toBe(undefined)
    expect(comparableTrace(trace(bun))).not.toContain('bun')
  })

  test('reports the first difference, with its surroundings', () => {
    const difference = traceDifference(trace({ body: `${'a'.repeat(500)}1` }), trace({ body: `${'a'.repeat(500)}2` }))
    expect(difference).toMatch(/^line 5 has "a{60}2.* instead of "a{60}1/)
    expect(difference!.length).toBeLessThan(300)
    expect(traceDifference(trace({ a: 1 }), trace({ a: 1, b: 2 }))).toContain('line 5')
  })
})
