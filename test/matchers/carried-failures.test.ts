import { expect as playwrightExpect } from '@playwright/test'
import { expect as jestExpect } from 'expect'
import { createSandbox, InvariantError, type Sandbox } from 'stuntdouble'
import { expect as vitestExpect } from 'stuntdouble/vitest'
import { describe, expect, test } from 'vitest'
import { leftovers } from '../../fixtures/fixture-sandbox.js'
import { sandboxMatchers } from '../../matchers/index.js'
import { type FailureData, failureOf, type RunnerError } from '../../src/report/failure.js'
import type { Loose } from '../workflow/world.js'

// The data of a failure comes with its error, for each runner, and also for partial copies of the error.

jestExpect.extend(sandboxMatchers as never)
playwrightExpect.extend(sandboxMatchers)

const shop = 'https://shop.test/orders'

async function failedOrder(): Promise<Sandbox> {
  const sandbox = createSandbox({ seed: 7 })
  sandbox.destinations.respond(shop, 500)
  sandbox.queue.publish({ to: shop, body: { n: 17 }, retries: 0 })
  await sandbox.clock.drain()
  return sandbox
}

async function thrownBy(act: () => unknown): Promise<RunnerError & Error> {
  try {
    await act()
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not fail.')
}

/** Copies an error as Vitest does for reporters and Jest for its main process: fields without prototype. */
const copied = (error: Error): RunnerError => JSON.parse(JSON.stringify(error, ['message', ...fields])) as RunnerError
/** Returns the names of fields at any depth. */
const fields = [
  ...['matcherResult', '__vitest_error_context__', 'meta', 'stuntdouble'],
  ...['call', 'causes', 'expected', 'received', 'hints', 'nearest', 'replay', 'timeline'],
]

describe.each<readonly [string, (received: unknown) => unknown, boolean]>([
  ['Vitest', vitestExpect, true],
  ['Jest', jestExpect, true],
  ['Playwright', playwrightExpect, false],
])('an error of a matcher in %s', (_, expectOf, hasFields) => {
  const assertion = (received: unknown): Loose => expectOf(received) as Loose

  test('carries the data of the matcher', async () => {
    using sandbox = await failedOrder()
    const error = await thrownBy(() => assertion(sandbox.queue).toHaveDelivered({ to: shop, status: 200 }))
    const [dead] = sandbox.traffic.ofType('dead-letter')
    const failure = failureOf(error)
    expect(failure).toMatchObject({
      expected: expect.stringMatching(/^Expected a delivered message.* of 1:$/),
      nearest: dead!.seq,
      replay: expect.stringMatching(/^(?:STUNTDOUBLE_SEED=7 npx|seed 7)/),
    } satisfies Partial<FailureData>)
    expect(failure?.call?.[0]).toContain('expect(queue).toHaveDelivered({')
    expect(failure?.received?.join('\n')).toContain('✗ status: expected 200')
    expect(failure?.timeline?.join('\n')).toContain('attempt 1 of 1')
    // Some copies contain only the message.
    for (const copy of [copied(error), { message: `Error: my words\n\n${error.message}\n\nCall log` }])
      expect(failureOf(copy)).toEqual(failure)
    if (hasFields) expect(failureOf({ ...copied(error), message: 'of another process' })).toEqual(failure)
  })

  test('carries the data of .not, and none if the matcher is inside another value', async () => {
    using sandbox = await failedOrder()
    const error = await thrownBy(() => assertion(sandbox.queue).not.toHaveDeadLetter({ to: shop }))
    expect(failureOf(error)?.call).toEqual([expect.stringContaining('expect(queue).not.toHaveDeadLetter(')])
    const other = await thrownBy(() => assertion({ a: 1 }).toEqual({ a: 2 }))
    expect(failureOf(other)).toBeUndefined()
  })
})

describe('an error of this package', () => {
  test('carries data of an invariant', async () => {
    using sandbox = await failedOrder()
    const entries = sandbox.traffic.entries as unknown[]
    entries.splice(
      entries.findIndex((entry) => (entry as Loose).type === 'dead-letter'),
      1,
      { ...entries.at(-1)!, type: 'keyspace', event: 'set', key: 'k' },
    )
    const error = await thrownBy(() => sandbox.assertInvariants())
    expect(error).toBeInstanceOf(InvariantError)
    for (const copy of [error, { message: `InvariantError: ${error.message}` }])
      expect(failureOf(copy)).toMatchObject({
        replay: 'seed 7',
        causes: [expect.stringContaining('failed permanently')],
      })
  })

  test('carries data about what a test leaves behind', () => {
    using sandbox = createSandbox({ seed: 7 })
    sandbox.queue.publish({ to: shop, delay: '1h' })
    const error = leftovers(sandbox, {})!
    expect(failureOf(error)).toMatchObject({ replay: 'seed 7' })
    expect(failureOf(error)!.causes![0]).toContain('A message is still pending.')
  })
})
