import { http as mswHttp } from 'msw'
import { setupServer } from 'msw/node'
import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { mswHandlers } from 'stuntdouble/msw'
import { fastNetwork } from 'stuntdouble/msw/fast'
import { afterEach, describe, expect, test } from 'vitest'
import { bank, charging, shop } from './world.js'

const ends: (() => unknown)[] = []
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end()
})

function made(): Sandbox {
  const sandbox = createSandbox({ onWarning: () => {} })
  ends.push(() => sandbox.dispose())
  return sandbox
}

const refunds = 'https://bank.test/refunds'

describe('outbound requests with msw', () => {
  test('leaves msw handlers in charge of URLs that are not registered', async () => {
    const sandbox = made()
    charging(sandbox)
    const server = setupServer(
      ...mswHandlers(sandbox),
      mswHttp.post(bank, () => new Response('msw', { status: 299 })),
      mswHttp.post(refunds, () => new Response('msw', { status: 298 })),
    )
    server.listen({ onUnhandledFrame: 'error' })
    ends.push(() => server.close())
    expect((await fetch(bank, { method: 'POST' })).status).toBe(299)
    sandbox.outbound.respond(bank, 201)
    sandbox.outbound.script(bank, [fault.lostAck()])
    expect((await fetch(refunds, { method: 'POST' })).status).toBe(298)
    sandbox.queue.publish({ to: shop, body: 'order 1' })
    await sandbox.clock.drain()
    const attempts = sandbox.traffic.ofType('attempt')
    expect(sandbox.traffic.ofType('outbound')).toMatchObject([
      { cause: attempts[0]!.seq, body: 'order 1', handlerRuns: 1, response: { status: 0 } },
      { cause: attempts[1]!.seq, body: 'order 1', handlerRuns: 1, response: { status: 201 } },
    ])
  })

  test('intercepts fetch only', async () => {
    const sandbox = made()
    sandbox.outbound.respond(bank, 201)
    const network = fastNetwork(sandbox, {
      handlers: [mswHttp.post(refunds, () => new Response('msw', { status: 298 }))],
    })
    network.enable()
    ends.push(() => network.disable())
    expect((await fetch(bank, { method: 'POST' })).status).toBe(201)
    expect((await fetch(refunds, { method: 'POST' })).status).toBe(298)
  })
})
