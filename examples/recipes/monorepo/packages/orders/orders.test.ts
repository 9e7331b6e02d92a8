import { expect, test } from 'vitest'
import { usePackageSandbox } from '../../testing/sandbox.ts'
import { placeOrder } from './orders.ts'

const sandbox = usePackageSandbox()

test('sends a mail about the order after an hour', async () => {
  const { clock, destinations, queue, store } = sandbox
  destinations.respond('https://mail.test/send', 200)
  await placeOrder(42)
  expect(store).toHaveKey('order:42', { value: 'placed' })
  await clock.advance('59m')
  expect(queue).not.toHaveDelivered()
  await clock.advance('1m')
  expect(queue).toHaveDelivered({ to: 'https://mail.test/send', body: { about: 42 } })
})
