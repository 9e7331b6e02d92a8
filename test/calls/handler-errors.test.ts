import { lostAck } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { describe, test } from 'vitest'
import { withTrace } from '../../fixtures/world.js'
import { callerLine } from '../../src/kernel/caller-line.js'
import { failureOf } from '../matchers/failure.js'
import { bank, charging, shop, world } from './world.js'

describe('what threw', () => {
  test('the handler of a foreign host is told as such, with its line', async () => {
    const sandbox = world()
    charging(sandbox)
    sandbox.calls.on(bank, () => {
      throw new RangeError('no such account')
    })
    sandbox.queue.publish({ to: shop, body: 'order 1', retries: 1 })
    await sandbox.clock.drain()
    const said = [
      failureOf(() => expect(sandbox).toHaveCalled(bank, { times: 1 })),
      withTrace('expected 1 to be 2', sandbox),
    ]
    for (const text of said) {
      expect(text).toMatch(
        /The handler that stands for POST https:\/\/bank\.test\/charges threw in 2 calls: RangeError: no such account\n {2}in test\/calls\/handler-errors\.test\.ts:\d+:\d+\n/,
      )
    }
  })

  test('a broken connection names no line of the host', async () => {
    const sandbox = world()
    charging(sandbox)
    sandbox.calls.script(bank, [lostAck()])
    sandbox.queue.publish({ to: shop, body: 'order 1' })
    await sandbox.clock.drain()
    const text = failureOf(() => expect(sandbox).toHaveCalled(bank, { times: 1 }))
    expect(text).toContain(`The handler of ${shop} threw: TypeError: fetch failed`)
    expect(text).not.toContain('task_queues')
  })

  test.each([
    ['    at processTicksAndRejections (node:internal/process/task_queues:104:5)', ''],
    ['    at node:internal/deps/undici/undici:1:2', ''],
    ['    at async pay (/app/bank.ts:3:4)', '/app/bank.ts:3:4'],
    ['    at file:///app/bank.ts:3:4', 'file:///app/bank.ts:3:4'],
    ['    at pay (C:\\app\\bank.ts:3:4)', 'C:\\app\\bank.ts:3:4'],
    ['    at async C:\\app\\bank.ts:3:4', 'C:\\app\\bank.ts:3:4'],
  ])('%s', (frame, place) => {
    const error = new Error('x')
    error.stack = `Error: x\n${frame}`
    expect(callerLine(error)).toBe(place)
  })
})
