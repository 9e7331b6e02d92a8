import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { typeErrors } from './walk.js'

const newest = inject('consumer')

interface Report {
  readonly numPassedTests: number
  readonly testResults: {
    readonly assertionResults: { readonly title: string; readonly status: string; readonly failureMessages: string[] }[]
  }[]
}

const withFixture = `
import { expect, test } from 'stuntdouble/vitest'
import { createSandbox } from 'stuntdouble'

test('fixture', async ({ sandbox }) => {
  expect(sandbox).toBeInstanceOf(createSandbox().constructor)
  sandbox.store.run('SET', 'k', 'v', 'EX', 60)
  expect(sandbox.store).toHaveKey('k', { ttl: '1m' })
  await sandbox.clock.advance('1m')
  expect(sandbox.store).not.toHaveKey('k')
  expect.soft(sandbox.store, 'gone').not.toHaveKey('k')
  await expect(Promise.resolve(sandbox.store)).resolves.not.toHaveKey('k')
  await expect.poll(() => sandbox.store).not.toHaveKey('k')
  expect([{ a: 'b' }]).toEqual([{ a: expect.stringContaining('b') }])
  expect(1).not.toBe(2)
})

const later = test.override('sandboxOptions', { startAt: '2031-05-05T05:05:05Z' })

later('overridden', ({ sandbox }) => {
  expect(sandbox.clock.now()).toBe(Date.UTC(2031, 4, 5, 5, 5, 5))
})

// Says nothing where it is not run: that the words are typed, and no others.
export function typed() {
  // @ts-expect-error
  expect(1).toHaveKye('k')
  // @ts-expect-error
  expect(1).toHaveKey(1n)
}
`
const withExtend = (entry: string) => `
import '${entry}'
import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

test('extend', () => {
  using sandbox = createSandbox()
  sandbox.store.run('SET', 'k', 'v')
  expect(sandbox.store).toHaveKey('k', { value: 'v' })
})
`

/** The first example of the README, as a reader pastes it. */
function firstExample(): string {
  const readme = readFileSync(join(newest, 'node_modules/stuntdouble/README.md'), 'utf8')
  const code = /^```ts\n(.*?)^```$/ms.exec(readme)?.[1]
  if (code === undefined) throw new Error('The README has no example.')
  return code
}

test('the first example of the README is at most 12 lines', () => {
  expect(firstExample().trimEnd().split('\n').length).toBeLessThanOrEqual(12)
})

describe.each([
  { vitest: 'the newest Vitest', consumer: newest, entry: 'stuntdouble/vitest/extend' },
  { vitest: 'Vitest 4', consumer: inject('consumers')['vitest-4'], entry: 'stuntdouble/vitest4/extend' },
  { vitest: 'Vitest 3.2', consumer: inject('consumers')['vitest-3'], entry: 'stuntdouble/vitest4/extend' },
])('$vitest, from the packed package', ({ consumer, entry }) => {
  const place = join(consumer, 'vitest-tests')

  test('runs the fixtures of the entries and the first example of the README', () => {
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'fixture.test.ts'), withFixture)
    writeFileSync(join(place, 'extend.test.ts'), withExtend(entry))
    writeFileSync(join(place, 'readme.test.ts'), firstExample())
    const report = join(place, 'report.json')
    const runner = join(consumer, 'node_modules/vitest/vitest.mjs')
    const args = [runner, 'run', '--root', place, '--reporter=json', `--outputFile=${report}`]
    spawnSync(process.execPath, args, { cwd: place, encoding: 'utf8' })
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
    const results = testResults.flatMap(({ assertionResults }) => assertionResults)
    expect(results.map(({ title, status, failureMessages }) => [title, status, failureMessages]).sort()).toEqual([
      ['extend', 'passed', []],
      ['fixture', 'passed', []],
      ['overridden', 'passed', []],
      [expect.stringContaining('an order'), 'passed', []],
    ])
  })

  test.each([
    ['our expect, without an addition to the global one', ['fixture.test.ts', 'readme.test.ts']],
    ['the global expect beside it', ['fixture.test.ts', 'extend.test.ts']],
  ])('has the types of %s', async (_, files) => {
    expect(await typeErrors(place, files)).toBe('')
  })
})
