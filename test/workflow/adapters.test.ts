import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { createWorkflow, serve, serveMany } from '@upstash/workflow/nextjs'
import { setupServer } from 'msw/node'
import { expect, onTestFinished, test } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { mswHandlers } from '../../src/adapters/msw.js'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { startServer } from '../../src/server/server.js'

// One workflow with every kind of step, through every way to the double. [workflow.md 1 to 11]

interface Connection {
  readonly baseUrl: string
  readonly token: string
}

interface Outcome {
  results: unknown[]
  failure: unknown
}

/** The app: both workflows behind one route, and a third party beside them. */
function makeApp(connection: Connection, origin: string, notify: () => Promise<unknown>) {
  const outcome: Outcome = { results: [], failure: undefined }
  const child = createWorkflow(async (context: any) => await context.run('inner', () => context.requestPayload))
  const main = createWorkflow<unknown, unknown>(
    async (context) => {
      const results: unknown[] = []
      results.push(await context.run('run', () => context.requestPayload))
      await context.sleep('sleep', 1)
      await context.sleepUntil('until', new Date(0))
      results.push((await context.call('call', { url: `${origin}/third`, method: 'POST', body: 'ping' as never })).body)
      const [told] = await Promise.all([
        context.waitForEvent<string>('wait', 'evt 1/x', { timeout: '1h' }),
        context.run('tell', async () => void (await notify())),
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
      failureFunction: async ({ failResponse }) => {
        outcome.failure = failResponse
      },
    } as never,
  )
  void serve
  const { POST } = serveMany(
    { main, child } as never,
    { qstashClient: new QueueClient(connection), receiver: undefined as never } as never,
  )
  const handle = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname === '/third') return new Response(`pong ${await request.text()}`)
    return await (POST as unknown as (request: Request) => Promise<Response>)(request)
  }
  return { outcome, handle }
}

const expected = {
  results: [{ n: 1 }, 'pong ping', 'told', [true, 'PUT', 'rung'], { kid: 1 }],
  failure: 'the end',
}

/** A sandbox whose deliveries reach the app in this process. */
function inProcess(lead: (sandbox: Sandbox) => () => unknown) {
  const sandbox = createSandbox({ seed: 16, vocabulary: 'upstash', warn: () => {} })
  const close = lead(sandbox)
  onTestFinished(async () => {
    await close()
    sandbox.dispose()
  })
  const connection = { baseUrl: sandbox.addresses.queue, token: sandbox.tokens.queue }
  const client = new Client(connection)
  const { outcome, handle } = makeApp(connection, 'https://app.test', () =>
    client.notify({ eventId: 'evt 1/x', eventData: 'told' }),
  )
  sandbox.destinations.on('https://app.test/*', handle)
  return { sandbox, client, outcome }
}

test.each([
  ['stuntdouble/fetch', (sandbox: Sandbox) => replaceFetch(sandbox)],
  [
    'stuntdouble/msw',
    (sandbox: Sandbox) => {
      const server = setupServer(...mswHandlers(sandbox))
      server.listen({ onUnhandledRequest: 'error' })
      return () => server.close()
    },
  ],
] as const)('through %s', async (_, lead) => {
  const { sandbox, client, outcome } = inProcess(lead)
  await client.trigger({ url: 'https://app.test/main', body: { n: 1 }, retries: 0 })
  await sandbox.clock.drain()
  expect(outcome).toEqual(expected)
  expect(sandbox.workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED', 'RUN_SUCCESS'])
})

test.each(['', '/main'])('through the local server, with the app on a port of its own%s', async (base) => {
  const server = await startServer({ port: 0, vocabulary: 'upstash', clock: 'manual' })
  onTestFinished(() => server.close())
  const served = server.tenant(base === '' ? 'one' : 'two')
  const connection = { baseUrl: served.addresses.queue, token: served.tokens.queue }
  const client = new Client(connection)
  let handle: (request: Request) => Promise<Response> = async () => new Response('', { status: 500 })
  const app = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const headers = new Headers()
    for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, [value].flat().join(', '))
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method!,
      headers,
      ...(incoming.method !== 'GET' && { body: Buffer.concat(chunks) }),
    })
    const response = await handle(request)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  })
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void app.close())
  const origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`
  const made = makeApp(connection, origin, () => client.notify({ eventId: 'evt 1/x', eventData: 'told' }))
  handle = made.handle
  await client.trigger({ url: `${origin}/main`, body: { n: 1 }, retries: 0 })
  await served.clock.drain()
  expect(made.outcome).toEqual(expected)
  // A direct POST through the real wire: the SDK forwards the transport headers that it received.
  made.outcome.results = []
  const response = await fetch(`${origin}/main`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ n: 1 }),
  })
  expect(await response.json()).toMatchObject({ workflowRunId: expect.stringMatching(/^wfr_/) })
  await served.clock.advance('2h')
  expect(made.outcome.results).toEqual(expected.results)
  // And by a plain publish.
  made.outcome.results = []
  await new QueueClient(connection).publishJSON({ url: `${origin}/main`, body: { n: 1 } })
  await served.clock.advance('2h')
  expect(made.outcome.results).toEqual(expected.results)
})

test('in the neutral words, without an SDK', async () => {
  const sandbox = createSandbox({ seed: 16, warn: () => {} })
  onTestFinished(() => sandbox.dispose())
  const { addresses, tokens, destinations, clock, workflow } = sandbox
  const url = 'https://app.test/flow'
  const seen = destinations.record(url, { status: 200, headers: { 'Service-Workflow-Sdk-Version': '1' } })
  const post = (path: string, headers: Record<string, string>, body: unknown): Promise<Response> =>
    sandbox.fetch(addresses.queue + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.queue}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const own = { 'Service-Workflow-RunId': 'wfr_n', 'Service-Workflow-Url': url, 'Service-Workflow-Init': 'false' }
  const begun = await post(`/v2/publish/${url}`, { ...own, 'Service-Workflow-Init': 'true' }, 'payload')
  expect(begun.status).toBe(200)
  await clock.advance('1s')
  await post(`/v2/publish/${url}`, own, { stepId: 1, stepName: 'a', stepType: 'Run', concurrent: 1, out: '1' })
  await clock.advance('1s')
  const step = { stepId: 2, stepName: 'w', stepType: 'Wait', concurrent: 1 }
  const wait = { url, timeout: '5s', timeoutHeaders: { 'Service-Forward-X': ['y'] }, step }
  expect((await post('/v2/wait/evt', own, wait)).status).toBe(200)
  await clock.drain()
  expect(seen.last().header('service-workflow-runid')).toBe('wfr_n')
  expect(seen.last().header('service-workflow-createdat')).toBe(String(workflow.run('wfr_n').createdAt))
  expect(seen.last().header('x')).toBe('y')
  expect(seen.last().json()).toHaveLength(3)
  const end = await sandbox.fetch(`${addresses.queue}/v2/workflows/runs/wfr_n?cancel=false`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${tokens.queue}` },
    body: '"done"',
  })
  expect([end.status, workflow.run('wfr_n').result]).toEqual([200, 'done'])
})
