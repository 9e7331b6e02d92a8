import type { Sandbox } from 'stuntdouble'
import { assertIdempotent } from 'stuntdouble/checks'
import { assertResilient, type ResilienceError } from 'stuntdouble/fast-check'
import { expect, test } from 'vitest'
import { charge, charged, chargeOnce, checkout, failed, routes } from './shop.ts'

// Property checks that find the defect of main.ts.

const order = { id: '4711', cents: 1_990 }
const sandbox = { seed: 7, startAt: '2030-01-01T09:00:00Z', intercept: 'fetch' } as const
const subject = {
  sandbox,
  publish: () => checkout(order),
  holds: ({ store }: Sandbox) => store.get(`charged:${order.id}`) === String(order.cents),
}

test('charges twice after one lost acknowledgment', async () => {
  const handler = { [routes.charge]: charge, [routes.charged]: charged, [routes.failed]: failed }
  const found = (await assertResilient({ ...subject, handler }).catch((error: unknown) => error)) as ResilienceError
  expect(found.faults).toEqual([{ on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } }])
  expect(found.message).toMatch(/^Fails after \d+ of 100 fault plans \(seed 1, shrunk from \d faults to 1\):$/m)
  expect(found.message).toMatch(/^ {2}attempt 1 +lost-ack +the handler ran and responded 200, its response was lost$/m)
  expect(found.message).toMatch(/^ {2}attempt 2 +ok +responded 200$/m)
  expect(found.message).toContain('  → charged:4711 = "3980", without faults "1990"')
})

test('charges once for any fault with the handler that remembers messages', async () => {
  const handler = { [routes.charge]: chargeOnce, [routes.charged]: charged, [routes.failed]: failed }
  const { runs } = await assertResilient({ ...subject, handler })
  expect(runs).toBe(100)
})

test('is idempotent except for its marker and its report', async () => {
  const handler = { [routes.charge]: chargeOnce, [routes.charged]: charged }
  const ignoreKeys = ['seen:*', 'reports']
  await assertIdempotent(handler, {
    sandbox,
    publish: subject.publish,
    ignoreKeys,
    under: ['duplicate', 'lost-ack', 'concurrent'],
  })
})
