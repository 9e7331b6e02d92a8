import { Client } from '@upstash/workflow'
import { serve as serveExpress } from '@upstash/workflow/express'
import { servePagesRouter } from '@upstash/workflow/nextjs'
import express from 'express'
import type { NextApiHandler } from 'next'
import { apiResolver } from 'next/dist/server/api-utils/node/api-resolver.js'
import { createSandbox } from 'stuntdouble'
import { type NodeListener, nodeListener } from 'stuntdouble/node'
import { afterEach, expect, test, vi } from 'vitest'

const url = 'https://shop.test/api/workflow?shop=7'

afterEach(() => void vi.unstubAllEnvs())

const steps = async (context: {
  readonly url: string
  readonly requestPayload: unknown
  run: (name: string, body: () => unknown) => Promise<unknown>
  sleep: (name: string, seconds: number) => Promise<void>
}) => {
  const paid = await context.run('charge', () => context.requestPayload)
  await context.sleep('cool off', 3600)
  return await context.run('ship', () => ({ paid, url: context.url }))
}

/** Runs an API route as the server of Next.js does. */
const page =
  (handler: NextApiHandler): NodeListener =>
  (request, response) => {
    request.headers['x-forwarded-proto'] ??= request.socket.encrypted ? 'https' : 'http'
    const preview = { previewModeId: '', previewModeEncryptionKey: '', previewModeSigningKey: '' }
    const context = { ...preview, hostname: 'shop.test', port: 443, projectDir: '.' }
    return apiResolver(request, response, {}, handler, context as never, true)
  }

const apps: Readonly<Record<string, () => NodeListener>> = {
  Express: () => {
    const app = express()
    app.use(express.json())
    app.use('/api/workflow', serveExpress(steps as never))
    return app
  },
  'the Pages Router': () => page(servePagesRouter(steps as never).handler as NextApiHandler),
}

test.each(Object.keys(apps))('each step of a workflow in %s goes to the URL of the first', async (name) => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  for (const [key, value] of Object.entries(sandbox.env)) vi.stubEnv(key, value)
  vi.stubGlobal('fetch', sandbox.fetch)
  try {
    sandbox.destinations.on('https://shop.test/*', nodeListener(apps[name]!()))
    const { workflowRunId } = await new Client({}).trigger({ url, body: { id: 42 }, retries: 0 })
    await sandbox.clock.drain()
    expect(sandbox.destinations.errors).toEqual([])
    expect(sandbox.workflow.getRun(workflowRunId)).toMatchObject({
      state: 'RUN_SUCCESS',
      result: { paid: { id: 42 }, url },
    })
    expect(new Set(sandbox.traffic.ofType('attempt').map((attempt) => attempt.url))).toEqual(new Set([url]))
    expect(sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome!.status)).not.toContain(500)
  } finally {
    vi.unstubAllGlobals()
  }
})

test('a port in the URL stays in the URL of the next step', async () => {
  const sandbox = createSandbox()
  for (const [key, value] of Object.entries(sandbox.env)) vi.stubEnv(key, value)
  vi.stubGlobal('fetch', sandbox.fetch)
  try {
    const local = 'http://localhost:3000/api/workflow'
    sandbox.destinations.on('http://localhost:3000/*', nodeListener(apps.Express!()))
    await new Client({}).trigger({ url: local, body: { id: 1 } })
    await sandbox.clock.drain()
    expect(sandbox.workflow.runs[0]).toMatchObject({ state: 'RUN_SUCCESS', result: { url: local } })
  } finally {
    vi.unstubAllGlobals()
  }
})
