import { Redis } from '@upstash/redis'
import { Client } from '@upstash/workflow'
import { serve, type WorkflowBindings } from '@upstash/workflow/hono'
import { Hono } from 'hono'

// An app for expenses that need approval within three days. It is written for production: it uses the vendor's SDKs,
// reads URLs and keys from the environment, and contains no code for tests.

export interface Expense {
  readonly id: string
  readonly cents: number
}

export const chat = 'https://chat.test/messages'
export const bank = 'https://bank.test/payments'

export const app = new Hono<{ Bindings: WorkflowBindings }>()

app.post(
  '/api/approval',
  serve<Expense>(async (context) => {
    const { id, cents } = context.requestPayload
    const text = `Expense ${id}: ${cents} cents. Approve?`
    await context.call('ask', { url: chat, method: 'POST', body: JSON.stringify({ text }) })
    const answer = await context.waitForEvent<{ approved: boolean }>('decision', decisionOn(id), { timeout: '3d' })
    const state = answer.timeout ? 'expired' : answer.eventData.approved ? 'approved' : 'declined'
    if (state === 'approved') {
      const headers = { 'Idempotency-Key': id }
      await context.call('pay', { url: bank, method: 'POST', headers, body: JSON.stringify({ id, cents }), retries: 3 })
    }
    await context.run('note', () => Redis.fromEnv().set(`expense:${id}`, state))
    return state
  }),
)

app.post('/expenses', async (c) => {
  const { id, cents } = await c.req.parseBody<{ id: string; cents: string }>()
  const url = new URL('/api/approval', c.req.url).href
  await new Client({ token: process.env.QSTASH_TOKEN! }).trigger({
    url,
    body: { id, cents: Number(cents) },
    workflowRunId: id,
  })
  return c.redirect(`/expenses/${id}`, 303)
})

app.get('/expenses/:id', async (c) => {
  const { id } = c.req.param()
  const state = (await Redis.fromEnv().get<string>(`expense:${id}`)) ?? 'waiting'
  const form = '<form method="post"><button name="approved" value="yes">Approve</button></form>'
  return c.html(`<!doctype html><h1>Expense</h1><p role="status">${state}</p>${state === 'waiting' ? form : ''}`)
})

app.post('/expenses/:id', async (c) => {
  const { id } = c.req.param()
  const { approved } = await c.req.parseBody()
  // With the ID of the run, the event is kept if it arrives before the run waits for it.
  const eventData = { approved: approved === 'yes' }
  await new Client({ token: process.env.QSTASH_TOKEN! }).notify({
    eventId: decisionOn(id),
    eventData,
    workflowRunId: `wfr_${id}`,
  })
  return c.redirect(`/expenses/${id}`, 303)
})

function decisionOn(id: string): string {
  return `decision-${id}`
}
