import { fault } from 'stuntdouble'
import { expect, test } from 'vitest'
import { usePackageSandbox } from '../../testing/sandbox.ts'
import { app } from './mail.ts'

const sandbox = usePackageSandbox()

test('sends a mail once although the queue delivers twice', async () => {
  const { clock, destinations, queue } = sandbox
  const url = 'https://mail.test/send'
  destinations.on(url, (request) => app.fetch(request)).script(url, [fault.lostAck()])
  queue.publish({ to: url, body: { about: 42 } })
  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, attempts: [0, 200], response: 'sent before' })
})
