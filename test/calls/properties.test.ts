import { describe, expect, test } from 'vitest'
import { assertCrashSafe } from '../../packages/explore/src/checks.js'
import { assertResilient } from '../../packages/explore/src/delivery/check-delivery.js'
import { assertIdempotent } from '../../packages/explore/src/delivery/idempotence.js'
import type { Sandbox } from '../../src/index.js'
import { appWith, payments } from '../workflow/crash-defects.js'

// The most frequent failure: the third party charged, but its response was lost.

const bank = 'https://bank.test/charges'
const shop = 'https://shop.test/orders'

/**
 * Route that charges for its order. With a key, the bank recognizes the second request as a repetition of the first.
 */
const route =
  (keyed: boolean) =>
  async (request: Request): Promise<Response> => {
    const order = await request.text()
    const headers = keyed ? { 'idempotency-key': order } : {}
    const answer = await fetch(bank, { method: 'POST', body: order, headers })
    return new Response(null, { status: answer.ok ? 200 : 500 })
  }

const deliver = (sandbox: Sandbox): void => {
  sandbox.outbound.on(bank, () => Response.json({ id: 'ch_1' }, { status: 201 }))
  sandbox.queue.publish({ to: shop, body: 'order 1' })
}

describe('assertIdempotent() with outbound requests', () => {
  test("finds an app that charges twice when the bank's response is lost", async () => {
    const found = assertIdempotent(route(false), { publish: deliver, under: ['lost-response'] })
    await expect(found).rejects.toThrow(
      'The handler is not idempotent under lost-response: an external host did its work, and its response to the handler was lost.',
    )
    await expect(found).rejects.toThrow(`→ POST ${bank} "order 1" was sent 2 times, without faults once`)
    await expect(found).rejects.toThrow("Replay: assertIdempotent(handler, { …, only: ['lost-response 1'] })")
  })

  test('holds under all faults when an idempotency key identifies repeated requests', async () => {
    await assertIdempotent(route(true), {
      publish: deliver,
      under: ['lost-response', 'lost-ack', 'duplicate', 'concurrent'],
    })
  })
})

describe('assertResilient() with outbound requests', () => {
  test('injects lost responses of external hosts, too, and reports the smallest fault plan', async () => {
    const found = assertResilient({
      publish: deliver,
      handler: { [shop]: route(true) },
      holds: ({ traffic }) =>
        traffic
          .ofType('outbound')
          .every(({ handlerRuns: handled, response: answer }) => handled === 0 || (answer?.status ?? 0) > 0),
    })
    await expect(found).rejects.toThrow(
      "defineScenario('found by assertResilient', [\n  { on: 'outbound.request', times: 1, fault: { kind: 'lost-ack' } },\n])",
    )
  })
})

describe('assertCrashSafe() with outbound requests', () => {
  test('loses the response of a registered external host while the process lives', async () => {
    const paying = (key?: string) =>
      appWith(({ sandbox, charge }) => {
        sandbox.outbound.on(payments, () => new Response('{}'))
        return async (context) => {
          await context.run('charge', () => charge(context.requestPayload.id, key))
        }
      })
    const found = await assertCrashSafe(paying(), { only: ['lost-response 1.1'] }).catch((error) => error)
    expect(found.message).toContain('is lost, after the host did its work')
    expect(found.message).toContain(
      `{ on: 'outbound.request', match: { method: 'POST', url: '${payments}' }, times: 1, fault: { kind: 'lost-ack' } },`,
    )
    expect(await assertCrashSafe(paying('o1'))).toMatchObject({ notTried: 0 })
  })
})
