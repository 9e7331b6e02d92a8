import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'

const consumer = inject('consumer')

interface Report {
  readonly numPassedTests: number
  readonly testResults: {
    readonly assertionResults: { readonly title: string; readonly status: string; readonly failureMessages: string[] }[]
  }[]
}

const withFixture = `
import { expect, test } from 'stuntdouble/vitest'
import { Sandbox } from 'stuntdouble'

test('fixture', async ({ sandbox }) => {
  expect(sandbox).toBeInstanceOf(Sandbox)
  sandbox.store.run('SET', 'k', 'v', 'EX', 60)
  expect(sandbox.store).toHaveKey('k', { ttl: '1m' })
  await sandbox.clock.advance('1m')
  expect(sandbox.store).not.toHaveKey('k')
})
`
const withExtend = `
import 'stuntdouble/vitest/extend'
import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

test('extend', () => {
  using sandbox = createSandbox()
  sandbox.store.run('SET', 'k', 'v')
  expect(sandbox.store).toHaveKey('k', { value: 'v' })
})
`

/** The first example of the README, as a reader would paste it. */
function firstExample(): string {
  const readme = readFileSync(join(consumer, 'node_modules/stuntdouble/README.md'), 'utf8')
  const code = /^```ts\n(.*?)^```$/ms.exec(readme)?.[1]
  if (code === undefined) throw new Error('The README has no example.')
  return code
}

test('the first example of the README is at most 12 lines', () => {
  expect(firstExample().trimEnd().split('\n').length).toBeLessThanOrEqual(12)
})

test('the entries for vitest and the first example of the README work from the packed package, types included', () => {
  const place = join(consumer, 'vitest-tests')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'fixture.test.ts'), withFixture)
  writeFileSync(join(place, 'extend.test.ts'), withExtend)
  writeFileSync(join(place, 'readme.test.ts'), firstExample())
  const report = join(place, 'report.json')
  const run = (script: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(consumer, 'node_modules', script), ...args], { cwd: place, encoding: 'utf8' })
  run('vitest/vitest.mjs', 'run', '--root', place, '--reporter=json', `--outputFile=${report}`)
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  expect(results.map(({ title, status, failureMessages }) => [title, status, failureMessages]).sort()).toEqual([
    [expect.stringContaining('an order'), 'passed', []],
    ['extend', 'passed', []],
    ['fixture', 'passed', []],
  ])
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--lib',
    'es2023,esnext.disposable,dom',
    '--types',
    'node',
  ]
  expect(run('typescript/bin/tsc', ...options, 'fixture.test.ts', 'extend.test.ts', 'readme.test.ts').stdout).toBe('')
})
