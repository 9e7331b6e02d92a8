import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@upstash/qstash'
import { connect } from 'stuntdouble/client'
import { startServer } from 'stuntdouble/server'
import 'stuntdouble/vitest/extend'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => vi.unstubAllEnvs())

test('retries an order until the shop is back', async () => {
  // As a separate process: npx stuntdouble serve --port 8080 --clock manual
  await using server = await startServer({ port: 0, clock: 'manual' })
  vi.stubEnv('QSTASH_DEV', 'true').stubEnv('QSTASH_DEV_PORT', String(server.port))

  const statuses = [503, 200]
  const shop = createServer((_request, response) => response.writeHead(statuses.shift()!).end()).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/orders`
  await new Client().publishJSON({ url, body: { id: 42 } })

  await using sandbox = await connect(server.origin)
  await sandbox.clock.advance('12s')
  expect(await sandbox.queue.snapshot()).toHaveDelivered({ to: url, attempts: [503, 200] })
  shop.close()
})
