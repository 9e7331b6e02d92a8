import type { RequestEvent } from '@sveltejs/kit'
import { fault } from 'stuntdouble'
import { expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// Import the routes after the sandbox, because both read the environment on import.

import { POST as signUp } from './src/routes/api/signups/+server.ts'
import { POST as welcome } from './src/routes/api/welcome/+server.ts'

const url = 'https://club.test/api/welcome'

/** Creates the event of a route. A route that reads cookies or locals also needs these. */
const eventOf = (request: Request): RequestEvent =>
  ({ request, url: new URL(request.url), params: {}, locals: {} }) as unknown as RequestEvent

const join = () => {
  const body = JSON.stringify({ email: 'ada@club.test' })
  return signUp(eventOf(new Request('https://club.test/api/signups', { method: 'POST', body })))
}

test('welcomes a new user in the background', async () => {
  const { clock, destinations, queue, store } = sandbox
  destinations.on(url, (request) => welcome(eventOf(request)))
  expect((await join()).status).toBe(202)
  expect(store).not.toHaveKey('welcomed')

  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, attempts: [200] })
  expect(store).toHaveKey('welcomed', { value: ['ada@club.test'] })
})

test('welcomes a user once after a lost response', async () => {
  const { clock, destinations, queue } = sandbox
  destinations.on(url, (request) => welcome(eventOf(request))).script(url, [fault.lostAck()])
  await join()
  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, attempts: [0, 200], response: 'welcomed before' })
})

test('rejects an unsigned request', async () => {
  const body = JSON.stringify({ email: 'eve@club.test' })
  const unsigned = await welcome(eventOf(new Request(url, { method: 'POST', body })))
  expect(unsigned.status).toBe(403)
  expect(sandbox.store).not.toHaveKey('welcomed')
})

test('rejects a changed body and accepts the next attempt', async () => {
  const { clock, destinations, faults, queue } = sandbox
  destinations.on(url, (request) => welcome(eventOf(request)))
  faults.add({ on: 'queue.delivery', times: 1, fault: fault.badSignature('body') })
  await join()
  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, attempts: [500, 200] })
})
