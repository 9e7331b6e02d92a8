import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'

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
  'jest.config.cjs': `module.exports = { testMatch: ['**/*.jest.cjs'], transform: {} }`,
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

const run = (consumer: string, script: string, ...args: string[]) => {
  const place = placeIn(consumer)
  const { stdout, stderr } = spawnSync(process.execPath, [join(consumer, 'node_modules', script), ...args], {
    cwd: place,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
  })
  return stdout + stderr
}

/** Returns location and error of each test in an index. */
const rowsOf = (index: string): string[][] =>
  [...index.matchAll(/<small>(.*?)<\/small><br><code>(.*?)<\/code>/g)].map(([, ...texts]) =>
    texts.map((text) => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))),
  )

describe.each([
  { vitest: 'the newest Vitest', consumer: newest },
  { vitest: 'Vitest 4', consumer: oldest['vitest-4'] },
])('$vitest', ({ consumer }) => {
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
})

test('Vitest 3.2 prints the timeline, and its reporter names the version that writes pages', () => {
  const place = placeIn(oldest['vitest-3'])
  const printed = run(oldest['vitest-3'], 'vitest/vitest.mjs', 'run', '--root', place)
  expect(printed).toMatch(/#\d+ .*SET stock 3/)
  expect(printed).toMatch(/Tests {2}4 failed \| 1 passed/)
  expect(printed).toMatch(/stuntdouble\/vitest\/reporter needs Vitest 4\.0\.11/)
  expect(readdirSync(place)).not.toContain('stuntdouble-report')
})

test.each([
  { playwright: 'the newest Playwright', consumer: newest },
  { playwright: 'Playwright 1.50', consumer: oldest['playwright-1.50'] },
])('$playwright prints the timeline, and its reporter writes the pages', ({ consumer }) => {
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
  // The output contains the path of the page, not its first lines.
  expect(printed).toMatch(/stuntdouble-trace-[\w-]+\.html/)
  expect(printed).not.toContain('<!doctype html>')
})

test.each([
  { jest: 'the newest Jest', consumer: newest },
  { jest: 'Jest 29', consumer: oldest['jest-29'] },
])('$jest prints the timeline, and fails a test with a pending message', ({ consumer }) => {
  const printed = run(consumer, 'jest/bin/jest.js', '--config', 'jest.config.cjs')
  expect(printed).toContain('Tests:       2 failed, 1 passed, 3 total')
  expect(printed).toMatch(/Replay: STUNTDOUBLE_SEED=1 npx [\s\S]*#\d+ .*SET stock 3/)
  expect(printed).toContain('No destination responds at https://nobody.test/')
  // The text is indented like Jest's own messages, including blank lines.
  const stories = [...printed.matchAll(/^( *)Replay: .*\n(.*)\n( *)\d{4}-\d\d-\d\d\n( *)#\d/gm)]
  expect(stories.map(([, ...texts]) => texts)).toEqual(Array(2).fill(['    ', '', '    ', '      ']))
})
