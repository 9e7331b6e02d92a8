import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { createWorkflow, serveMany } from '@upstash/workflow/nextjs'
import type { Sandbox } from '../../src/index.js'
import type { Loose } from './world.js'

export interface Connection {
  readonly baseUrl: string
  readonly token: string
}

export interface Outcome {
  results: unknown[]
  failure: unknown
}

/** The app: both workflows behind one route, and a third party. */
export function everyKind(connection: Connection, origin: string) {
  const client = new Client(connection)
  const outcome: Outcome = { results: [], failure: undefined }
  const child = createWorkflow(async (context: Loose) => await context.run('inner', () => context.requestPayload))
  const main = createWorkflow<unknown, unknown>(
    async (context) => {
      const results: unknown[] = []
      results.push(await context.run('run', () => context.requestPayload))
      await context.sleep('sleep', 1)
      await context.sleepUntil('until', new Date(0))
      results.push((await context.call('call', { url: `${origin}/third`, method: 'POST', body: 'ping' as never })).body)
      const [told] = await Promise.all([
        context.waitForEvent<string>('wait', 'evt 1/x', { timeout: '1h' }),
        context.run('tell', async () => void (await client.notify({ eventId: 'evt 1/x', eventData: 'told' }))),
      ])
      results.push(told.eventData)
      await context.notify('notify', 'nobody', 1)
      const webhook = await context.createWebhook('hook')
      const [hooked] = await Promise.all([
        context.waitForWebhook('hooked', webhook, '1h'),
        context.run('ring', async () => {
          await fetch(`${webhook.webhookUrl}?a=1`, { method: 'PUT', body: 'rung' })
        }),
      ])
      results.push(
        await context.run('rung', async () => [
          hooked.request?.url === `${webhook.webhookUrl}?a=1`,
          hooked.request?.method,
          await hooked.request?.text(),
        ]),
      )
      results.push((await context.invoke('invoke', { workflow: child as never, body: { kid: 1 } })).body)
      outcome.results = results
      await context.run('fail', () => {
        throw new Error('the end')
      })
    },
    {
      failureFunction: async ({ failResponse }: { failResponse: string }) => {
        outcome.failure = failResponse
      },
    } as never,
  )
  const { POST } = serveMany(
    { main, child } as never,
    { qstashClient: new QueueClient(connection), receiver: undefined as never } as never,
  )
  const handle = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname === '/third') return new Response(`pong ${await request.text()}`)
    return await (POST as unknown as (request: Request) => Promise<Response>)(request)
  }
  return { outcome, handle, client }
}

export const expected: Outcome = {
  results: [{ n: 1 }, 'pong ping', 'told', [true, 'PUT', 'rung'], { kid: 1 }],
  failure: 'the end',
}

export function connectionOf({ urls, tokens }: Pick<Sandbox, 'urls' | 'tokens'>): Connection {
  return { baseUrl: urls.queue, token: tokens.queue }
}
