import { Redis } from '@upstash/redis'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { fault, type Sandbox } from 'stuntdouble'
import { assertCrashSafe, type CrashSafetyError } from 'stuntdouble/checks'
import { expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// Import the route after the sandbox, because it reads its environment on import.

import { POST } from './app/api/trip/route.ts'
import { air, awardCarelessly, stay, type Trip } from './trip.ts'

const url = 'https://travel.test/api/trip'
const trip: Trip = { id: 't1', traveler: 'ada' }

/** Registers the app and the external hosts. @returns a function that books a trip */
function travel({ destinations }: Sandbox, route = POST): () => Promise<unknown> {
  destinations.on(url, route).respond(`${air}*`, 201).respond(`${stay}*`, 201)
  return () => new Client({ token: process.env.QSTASH_TOKEN! }).trigger({ url, body: trip, workflowRunId: trip.id })
}

test('books a trip and adds the points of the traveler', async () => {
  const { clock, store } = sandbox
  await travel(sandbox)()
  await clock.drain()
  expect(sandbox).toHaveWorkflowRun({ workflow: url, state: 'success', result: 'booked' })
  expect(store).toHaveKey('points:ada', { value: { t1: '100' } })
})

test('cancels the flight if no hotel is free, although the airline is down for a while', async () => {
  const { clock, destinations, queue } = sandbox
  const book = travel(sandbox)
  destinations.respond(stay, 409).script(`${air}/t1`, [fault.status(503), fault.status(503)])
  await book()
  await clock.drain()
  expect(sandbox).toHaveWorkflowRun({ state: 'success', result: 'no hotel' })
  expect(queue).toHaveDelivered({ to: `${air}/t1`, attempts: 3 })
})

test('notifies a person if the points cannot be written', async () => {
  const { store, workflow } = sandbox
  await travel(sandbox)()
  workflow.stubStep('points').throws(new Error('READONLY'))
  workflow.skipRetryDelays()
  await workflow.getRun('wfr_t1').advanceToEnd('failed')
  await sandbox.clock.drain()
  expect(sandbox).toHaveWorkflowStep('points', { attempts: 4 })
  expect(store.run('SMEMBERS', 'needs a person')).toEqual(['t1'])
})

test('books one flight, one hotel and the points of one trip for any crash', async () => {
  const { plans: schedules, skipped } = await assertCrashSafe(travel)
  expect(schedules).toBeGreaterThan(20)
  expect(skipped).toBe(0)
})

test('finds points that are added twice after a crash', async () => {
  const careless = serve<Trip>(async (context) => {
    await context.run('points', () => awardCarelessly(Redis.fromEnv(), context.requestPayload))
  })
  const found: CrashSafetyError = await assertCrashSafe((world) => travel(world, careless.POST)).catch((error) => error)
  expect(found.findings.map(({ id }) => id)).toContain('before-submission 1')
  expect(found.message).toContain('→ points of ada = "200", without faults "100"')
})
