import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { delivered } from '../../matchers/message-matchers.js'
import { createSandbox, fault } from '../../src/index.js'
import { runs } from '../support/effort.js'

// The nearest message is chosen by its identity, not by its outcome.

const shop = 'https://shop.test/orders'

/** Returns titles and comparisons of the nearest candidates. */
function missesOf(message: string): string[] {
  return message.split('\n').filter((line) => /^ {2}#\d+ at /.test(line))
}

describe('nearest message', () => {
  test('is a pending message with n: 17, not a delivered one with n: 15', async () => {
    using sandbox = createSandbox()
    sandbox.destinations.record(shop)
    for (let n = 1; n <= 20; n++) {
      sandbox.queue.publish({ to: shop, body: JSON.stringify({ n }), ...(n > 15 && { delay: '1h' }) })
    }
    await sandbox.clock.advance('1m')
    const [first] = missesOf(delivered(sandbox, { to: shop, body: { n: 17 } }).explain(false))
    expect(first).toContain(sandbox.traffic.ofType('published')[16]!.messageId.slice(0, 7))
  })

  test('does not depend on state, statuses and attempts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('delivered', 'waiting', 'dead', 'retried'), { minLength: 2, maxLength: 8 }),
        fc.nat(),
        async (fates, pick) => {
          using sandbox = createSandbox()
          const wanted = pick % fates.length
          fates[wanted] = fates[wanted] === 'delivered' ? 'waiting' : fates[wanted]!
          for (const [n, fate] of fates.entries()) {
            const url = `${shop}/${fate}`
            sandbox.destinations.respond(url, fate === 'dead' ? 500 : 200)
            if (fate === 'retried') sandbox.destinations.script(url, [fault.status(503)])
            sandbox.queue.publish({
              to: url,
              body: JSON.stringify({ n }),
              retries: fate === 'dead' ? 0 : 1,
              ...(fate === 'waiting' && { delay: '1d' }),
            })
          }
          await sandbox.clock.advance('1h')
          const pattern = { body: { n: wanted }, state: 'DELIVERED', attempts: 7, status: 299 } as const
          const [first] = missesOf(delivered(sandbox, pattern).explain(false))
          expect(first).toContain(sandbox.traffic.ofType('published')[wanted]!.messageId.slice(0, 7))
        },
      ),
      { numRuns: runs(40, 40, 400) },
    )
  })
})
