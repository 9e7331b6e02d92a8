import { expect, test } from 'stuntdouble/playwright'
import { bank, chat } from '../../examples/approval/app.ts'

// Runs the app of examples/approval in its own process. The sandbox of the worker delivers its steps over a real
// socket.

test.use({ baseURL: `http://127.0.0.1:${process.env.APPROVAL_PORT}` })

test.beforeEach(async ({ page, sandbox: { destinations } }) => {
  destinations.respond(chat, 200)
  await page.request.post('/expenses', { form: { id: 'dinner', cents: '4200' } })
})

test('pays an expense that is approved in the browser', async ({ page, sandbox }) => {
  const { destinations, workflow } = sandbox
  const payments = destinations.record(bank)
  await workflow.getRun('wfr_dinner').advanceToStep('decision')
  await page.goto('/expenses/dinner')
  await expect(page.getByRole('status')).toHaveText('waiting')
  await page.getByRole('button').click()
  await workflow.getRun('wfr_dinner').advanceToEnd('success')

  expect(payments.last().json()).toEqual({ id: 'dinner', cents: 4200 })
  expect(sandbox).toHaveWorkflowWait('decision-dinner', { data: { approved: true } })
  await page.reload()
  await expect(page.getByRole('status')).toHaveText('approved')
})

test('uses stubs of an event and of a payment that fails once', async ({ baseURL, page, sandbox }) => {
  const { workflow } = sandbox
  workflow.stubEvent('decision-dinner', { approved: true })
  workflow.stubStep('pay').throws('bank is down', { times: 1 })
  workflow.stubStep('pay').returns({ status: 201, body: 'paid' })
  await workflow.getRun('wfr_dinner').advanceToEnd('success')

  expect(sandbox).toHaveWorkflowRun({ workflow: `${baseURL}/api/approval`, state: 'success', result: 'approved' })
  expect(sandbox).toHaveWorkflowStep('pay', { result: { status: 201 } })
  expect(() => expect(sandbox).toHaveWorkflowRun({ result: 'declined' })).toThrow(
    /expected 'declined', received 'approved'/,
  )
  await page.goto('/expenses/dinner')
  await expect(page.getByRole('status')).toHaveText('approved')
})
