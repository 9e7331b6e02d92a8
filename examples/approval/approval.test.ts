import { test as base, expect } from 'stuntdouble/vitest'
import { app, bank, chat } from './app.ts'

const test = base.override('sandboxOptions', { startAt: '2030-01-01T09:00:00Z', intercept: 'fetch' })
const company = 'https://company.test'
const run = 'wfr_dinner'

/** Sends a form as a browser does. */
function post(path: string, fields: Record<string, string>): Response | Promise<Response> {
  return app.request(company + path, { method: 'POST', body: new URLSearchParams(fields) })
}

const hand = (cents: number): Response | Promise<Response> => post('/expenses', { id: 'dinner', cents: String(cents) })

test.beforeEach(({ sandbox: { destinations } }) => {
  destinations.on(`${company}/*`, (request) => app.fetch(request))
  destinations.respond(chat, 200)
})

test('pays an approved expense', async ({ sandbox }) => {
  const { destinations, store, workflow } = sandbox
  const payments = destinations.record(bank)
  await hand(4_200)
  await workflow.getRun(run).advanceToStep('decision')
  await post('/expenses/dinner', { approved: 'yes' })
  await workflow.getRun(run).advanceToEnd('success')

  expect(payments.last().json()).toEqual({ id: 'dinner', cents: 4_200 })
  expect(store).toHaveKey('expense:dinner', { value: 'approved' })
  expect(sandbox).toHaveWorkflowWait('decision-dinner', { data: { approved: true } })
})

test('ends the approval after three days', async ({ sandbox }) => {
  const { clock, store } = sandbox
  await hand(4_200)
  await clock.drain()

  expect(clock.now()).toBe(Date.parse('2030-01-04T09:00:00Z'))
  expect(store).toHaveKey('expense:dinner', { value: 'expired' })
  expect(sandbox).toHaveWorkflowRun({ workflow: `${company}/api/approval`, state: 'success', result: 'expired' })
})

test('accepts an approval that arrives before the run waits', async ({
  sandbox: { clock, destinations, workflow },
}) => {
  destinations.respond(bank, 200)
  await hand(4_200)
  await post('/expenses/dinner', { approved: 'yes' })
  await clock.drain()
  expect(workflow.getRun(run).result).toBe('approved')
})

test('retries while the bank is down for a minute', async ({ sandbox }) => {
  const { workflow } = sandbox
  workflow.stubEvent('decision-dinner', { approved: true })
  workflow.stubStep('pay').throws(new Error('bank is down'), { times: 2 })
  workflow.stubStep('pay').returns({ status: 201, body: 'paid' })
  await hand(4_200)
  await workflow.getRun(run).advanceToEnd('success')

  expect(sandbox).toHaveWorkflowStep('pay', { result: { status: 201 } })
})
