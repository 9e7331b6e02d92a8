import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { stepsOf } from './walk.js'

// Uses the setup file of docs/runners/vitest.md unchanged in a separate project, with every way in which Vitest lets
// users write a test with it.

/** Passing tests: each gets a reset sandbox in addition to its own fixtures. */
const passing = `
import { expect, test } from 'vitest'
import { sandbox } from './sandbox.js'

const visit = () => sandbox.store.run('INCR', 'visits')

const extended = test.extend<{ shop: string; product: string }>({
  shop: 'https://shop.test',
  product: async ({ shop }, use) => {
    await use(shop + '/tea')
  },
})

test('plain', () => {
  expect(visit()).toBe(1)
})

test('context taken whole', (context) => {
  expect([context.task.name, visit()]).toEqual(['context taken whole', 1])
})

extended('extend, fixture used', async ({ product }) => {
  expect([product, visit()]).toEqual(['https://shop.test/tea', 1])
  sandbox.destinations.on(product, () => new Response('ok'))
  sandbox.queue.publish({ to: product })
  await sandbox.clock.drain()
  expect(sandbox.queue).toHaveDelivered({ to: product, attempts: 1 })
})

extended('extend, no fixture used', () => {
  expect(visit()).toBe(1)
})

extended.extend<{ basket: string[] }>({ basket: async ({ product }, use) => use([product]) })(
  'extend twice',
  ({ basket }) => {
    expect([basket.length, visit()]).toEqual([1, 1])
  },
)

test.each([1, 2])('each %i', () => {
  expect(visit()).toBe(1)
})

test.for([1, 2])('for %i', (_, { expect }) => {
  expect(visit()).toBe(1)
})

extended.for([1, 2])('for with fixtures %i', (_, { product }) => {
  expect([product.length, visit()]).toEqual([21, 1])
})

let attempts = 0
test('a second attempt begins anew', { retry: 1 }, () => {
  expect(visit()).toBe(1)
  expect(++attempts).toBe(2)
})

test('repeated', { repeats: 2 }, () => {
  expect(visit()).toBe(1)
})

test.skip('skipped', () => {})
test('skipped while it runs', ({ skip }) => skip())
test.todo('to do')

test('after all of them', () => {
  expect(visit()).toBe(1)
})
`

/** Passing tests: concurrent tests share the sandbox, which is not reset between them. */
const concurrent = `
import { describe, expect, test } from 'vitest'
import { sandbox } from './sandbox.js'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const extended = test.extend<{ shop: string }>({ shop: 'https://shop.test' })

describe.concurrent('side by side', () => {
  for (const [index, wait] of [30, 5, 20, 10, 1, 15, 2, 25].entries()) {
    extended('key ' + index, async ({ shop, expect }) => {
      sandbox.store.run('SET', 'key:' + index, shop)
      await pause(wait)
      expect(sandbox.store.run('GET', 'key:' + index)).toBe(shop)
    })
  }
  test('a message that the others have not ended', async ({ expect }) => {
    sandbox.destinations.on('https://shop.test/slow', () => new Response('ok'))
    sandbox.queue.publish({ to: 'https://shop.test/slow' })
    await pause(20)
    await sandbox.clock.drain()
    expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/slow' })
  })
})

test.concurrent.for(['a', 'b'])('concurrent for %s', async (name, { expect }) => {
  sandbox.store.run('SET', name, name)
  await pause(5)
  expect(sandbox.store.run('GET', name)).toBe(name)
})

test('alone afterwards', () => {
  expect(sandbox.store.run('DBSIZE')).toBe(0)
})
`

/** Passes: the package's own \`test\` next to the setup file. */
const own = `
import { createSandbox } from 'stuntdouble'
import { expect, it, test } from 'stuntdouble/vitest'
import { sandbox as shared } from './sandbox.js'

const extended = test.extend<{ visits: unknown }>({
  visits: async ({ sandbox }, use) => use(sandbox.store.run('INCR', 'visits')),
})

test('a world of its own', ({ sandbox }) => {
  expect(sandbox).not.toBe(shared)
  expect(sandbox.store.run('INCR', 'visits')).toBe(1)
  expect(shared.store.run('DBSIZE')).toBe(0)
})
it('without the fixture', () => {
  expect(shared.store.run('INCR', 'visits')).toBe(1)
})
extended('extended', ({ sandbox, visits }) => {
  expect([visits, sandbox.store.run('INCR', 'visits')]).toEqual([1, 2])
})
test.for([1, 2])('own for %i', (_, { sandbox }) => {
  expect(sandbox.store.run('INCR', 'visits')).toBe(1)
})
test.concurrent.for([1, 2, 3])('own concurrent %i', async (nth, { sandbox }) => {
  for (let count = 1; count <= nth; count++) {
    expect(sandbox.store.run('INCR', 'visits')).toBe(count)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
})
`

/** Passes: forms that came with Vitest 4. */
const later = `
import { expect, test } from 'stuntdouble/vitest'
import { afterEach, beforeEach, describe, test as plain } from 'vitest'
import { sandbox as shared } from './sandbox.js'

const visit = () => shared.store.run('INCR', 'visits')
const withShop = plain.extend<{ shop: string }>({ shop: 'https://shop.test' })

describe('hooks of the file that use fixtures', () => {
  withShop.beforeEach(({ shop }) => {
    shared.store.run('SET', 'shop', shop)
  })
  beforeEach(visit)
  withShop('are run in the world of the test', ({ shop }) => {
    expect([shared.store.run('GET', 'shop'), visit()]).toEqual([shop, 2])
  })
  afterEach(() => {
    expect(visit()).toBe(3)
  })
})

const extended = test.extend('visits', ({ sandbox }) => sandbox.store.run('INCR', 'visits'))
extended('extended by a name', ({ sandbox, visits }) => {
  expect([visits, sandbox.store.run('INCR', 'visits')]).toEqual([1, 2])
})
test.extend('one', 1)('beside the setup file', ({ one }) => {
  expect(shared.store.run('INCR', 'visits')).toBe(one)
})
`

/** Failing tests: each prints the timeline. */
const failing = `
import { afterEach, describe, expect, test } from 'vitest'
import { test as own } from 'stuntdouble/vitest'
import { sandbox } from './sandbox.js'

const extended = test.extend<{ shop: string }>({ shop: 'https://shop.test' })
const fail = (mark: string) => {
  sandbox.store.run('SET', 'mark', mark)
  expect(1 + 1).toBe(3)
}
test('plain fails', () => fail('m-plain'))
extended('extended fails', ({ shop }) => fail('m-extended ' + shop))
test.each([1])('each fails', () => fail('m-each'))
test.for([1])('for fails', () => fail('m-for'))
test('all attempts fail', { retry: 1 }, ({ task }) => fail('m-attempt-' + task.result!.retryCount))
test('a message is left over', () => {
  sandbox.queue.publish({ to: 'https://shop.test/m-left', delay: '1h' })
})
describe('a hook of the file', () => {
  afterEach(({ task }) => {
    if (task.name === 'throws') throw new Error('found by a hook')
    if (task.name === 'does not end') return new Promise(() => {})
  }, 50)
  for (const name of ['throws', 'does not end']) test(name, () => sandbox.store.run('SET', 'mark', 'm-hook-' + name.replaceAll(' ', '-')))
})
test('a message is left over after hooks that failed', () => {
  expect(sandbox.store.run('DBSIZE')).toBe(0)
  sandbox.queue.publish({ to: 'https://shop.test/m-left-later', delay: '1h' })
})
describe.concurrent('together', () => {
  const order = [1, 2, 3]
  for (const nth of [3, 1, 2]) {
    extended('concurrent fails ' + nth, async () => {
      while (order[0] !== nth) await new Promise((resolve) => setTimeout(resolve, 1))
      order.shift()
      fail('m-concurrent-' + nth)
    })
  }
})
own('own fails', ({ sandbox }) => {
  sandbox.store.run('SET', 'mark', 'm-own')
  expect(1 + 1).toBe(3)
})
own.concurrent.for([1, 2])('own concurrent fails %i', async (nth, { sandbox }) => {
  await new Promise((resolve) => setTimeout(resolve, 10 - nth))
  sandbox.store.run('SET', 'mark', 'm-own-' + nth)
  expect(1 + 1).toBe(3)
})
test('the last one holds', () => {
  expect(sandbox.store.run('DBSIZE')).toBe(0)
})
`

interface Result {
  readonly title: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

/** Versions of Vitest, newest first. */
const versions = [
  { vitest: 'the newest Vitest', consumer: inject('consumer'), files: { passing, concurrent, own, later, failing } },
  {
    vitest: 'Vitest 4',
    consumer: inject('consumers')['vitest-4'],
    files: { passing, concurrent, own, later, failing },
  },
  { vitest: 'Vitest 3.2', consumer: inject('consumers')['vitest-3'], files: { passing, concurrent, own, failing } },
]

describe.each(versions)('the documented setup file with $vitest', ({ consumer, files }) => {
  let results: Readonly<Record<string, readonly Result[]>>

  beforeAll(() => {
    const place = join(consumer, 'vitest-setup')
    mkdirSync(place, { recursive: true })
    const page = readFileSync(new URL('../../docs/runners/vitest.md', import.meta.url), 'utf8')
    for (const step of stepsOf(page)) {
      if (step.kind === 'file' && /^(?:sandbox|vitest\.config)\.ts$/.test(step.name))
        writeFileSync(join(place, step.name), step.text)
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place, `${name}.test.ts`), text)
    const report = join(place, 'report.json')
    const { stderr } = spawnSync(
      process.execPath,
      [
        join(consumer, 'node_modules/vitest/vitest.mjs'),
        'run',
        '--root',
        place,
        '--reporter=json',
        `--outputFile=${report}`,
      ],
      { cwd: place, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
    )
    expect(stderr).not.toContain('Unhandled')
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: { name: string; assertionResults: Result[] }[]
    }
    results = Object.fromEntries(
      testResults.map(({ name, assertionResults }) => [/(\w+)\.test\.ts$/.exec(name)![1]!, assertionResults]),
    )
  })

  test.for(
    (
      [
        ['passing', 14],
        ['concurrent', 12],
        ['own', 8],
        ['later', 3],
      ] as const
    ).filter(([name]) => name in files),
  )('passes every test of %s.test.ts', ([name, count]) => {
    const ran = results[name]!.filter(({ status }) => !/pending|skipped|todo/.test(status))
    expect(ran.filter(({ status }) => status !== 'passed')).toEqual([])
    expect(ran).toHaveLength(count)
  })

  test('prints the timeline of a failing test for each form of tests', () => {
    const told = results.failing!.map(({ title, status, failureMessages: [text = ''] }) => [
      title,
      status,
      text.match(/Replay: /g)?.length ?? 0,
      [...new Set(text.match(/\bm-[\w-]+/g))].sort().join(' '),
    ])
    const together = 'm-concurrent-1 m-concurrent-2 m-concurrent-3'
    expect(told.map(([title, status, stories]) => [title, status, stories])).toEqual([
      ['plain fails', 'failed', 1],
      ['extended fails', 'failed', 1],
      ['each fails', 'failed', 1],
      ['for fails', 'failed', 1],
      ['all attempts fail', 'failed', 1],
      ['a message is left over', 'failed', 1],
      ['throws', 'failed', 1],
      ['does not end', 'failed', 1],
      ['a message is left over after hooks that failed', 'failed', 1],
      ['concurrent fails 3', 'failed', 1],
      ['concurrent fails 1', 'failed', 1],
      ['concurrent fails 2', 'failed', 1],
      ['own fails', 'failed', 1],
      ['own concurrent fails 1', 'failed', 1],
      ['own concurrent fails 2', 'failed', 1],
      ['the last one holds', 'passed', 0],
    ])
    const marks = Object.fromEntries(told.map(([title, , , marks]) => [title, marks]))
    expect(marks).toMatchObject({
      'plain fails': 'm-plain',
      'extended fails': 'm-extended',
      'each fails': 'm-each',
      'for fails': 'm-for',
      'all attempts fail': 'm-attempt-0',
      'a message is left over': 'm-left',
      throws: 'm-hook-throws',
      'does not end': 'm-hook-does-not-end',
      'a message is left over after hooks that failed': 'm-left-later',
      'concurrent fails 3': together,
      'own fails': 'm-own',
      'own concurrent fails 1': 'm-own-1',
      'own concurrent fails 2': 'm-own-2',
    })
  })

  test('prints the timeline of each attempt of a test', () => {
    const { failureMessages } = results.failing!.find(({ title }) => title === 'all attempts fail')!
    expect(failureMessages.map((text) => /\bm-attempt-\d/.exec(text)?.[0])).toEqual(['m-attempt-0', 'm-attempt-1'])
  })
})
