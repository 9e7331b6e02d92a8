import { expect, inject, test } from 'vitest'
import { type Runner, runUnder } from '../failures/runners.ts'

// Runs tests that must fail with `timers: 'follow'`, in both runners that have this option.

const heads: Partial<Record<Runner, string>> = {
  vitest: `import { Redis } from '@upstash/redis'
import { fault } from 'stuntdouble'
import { test as base } from 'stuntdouble/vitest'
import { vi as host } from 'vitest'
const it = base.override('sandboxOptions', { timers: 'follow' })
const test = (name, body) => it(name, { timeout: 2500 }, ({ sandbox }) => body(sandbox))
`,
  jest: `const { Redis } = require('@upstash/redis')
const { fault } = require('stuntdouble')
const { useSandbox } = require('stuntdouble/jest')
const host = jest
const sandbox = useSandbox({ timers: 'follow' })
const test = (name, body) => globalThis.test(name, () => body(sandbox), 2500)
`,
}

const tests = `
test('waits', async (sandbox) => {
  sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.reset() })
  const { urls, tokens } = sandbox
  const redis = new Redis({ url: urls.store, token: tokens.store, retry: { backoff: () => 400 } })
  await redis.set('greeting', 'hello')
})
test('fakes', () => {
  host.useFakeTimers()
  host.useRealTimers()
})
test('is at the time of the sandbox', (sandbox) => {
  if (Date.now() !== sandbox.clock.now()) throw new Error('The timers do not follow.')
})
`

test.each(['vitest', 'jest'] as const)(
  "%s: with timers: 'follow', a timeout names the timer of the app, and fake timers throw an error",
  async (runner) => {
    const run = await runUnder(runner, inject('consumer'), heads[runner] + tests)
    expect(run.tests.get('waits')?.message).toMatch(
      /(?:timed out in 2500ms|Exceeded timeout of 2500 ms)(?:.|\n)*Hint: .*its own timer \(due in 400ms(?:.|\n)*Replay: (?:.|\n)*#1 .*connection broken/,
    )
    expect(run.tests.get('fakes')?.message).toContain('useFakeTimers()')
    expect(run.tests.get('fakes')?.message).toMatch(/already faked.*timers: 'follow'/)
    expect(run.tests.get('is at the time of the sandbox')?.message).toBeUndefined()
  },
)
