import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client as QueueClient } from '@upstash/qstash'
import { setupServer } from 'msw/node'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from '../../packages/server/src/server.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { mswHandlers } from '../../src/adapters/msw.js'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { connectionOf, everyKind, expected } from './every-kind.js'

// One workflow with every kind of step, through every adapter and the server. [workflow.md 1 to 11]

/** A sandbox whose deliveries reach the app in this process. */
function inProcess(lead: (sandbox: Sandbox) => () => unknown) {
  const sandbox = createSandbox({ seed: 16, onWarning: () => {} })
  const close = lead(sandbox)
  onTestFinished(async () => {
    await close()
    sandbox.dispose()
  })
  const { outcome, handle, client } = everyKind(connectionOf(sandbox), 'https://app.test')
  sandbox.destinations.on('https://app.test/*', handle)
  return { sandbox, client, outcome }
}

test.each([
  ['stuntdouble/fetch', (sandbox: Sandbox) => replaceFetch(sandbox)],
  [
    'stuntdouble/msw',
    (sandbox: Sandbox) => {
      const server = setupServer(...mswHandlers(sandbox))
      server.listen({ onUnhandledFrame: 'error' })
      return () => server.close()
    },
  ],
] as const)('a workflow with every kind of step runs through %s', async (_, lead) => {
  const { sandbox, client, outcome } = inProcess(lead)
  await client.trigger({ url: 'https://app.test/main', body: { n: 1 }, retries: 0 })
  await sandbox.clock.drain()
  expect(outcome).toEqual(expected)
  expect(sandbox.workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED', 'RUN_SUCCESS'])
})

test('a workflow with every kind of step runs through the local server, with the app on its own port', async () => {
  const server = await startServer({ port: 0, clock: 'manual' })
  onTestFinished(() => server.close())
  const served = server.tenant('one')
  const connection = connectionOf(served)
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
  const made = everyKind(connection, origin)
  const { client } = made
  handle = made.handle
  await client.trigger({ url: `${origin}/main`, body: { n: 1 }, retries: 0 })
  await served.clock.drain()
  expect(made.outcome).toEqual(expected)
  // A direct POST over HTTP: the SDK forwards the transport headers that it received.
  made.outcome.results = []
  const response = await fetch(`${origin}/main`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ n: 1 }),
  })
  expect(await response.json()).toMatchObject({ workflowRunId: expect.stringMatching(/^wfr_/) })
  await served.clock.advance('2h')
  expect(made.outcome.results).toEqual(expected.results)
  // A plain publish.
  made.outcome.results = []
  await new QueueClient(connection).publishJSON({ url: `${origin}/main`, body: { n: 1 } })
  await served.clock.advance('2h')
  expect(made.outcome.results).toEqual(expected.results)
})

test('a workflow runs in the neutral dialect, without an SDK', async () => {
  const sandbox = createSandbox({ seed: 16, onWarning: () => {} })
  onTestFinished(() => sandbox.dispose())
  const { urls, tokens, destinations, clock, workflow } = sandbox
  const url = 'https://app.test/flow'
  const seen = destinations.record(url, { status: 200, headers: { 'Service-Workflow-Sdk-Version': '1' } })
  const post = (path: string, headers: Record<string, string>, body: unknown): Promise<Response> =>
    sandbox.fetch(urls.queue + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.queue}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const own = { 'Service-Workflow-RunId': 'wfr_n', 'Service-Workflow-Url': url, 'Service-Workflow-Init': 'false' }
  const begun = await post(`/v2/publish/${url}`, { ...own, 'Service-Workflow-Init': 'true' }, 'payload')
  expect(begun.status).toBe(201)
  await clock.advance('1s')
  await post(`/v2/publish/${url}`, own, { stepId: 1, stepName: 'a', stepType: 'Run', concurrent: 1, out: '1' })
  await clock.advance('1s')
  const step = { stepId: 2, stepName: 'w', stepType: 'Wait', concurrent: 1 }
  const wait = { url, timeout: '5s', timeoutHeaders: { 'Service-Forward-X': ['y'] }, step }
  expect((await post('/v2/wait/evt', own, wait)).status).toBe(200)
  await clock.drain()
  expect(seen.last().header('service-workflow-runid')).toBe('wfr_n')
  expect(seen.last().header('service-workflow-createdat')).toBe(String(workflow.getRun('wfr_n').createdAt))
  expect(seen.last().header('x')).toBe('y')
  expect(seen.last().json()).toHaveLength(3)
  const end = await sandbox.fetch(`${urls.queue}/v2/workflows/runs/wfr_n?cancel=false`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${tokens.queue}` },
    body: '"done"',
  })
  expect([end.status, workflow.getRun('wfr_n').result]).toEqual([200, 'done'])
})
