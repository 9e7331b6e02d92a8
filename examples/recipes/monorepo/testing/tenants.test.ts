import { startServer } from 'stuntdouble/server'
import 'stuntdouble/vitest/extend'
import { afterEach, expect, test, vi } from 'vitest'
import { placeOrder } from '../packages/orders/orders.ts'
import { tenantOf } from './tenant.ts'

afterEach(() => vi.unstubAllEnvs())

test('gives packages on one server separate tenants', async () => {
  await using server = await startServer({ port: 0, clock: 'manual' }) // npx stuntdouble serve --clock manual
  vi.stubEnv('MAIL_URL', 'https://mail.test')

  const mail = await tenantOf('mail', server.origin)
  await mail.store.run('SADD', 'mails', '42')

  const orders = await tenantOf('orders', server.origin)
  await orders.destinations.respond('https://mail.test/send', 200)
  await placeOrder(42)
  await orders.clock.advance('1h')

  expect(await orders.snapshot()).toHaveDelivered({ to: 'https://mail.test/send', body: { about: 42 } })
  expect(await orders.snapshot()).not.toHaveKey('mails')
  expect(await mail.snapshot()).not.toHaveKey('order:42')
  expect(await mail.clock.now()).toBeLessThan(await orders.clock.now())
})
