import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { describe, test } from 'vitest'
import { leftovers, withTrace } from '../../fixtures/fixture-sandbox.js'
import { callerLine } from '../../src/kernel/caller-line.js'
import { failureOf } from '../matchers/failure.js'
import { bank, charging, shop, world } from './world.js'

describe('errors of handlers in failure messages', () => {
  test('names the handler of the external host with its line', async () => {
    const sandbox = world()
    charging(sandbox)
    sandbox.outbound.on(bank, () => {
      throw new RangeError('no such account')
    })
    sandbox.queue.publish({ to: shop, body: 'order 1', retries: 1 })
    await sandbox.clock.drain()
    const said = [
      failureOf(() => expect(sandbox).toHaveOutboundRequest(bank, { times: 1 })),
      withTrace('expected 1 to be 2', sandbox),
    ]
    for (const text of said) {
      expect(text).toMatch(
        /POST https:\/\/bank\.test\/charges threw.*\b2 requests: RangeError: no such account\n {2}in test\/calls\/handler-errors\.test\.ts:\d+:\d+\n/,
      )
    }
  })

  test('names no line of the host for a broken connection', async () => {
    const sandbox = world()
    charging(sandbox)
    sandbox.outbound.script(bank, [fault.lostAck()])
    sandbox.queue.publish({ to: shop, body: 'order 1' })
    await sandbox.clock.drain()
    const text = failureOf(() => expect(sandbox).toHaveOutboundRequest(bank, { times: 1 }))
    expect(text).toContain(`${shop} threw: TypeError: fetch failed`)
    expect(text).not.toContain('task_queues')
  })

  test.each([
    ['    at processTicksAndRejections (node:internal/process/task_queues:104:5)', ''],
    ['    at node:internal/deps/undici/undici:1:2', ''],
    ['    at async pay (/app/bank.ts:3:4)', '/app/bank.ts:3:4'],
    ['    at file:///app/bank.ts:3:4', 'file:///app/bank.ts:3:4'],
    ['    at pay (C:\\app\\bank.ts:3:4)', 'C:\\app\\bank.ts:3:4'],
    ['    at async C:\\app\\bank.ts:3:4', 'C:\\app\\bank.ts:3:4'],
  ])('callerLine() reads the location of the frame: %s', (frame, place) => {
    const error = new Error('x')
    error.stack = `Error: x\n${frame}`
    expect(callerLine(error)).toBe(place)
  })
})

describe('a failed expect() inside a handler', () => {
  /** Such errors come from Jest, and their first line is not informative. */
  const jestError = (got: number): Error =>
    Object.assign(new Error(`expect(received).toBe(expected) // Object.is equality\n\nExpected: 2\nReceived: ${got}`), {
      name: 'Error',
      matcherResult: {},
    })
  type World = ReturnType<typeof world>
  const assertions: Readonly<
    Record<string, readonly [check: (sandbox: World) => unknown, first: string, mark: string]>
  > = {
    'of Vitest': [() => expect({ n: 1 }).toEqual({ n: 2 }), 'expected { n: 1 } to deeply equal', 'expected { n: 1 }'],
    // The text differs with each attempt, because it contains the timeline up to then.
    'a matcher of this package': [
      ({ queue }) => expect(queue).toHavePublished({ to: shop, body: 'order 2' }),
      'expect(queue).toHavePublished(',
      "✗ body: expected 'order 2', received 'order 1'",
    ],
    'of Jest': [
      () => {
        throw jestError(1)
      },
      'expect(received).toBe(expected)',
      'Received: 1',
    ],
  }

  async function failed(check: (sandbox: World) => unknown): Promise<World> {
    const sandbox = world()
    sandbox.destinations.on(shop, () => {
      check(sandbox)
      return new Response()
    })
    sandbox.queue.publish({ to: shop, body: 'order 1', retries: 2 })
    await sandbox.clock.drain()
    return sandbox
  }

  const count = (text: string, part: string): number => text.split(part).length - 1

  test.each(Object.entries(assertions))(
    'fails the test once for %s, with its attempts',
    async (_, [check, first, mark]) => {
      const sandbox = await failed(check)
      const complaint = leftovers(sandbox, {})
      expect(complaint).toBe(sandbox.destinations.errors[0])
      const text = withTrace(complaint!.message, sandbox)
      expect(text).toMatch(/^The handler of https:\/\/shop\.test\/orders threw .*in 3 attempts\.$/m)
      expect(count(text, first)).toBe(1)
      expect(count(text, mark)).toBe(1)
    },
  )

  test.each(Object.entries(assertions))(
    'appears once, with marks and attempts, when the test fails of another error: %s',
    async (_, [check, first, mark]) => {
      const sandbox = await failed(check)
      for (const text of [
        withTrace('expected 1 to be 2', sandbox),
        failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: shop })),
        withTrace(
          failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: shop })),
          sandbox,
        ),
      ]) {
        expect(text).toMatch(/^The handler of https:\/\/shop\.test\/orders threw in 3 attempts: /m)
        expect(text).toMatch(/^ {2}in test\/calls\/handler-errors\.test\.ts:\d+:\d+$/m)
        expect(count(text, first)).toBe(1)
        expect(count(text, mark)).toBe(1)
      }
    },
  )

  test('stays separate for several assertions and for two places with the same first line', async () => {
    let calls = 0
    const { message } = jestError(1)
    const sandbox = await failed(() => {
      if (calls++ < 2) throw new Error(message)
      throw new Error(message.replace('1', '7'))
    })
    const text = withTrace('expected 1 to be 2', sandbox)
    expect(text).toMatch(/threw in 2 attempts: .*\n {2}Expected: 2\n {2}Received: 1\n/)
    expect(text).toMatch(/orders threw: .*\n {2}Expected: 2\n {2}Received: 7\n/)
  })

  test('counts requests for a handler of an external host', async () => {
    const sandbox = world()
    charging(sandbox)
    sandbox.outbound.on(bank, () => {
      expect(1).toBe(2)
      return new Response()
    })
    sandbox.queue.publish({ to: shop, body: 'order 1', retries: 1 })
    await sandbox.clock.drain()
    const text = withTrace(leftovers(sandbox, {})!.message, sandbox)
    expect(text).toMatch(/^The outbound handler for POST https:\/\/bank\.test\/charges threw .*in 2 requests\.$/m)
  })

  test('is not marked for an error that is not an assertion or not the failure of the test', async () => {
    const sandbox = await failed(() => {
      throw new RangeError('no such account')
    })
    expect(leftovers(sandbox, { strict: false })).toBeUndefined()
    expect(withTrace('expected 1 to be 2', sandbox)).toMatch(/threw.*\b3 attempts: RangeError: no such account/)
    expect(withTrace('no such account, and more', sandbox)).not.toContain('threw this')
  })
})
