import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { headOf, type Run, runnerNames, runUnder } from '../failures/runners.ts'
import { typeErrors } from './walk.js'

// Runs the matchers in every runner: with its asymmetric matchers, with promises, polled, and concurrently.

const consumer = inject('consumer')

/** Tests that are equal for all runners. */
const code = `
const orders = 'https://shop.test/orders'
const later = () => new Promise((resolve) => setTimeout(resolve, 5))

test("the runner's own asymmetric matchers, inside of a pattern", () => {
  const { queue } = shop()
  expect(queue).toHavePublished({ to: expect.stringContaining('orders'), body: { id: expect.any(Number) } })
  expect(queue).toHavePublished({ body: expect.objectContaining({ id: 42 }), messageId: expect.anything() })
  expect(queue).toHavePublished({ headers: { 'x-tag': expect.stringMatching(/^a/) } })
  expect(queue).not.toHavePublished({ body: { id: expect.any(String) } })
  expect(queue).toFollowSequence([{ type: 'published', body: { items: expect.arrayContaining([7]) } }])
})

test('as asymmetric matchers', () => {
  const sandbox = shop()
  const [entry] = sandbox.traffic.entries
  expect({ sandbox }).toEqual({ sandbox: expect.toHavePublished({ to: orders }) })
  expect({ sandbox }).toEqual({ sandbox: expect.not.toHavePublished({ to: 'https://shop.test/refunds' }) })
  expect([entry]).toEqual([expect.messageTo(orders, { retries: 3 })])
  expect([entry]).toEqual([expect.not.entryOf('attempt')])
  expect([['SET', 'k', 'v']]).toEqual([expect.commandOf('SET', expect.anything())])
})

test('behind promises', async () => {
  await expect(later().then(shop)).resolves.toHavePublished({ to: orders })
  await expect(later().then(shop)).resolves.not.toHaveDelivered()
  await expect(Promise.reject(shop())).rejects.toHavePublished({ to: orders })
  await expect(expect(later().then(shop)).resolves.toHaveDelivered()).rejects.toThrow('Nearest of 1:')
})

test('a promise that nobody awaited', () => {
  expect(() => expect(later().then(shop)).toHavePublished()).toThrow('(got a promise)')
})

test('of a trace that was read from a file', () => {
  const { traffic } = shop()
  const entries = JSON.parse(JSON.stringify(traffic.entries))
  expect(entries).toHavePublished({ to: orders, body: { id: 42 } })
  expect({ entries }).toHavePublished({ to: orders }, { times: 1 })
  expect(() => expect({ entries }).toHaveDelivered()).toThrow('expect(traffic).toHaveDelivered()')
})

function shop() {
  const sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z' })
  sandbox.queue.publish({ to: orders, body: { id: 42, items: [7] }, headers: { 'X-Tag': 'a' } })
  return sandbox
}
`

const polled = `
test('polled', async () => {
  const sandbox = shop()
  setTimeout(() => sandbox.queue.publish({ to: 'https://shop.test/refunds' }), 20)
  await expect.poll(() => sandbox).toHavePublished({ to: 'https://shop.test/refunds' })
  await expect.poll(() => sandbox.queue).not.toHavePublished({ to: 'https://shop.test/none' })
})
`

const concurrent = `
for (const number of [1, 2, 3]) {
  test.concurrent('side by side ' + number, async () => {
    const sandbox = createSandbox({ name: 'world' + number })
    for (let count = 0; count < number; count++) {
      await later()
      sandbox.queue.publish({ to: orders, body: { number } })
    }
    expect(sandbox).toHavePublished({ body: { number } }, { times: number })
    expect(sandbox).not.toHavePublished({}, { times: number + 1 })
  })
}
`

describe.each(runnerNames)('%s', (runner) => {
  let run: Run
  beforeAll(async () => {
    const own = runner === 'playwright' ? polled : runner === 'vitest' ? polled + concurrent : concurrent
    run = await runUnder(runner, consumer, headOf(runner, ['createSandbox']) + code + own)
  })

  test('every test passes', () => {
    const failures = [...run.tests].filter(([, { message }]) => message !== undefined)
    expect(failures).toEqual([])
    expect(run.tests.size).toBeGreaterThan(5)
  })
})

test('the types of all three runners compile in one program with the declarations of the package', {
  timeout: 180_000,
}, async () => {
  const file = 'matchers.test-d.mts'
  copyFileSync(new URL('../types/matchers.test-d.ts', import.meta.url), join(consumer, file))
  const options = [
    ...['--exactOptionalPropertyTypes', '--noUnusedLocals', '--module', 'nodenext', '--types', 'node'],
    ...['--lib', 'es2023,esnext.disposable,dom,dom.iterable'],
  ]
  // A deliberate mistake, which must be reported.
  writeFileSync(
    join(consumer, 'wrong.mts'),
    "import { expect } from 'stuntdouble/vitest'\nexpect(1).toBe(1, 2, 3, 4)\n",
  )
  const told = (await typeErrors(consumer, [file, 'wrong.mts'], options)).split('\n')
  expect(told).toEqual([expect.stringMatching(/^wrong\.mts\(2,/)])
})
