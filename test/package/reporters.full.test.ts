import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { effort } from '../support/effort.js'

// Checks the output of real runners for failing tests, in the consumer's project.
const newest = inject('consumer')
const oldest = inject('consumers')

const body = (kind: string) => `
test('a ${kind} <b>test</b> fails', async ({ sandbox }) => {
  sandbox.store.run('SET', 'stock', 3)
  sandbox.queue.publish({ to: 'https://shop.test/orders', body: '</script><b>"hostile"</b>', delay: '1h' })
  expect(1 + 1).toBe(3)
})
test('another one holds', ({ sandbox }) => {
  sandbox.store.run('SET', 'k', 'v')
})
test('a message is left over', ({ sandbox }) => {
  sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1h' })
})
`

const files: Readonly<Record<string, string>> = {
  'fixture.test.ts': `import { expect, test } from 'stuntdouble/vitest'\n${body('vitest')}`,
  'setup.test.ts': `import { expect, test } from 'vitest'
import { useSandbox } from 'stuntdouble/vitest'
const sandbox = useSandbox()
test('with a setup file', () => {
  sandbox.store.run('SET', 'stock', 3)
  expect('a').toBe('b')
})
test('a message is left over, too', () => {
  sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1h' })
})
`,
  'vitest.config.ts': `export default { test: { include: ['*.test.ts'], fileParallelism: false, reporters: ['default', 'stuntdouble/vitest/reporter'] } }`,
  'playwright.config.ts': `export default { testMatch: '*.spec.ts', reporter: [['line'], ['stuntdouble/playwright/reporter', { outputDir: 'pw-report' }]] }`,
  'story.spec.ts': `import { expect, test } from 'stuntdouble/playwright'
test('a playwright test fails', async ({ request, sandbox }) => {
  const { urls, tokens } = sandbox
  await request.post(urls.store, { data: ['SET', 'stock', '3'], headers: { authorization: \`Bearer \${tokens.store}\` } })
  expect(1 + 1).toBe(3)
})
test('a message is left over', ({ sandbox }) => {
  sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1h' })
})
`,
  'jest.config.cjs': `module.exports = { testMatch: ['**/*.jest.cjs'], transform: {}, reporters: ['default', 'stuntdouble/jest/reporter'] }`,
  'story.jest.cjs': `const { useSandbox } = require('stuntdouble/jest')
const sandbox = useSandbox()
test('a jest test fails', () => {
  sandbox.store.run('SET', 'stock', 3)
  expect(1 + 1).toBe(3)
})
test('a jest test that leaves something undone', async () => {
  sandbox.queue.publish({ to: 'https://nobody.test/', retries: 0 })
  await sandbox.clock.drain()
})
test('the next one holds', () => {
  expect(sandbox.store.get('stock')).toBeNull()
})
`,
  // Tests with equal names, retried tests, and a file that cannot be loaded.
  'names.jest.cjs': `const { useSandbox } = require('stuntdouble/jest')
const sandbox = useSandbox()
jest.retryTimes(1)
let attempts = 0
test('same', () => {
  sandbox.store.run('SET', 'first', ++attempts)
  expect(1).toBe(2)
})
test('same', () => {
  sandbox.store.run('SET', 'second', 1)
  expect(1).toBe(2)
})
let tries = 0
test('passes in the end', () => {
  sandbox.store.run('SET', 'third', 1)
  expect(++tries).toBe(2)
})
`,
  'broken.jest.cjs': `require('./missing.cjs')`,
}

beforeAll(() => {
  for (const consumer of [newest, ...Object.values(oldest)]) {
    const place = placeIn(consumer)
    rmSync(place, { recursive: true, force: true })
    mkdirSync(place, { recursive: true })
    for (const [name, content] of Object.entries(files)) writeFileSync(join(place, name), content)
  }
})

const placeIn = (consumer: string): string => join(consumer, 'story-tests')

/** File of the step's summary. */
const stepOf = (consumer: string): string => join(placeIn(consumer), 'step.md')

/** Returns the failed tests of the summary as text: above and below the beginning of their timeline. */
const failedIn = (consumer: string): { readonly above: string; readonly below: string }[] =>
  readFileSync(stepOf(consumer), 'utf8')
    .split('<h3>')
    .slice(1)
    .map((block) => {
      const [above = '', below = ''] = block.split('<details>').map(plain)
      return { above, below }
    })

const plain = (html: string): string =>
  html.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

/** Returns the annotations of a run: location and first line. */
const annotations = (printed: string): string[] =>
  [...printed.matchAll(/^::error (?:file=([^,:]*))?(?:,line=(\d+))?.*?::(.*?)(?:%0A.*)?$/gm)].map(
    ([, file, line, text]) => `${file}:${line ?? ''} ${text}`,
  )

const run = (consumer: string, script: string, ...args: string[]) => {
  const place = placeIn(consumer)
  rmSync(stepOf(consumer), { force: true })
  const { stdout, stderr } = spawnSync(process.execPath, [join(consumer, 'node_modules', script), ...args], {
    cwd: place,
    encoding: 'utf8',
    env: {
      ...process.env,
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: consumer,
      GITHUB_STEP_SUMMARY: stepOf(consumer),
    },
  })
  return stdout + stderr
}

/** Returns location and error of each test in an index. */
const rowsOf = (index: string): string[][] =>
  [...index.matchAll(/<small>(.*?)<\/small><br><code>(.*?)<\/code>/g)].map(([, ...texts]) =>
    texts.map((text) => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))),
  )

/** Returns the runners of this run. Only nightly runs try their old versions. */
function usual<T extends { readonly consumer: string }>(runners: readonly T[]): readonly T[] {
  return runners.filter(({ consumer }) => consumer === newest || effort === 'nightly')
}

describe.each(
  usual([
    { vitest: 'the newest Vitest', consumer: newest },
    { vitest: 'Vitest 4', consumer: oldest['vitest-4'] },
  ]),
)('$vitest', ({ consumer }) => {
  const place = placeIn(consumer)
  const page = (...path: string[]): string => readFileSync(join(place, ...path), 'utf8')
  let printed: string
  beforeAll(() => {
    printed = run(consumer, 'vitest/vitest.mjs', 'run', '--root', place)
  })

  test('prints the timeline below a failure of another matcher', () => {
    expect(printed).toContain('Replay: STUNTDOUBLE_SEED=1 npx ')
    expect(printed).toMatch(/#\d+ .*SET stock 3/)
    expect(printed).toMatch(/Tests {2}4 failed \| 1 passed/)
  })

  test('writes a page for each failed test and an index', () => {
    expect(printed).toContain(join('stuntdouble-report', 'index.html'))
    const names = readdirSync(join(place, 'stuntdouble-report')).sort()
    expect(names).toEqual([
      ...['1-a-vitest-b-test-b-fails.html', '2-a-message-is-left-over.html'],
      ...['3-with-a-setup-file.html', '4-a-message-is-left-over-too.html'],
      'index.html',
    ])
    const index = page('stuntdouble-report', 'index.html')
    expect(index).toContain('4 failed tests')
    expect(index).toContain('a vitest &#60;b&#62;test&#60;/b&#62; fails')
    expect(index).not.toContain('<b>test')
    expect(index).not.toContain(place)
    expect(rowsOf(index)).toEqual([
      ['fixture.test.ts:6', 'expected 2 to be 3 // Object.is equality'],
      ['fixture.test.ts', expect.stringContaining('still pending')],
      ['setup.test.ts:6', "expected 'a' to be 'b' // Object.is equality"],
      ['setup.test.ts', expect.stringContaining('still pending')],
    ])
    expect(page('stuntdouble-report', '1-a-vitest-b-test-b-fails.html')).not.toContain('</script><b>')
    expect(page('stuntdouble-report', '3-with-a-setup-file.html')).toContain('stock')
  })

  test('summarizes the failed tests in GitHub Actions', () => {
    const failed = failedIn(consumer)
    expect(failed).toHaveLength(4)
    expect(failed[0]!.above).toMatch(/^1\. a vitest <b>test<\/b> fails\s+expected 2 to be 3/)
    expect(failed[0]!.below).toMatch(
      /SET stock 3[\s\S]*Test: fixture\.test\.ts:6\nReplay: STUNTDOUBLE_SEED=1 npx vitest run \S*fixture\.test\.ts -t [^\n]*\nTrace: stuntdouble-report\/1-a-vitest-b-test-b-fails\.html/,
    )
    expect(failed[1]!.above).toMatch(/Cause: A message is still pending/)
    expect(failed[2]!.above).toMatch(/Cause: Only the test itself used [^\n]*\s+expected 'a' to be 'b'/)
    expect(readFileSync(stepOf(consumer), 'utf8')).not.toMatch(/<b>test|<\/script>/)
    expect(annotations(printed)).toEqual([
      expect.stringMatching(/^story-tests\/fixture\.test\.ts:6 expected 2 to be 3/),
      expect.stringMatching(/^story-tests\/fixture\.test\.ts: A message is still pending/),
      expect.stringMatching(/^story-tests\/setup\.test\.ts:6 Only the test itself/),
      expect.stringMatching(/^story-tests\/setup\.test\.ts: A message is still pending/),
    ])
  })

  test("leaves annotations to Vitest's own reporter", () => {
    const reporters = ['--reporter=github-actions', '--reporter=stuntdouble/vitest/reporter']
    const both = run(consumer, 'vitest/vitest.mjs', 'run', '--root', place, ...reporters, 'setup')
    expect(failedIn(consumer)).toHaveLength(2)
    expect(annotations(both).filter((one) => one.includes('Only the test itself'))).toEqual([])
    expect(both).toMatch(/^::error file=/m)
  })
})

test('Vitest 3.2 prints the timeline, and its reporter names the version that writes pages', () => {
  const place = placeIn(oldest['vitest-3'])
  const printed = run(oldest['vitest-3'], 'vitest/vitest.mjs', 'run', '--root', place)
  expect(printed).toMatch(/#\d+ .*SET stock 3/)
  expect(printed).toMatch(/Tests {2}4 failed \| 1 passed/)
  expect(printed).toMatch(/stuntdouble\/vitest\/reporter needs Vitest 4\.0\.11/)
  expect(readdirSync(place)).not.toContain('stuntdouble-report')
  // Without a trace, the summary is derived from the messages.
  const failed = failedIn(oldest['vitest-3'])
  expect(failed).toHaveLength(4)
  expect(failed[2]!.above).toMatch(/expected 'a' to be 'b'[^\n]*\nOnly the test itself used/)
  expect(failed[0]!.below).toMatch(/SET stock 3/)
})

test.each(
  usual([
    { playwright: 'the newest Playwright', consumer: newest },
    { playwright: 'Playwright 1.50', consumer: oldest['playwright-1.50'] },
  ]),
)('$playwright prints the timeline, and its reporter writes the pages', ({ consumer }) => {
  const place = placeIn(consumer)
  const printed = run(consumer, '@playwright/test/cli.js', 'test')
  expect(printed).toContain('Replay: STUNTDOUBLE_SEED=1 npx ')
  expect(printed).toMatch(/#\d+ .*SET stock 3/)
  expect(printed).toContain(join('pw-report', 'index.html'))
  expect(readdirSync(join(place, 'pw-report')).sort()).toEqual([
    '1-a-playwright-test-fails.html',
    '2-a-message-is-left-over.html',
    'index.html',
  ])
  expect(rowsOf(readFileSync(join(place, 'pw-report', 'index.html'), 'utf8'))).toEqual([
    ['story.spec.ts:5', 'Error: expect(received).toBe(expected) // Object.is equality'],
    ['story.spec.ts:7', expect.stringContaining('still pending')],
  ])
  const failed = failedIn(consumer)
  expect(failed).toHaveLength(2)
  expect(failed[0]!.above).not.toContain('\u001b')
  expect(failed[0]!.below).toMatch(/SET stock 3[\s\S]*Test: story\.spec\.ts:5\n[\s\S]*Trace: pw-report\/1-/)
  expect(failed[1]!.above).toMatch(/Cause: A message is still pending/)
  expect(annotations(printed)).toEqual([
    expect.stringMatching(/^story-tests\/story\.spec\.ts:5 /),
    expect.stringMatching(/^story-tests\/story\.spec\.ts:7 A message is still pending/),
  ])
  // The output contains the path of the page, not its first lines.
  expect(printed).toMatch(/stuntdouble-trace-[\w-]+\.html/)
  expect(printed).not.toContain('<!doctype html>')
})

test.each(
  usual([
    { jest: 'the newest Jest', consumer: newest },
    { jest: 'Jest 29', consumer: oldest['jest-29'] },
  ]),
)('$jest prints the timeline, and fails a test with a pending message', ({ consumer }) => {
  const printed = run(consumer, 'jest/bin/jest.js', '--config', 'jest.config.cjs', 'story.jest')
  expect(printed).toContain('Tests:       2 failed, 1 passed, 3 total')
  expect(printed).toMatch(/Replay: STUNTDOUBLE_SEED=1 npx [\s\S]*#\d+ .*SET stock 3/)
  expect(printed).toContain('No destination responds at https://nobody.test/')
  // The text is indented like Jest's own messages, including blank lines.
  const stories = [...printed.matchAll(/^( *)Replay: .*\n(.*)\n( *)\d{4}-\d\d-\d\d\n( *)#\d/gm)]
  expect(stories.map(([, ...texts]) => texts)).toEqual(Array(2).fill(['    ', '', '    ', '      ']))
})

describe.each(
  usual([
    { jest: 'the newest Jest', consumer: newest },
    { jest: 'Jest 29', consumer: oldest['jest-29'] },
  ]),
)('the reporter of $jest', ({ consumer }) => {
  const place = placeIn(consumer)
  const jest = (...args: string[]): string => run(consumer, 'jest/bin/jest.js', '--config', 'jest.config.cjs', ...args)

  test.each([
    { where: 'in workers', args: ['--maxWorkers=2', 'story.jest', 'broken.jest'] },
    { where: 'in one process', args: ['--runInBand', 'story.jest', 'broken.jest'] },
  ])('writes pages and the summary $where', ({ args }) => {
    const printed = jest(...args)
    expect(printed).toContain(`Reports of failed tests: ${join(place, 'stuntdouble-report', 'index.html')}`)
    expect(readdirSync(join(place, 'stuntdouble-report')).sort()).toEqual([
      '1-a-jest-test-fails.html',
      '2-a-jest-test-that-leaves-something-undone.html',
      'index.html',
    ])
    expect(rowsOf(readFileSync(join(place, 'stuntdouble-report', 'index.html'), 'utf8'))).toEqual([
      ['story.jest.cjs:5', expect.stringContaining('expect(received).toBe(expected)')],
      // The error has no frame in the test file, but names the line that published the message.
      ['story.jest.cjs:8', expect.stringContaining('No destination responds at https://nobody.test/')],
    ])
    const failed = failedIn(consumer)
    const titled = (title: string) => failed.find(({ above }) => above.includes(title))!
    expect(failed).toHaveLength(3)
    const { above, below } = titled('a jest test fails')
    expect(above).toMatch(
      /Cause: Only the test itself used [^\n]*\s+expect\(received\)\.toBe\(expected\)[\s\S]*Received: 2/,
    )
    expect(below).toMatch(
      /SET stock 3[\s\S]*Test: story\.jest\.cjs:5\nReplay: STUNTDOUBLE_SEED=1 npx jest [^\n]*\nTrace: stuntdouble-report\/1-/,
    )
    expect(titled('leaves something undone').above).toMatch(
      /Cause: No destination responds at https:\/\/nobody\.test\//,
    )
    expect(titled('broken.jest.cjs').above).toContain("Cannot find module './missing.cjs'")
    expect(annotations(printed).toSorted()).toEqual([
      expect.stringMatching(/^story-tests\/broken\.jest\.cjs: /),
      expect.stringMatching(/^story-tests\/story\.jest\.cjs:5 Only the test itself/),
      expect.stringMatching(/^story-tests\/story\.jest\.cjs:8 No destination responds/),
    ])
  })

  test('finds the trace of the last attempt, also of tests with equal names', () => {
    jest('names.jest')
    const failed = failedIn(consumer)
    const timelines = failed.map(({ below }) => below.match(/SET \w+ \d/g))
    // Jest 29 does not report when a test started, so tests with equal names and messages have one trace.
    const second = consumer === newest ? ['SET second 1'] : expect.anything()
    const first = consumer === newest ? ['SET first 2'] : expect.anything()
    expect(timelines).toEqual([first, second])
  })

  test("leaves annotations to Jest's own reporter", () => {
    const printed = jest(
      'story.jest',
      '--reporters=default',
      '--reporters=github-actions',
      '--reporters=stuntdouble/jest/reporter',
    )
    expect(failedIn(consumer)).toHaveLength(2)
    expect(printed).toMatch(/^::error file=/m)
    expect(annotations(printed).filter((one) => /^story-tests/.test(one))).toEqual([])
  })
})

test('without a failed test, no reporter writes a summary', () => {
  const printed = run(newest, 'vitest/vitest.mjs', 'run', '--root', placeIn(newest), '-t', 'another one holds')
  expect(printed).toMatch(/Tests {2}1 passed/)
  expect(existsSync(stepOf(newest))).toBe(false)
})
