import { fault } from 'stuntdouble'
import { connect } from 'stuntdouble/client'
import { startServer } from 'stuntdouble/server'
import 'stuntdouble/vitest/extend'
import { expect, test } from 'vitest'

const orders = 'https://shop.test/orders'

test('delivers again after a lost acknowledgement', async () => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  await using sandbox = await connect(server.origin, { tenant: `w${process.env.TEST_WORKER_INDEX}` })

  await sandbox.destinations.respond(orders, 200)
  await sandbox.faults.add({ on: 'queue.delivery', times: 1, fault: fault.lostAck() })
  await sandbox.queue.publish({ to: orders, body: { id: 42 } })
  await sandbox.clock.advance('5m')

  expect(await sandbox.queue.snapshot()).toHaveDelivered({ to: orders, status: 200 })
  expect(await sandbox.snapshot()).toBeIdle()
})
