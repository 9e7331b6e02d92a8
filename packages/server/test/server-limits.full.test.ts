import { connect as dial, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '../../../src/client/connect.js'
import { type RequestLogEntry, type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'

let server: StuntdoubleServer | undefined
const start = async (options: ServerOptions = {}): Promise<StuntdoubleServer> => {
  server = await startServer({ port: 0, clock: 'manual', ...options })
  return server
}
afterEach(async () => {
  await server?.close()
  server = undefined
})

const store = (running: StuntdoubleServer, tenant: string, init: RequestInit & { path?: string } = {}) => {
  const { urls, tokens } = running.tenant(tenant)
  const headers = { authorization: `Bearer ${tokens.store}` }
  return fetch(urls.store + (init.path ?? ''), { method: 'POST', headers, ...init })
}

describe('limits', () => {
  test('a body with a length above the limit is rejected before it is read', async () => {
    const running = await start({ limits: { maxBodyBytes: 1_000 } })
    const answer = await store(running, 'main', { body: JSON.stringify(['SET', 'k', 'v'.repeat(2_000)]) })
    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('at most 1000 bytes')])
    expect(await (await store(running, 'main', { body: '["PING"]' })).json()).toEqual({ result: 'PONG' })
  })

  test('a body that grows above the limit is rejected', async () => {
    const running = await start({ limits: { maxBodyBytes: 1_000 } })
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(400))
      },
    })
    const answer = await store(running, 'main', { body, duplex: 'half' } as RequestInit).catch(() => undefined)
    // A client that is still sending may see the response or the closed connection.
    if (answer !== undefined) expect(answer.status).toBe(413)
    expect((await store(running, 'main', { body: '["PING"]' })).status).toBe(200)
  })

  test('one stream above the limit is rejected until another one is closed', async () => {
    const running = await start({ limits: { maxStreams: 1 } })
    const client = new AbortController()
    const open = await store(running, 'main', { path: '/subscribe/news', signal: client.signal })
    expect(open.status).toBe(200)
    const refused = await store(running, 'main', { path: '/subscribe/news' })
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('1 open event streams')])
    client.abort()
    await expect
      .poll(async () => {
        const next = new AbortController()
        const { status } = await store(running, 'main', { path: '/subscribe/news', signal: next.signal })
        next.abort()
        return status
      })
      .toBe(200)
  })

  test('one tenant above the limit is rejected until another one is dropped', async () => {
    const running = await start({ limits: { maxTenants: 2 } })
    const { tokens } = running.tenant('w1')
    running.tenant('w2')
    const ping = () => fetch(`${running.origin}/w3/store/ping?_token=${tokens.store}`)
    const refused = await ping()
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('The server has 2 tenants')])
    // The client made no mistake, so the control API returns the same status.
    const ordered = await fetch(`${running.origin}/_control/w3/clock/advance`, { method: 'POST', body: '{"by":"1s"}' })
    expect([ordered.status, await ordered.json()]).toEqual([503, { error: expect.stringContaining('2 tenants') }])
    await fetch(`${running.origin}/_control/w1`, { method: 'DELETE' })
    expect((await ping()).status).toBe(200)
    expect(running.tenants).toEqual(['w2', 'w3'])
  })

  test('the traffic log of a tenant is limited', async () => {
    const running = await start({ limits: { maxTrafficEntries: 10 } })
    for (let n = 0; n < 30; n++) running.tenant('main').store.run('SET', 'k', n)
    expect(running.tenant('main').traffic.size).toBeLessThanOrEqual(11)
  })
})

describe('the control API', () => {
  test('needs no token on a loopback address', async () => {
    const running = await start()
    expect(running.controlToken).toBeUndefined()
    expect((await fetch(`${running.origin}/_control`)).status).toBe(200)
  })

  test('needs a token on other addresses, which is random by default', async () => {
    const running = await start({ host: '0.0.0.0' })
    expect(running.controlToken).toMatch(/^[\w-]{32}$/)
    for (const authorization of [undefined, 'Bearer wrong', `Basic ${running.controlToken}`]) {
      const answer = await fetch(`${running.origin}/_control/main/reset`, {
        method: 'POST',
        ...(authorization !== undefined && { headers: { authorization } }),
      })
      expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('requires its token')])
    }
    expect(running.tenants).toEqual([])
    const sandbox = await connect(running.origin, { controlToken: running.controlToken! })
    await sandbox.clock.advance('1s')
  })

  test('has a token that the services do not need', async () => {
    const running = await start({ controlToken: 'secret' })
    expect((await store(running, 'main', { body: '["PING"]' })).status).toBe(200)
    await expect(connect(running.origin)).rejects.toThrow('requires its token')
  })
})

test('GET /_health returns "ok" and the number of tenants', async () => {
  const running = await start()
  running.tenant('w1')
  const answer = await fetch(`${running.origin}/_health`)
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok', tenants: 1 }])
})

test('a server listens on both loopback addresses with the same port', async () => {
  const running = await start()
  const { store: token } = running.tenant('main').tokens
  const hosts = ['127.0.0.1', ...((await hasIpv6()) ? ['[::1]'] : []), 'localhost']
  for (const host of hosts) {
    const answer = await fetch(`http://${host}:${running.port}/main/store/ping?_token=${token}`)
    expect([host, await answer.json()]).toEqual([host, { result: 'PONG' }])
  }
})

function hasIpv6(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial({ host: '::1', port: 1 })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
    socket.on('connect', () => resolve(true))
  })
}

describe('production', () => {
  const env: Record<string, string | undefined> = process.env
  const before = env.NODE_ENV
  afterEach(() => {
    if (before === undefined) delete env.NODE_ENV
    else env.NODE_ENV = before
  })

  test('is rejected unless it is allowed', async () => {
    env.NODE_ENV = 'production'
    await expect(start()).rejects.toThrow('NODE_ENV must not be production')
    expect((await start({ allowProduction: true })).port).toBeGreaterThan(0)
  })
})

test('onRequest receives requests without secrets', async () => {
  const lines: RequestLogEntry[] = []
  const running = await start({ onRequest: (line) => lines.push(line) })
  const { store: token } = running.tenant('main').tokens
  await (await fetch(`${running.origin}/main/store/get/k?_token=${encodeURIComponent(token)}`)).text()
  await (await fetch(`${running.origin}/nobody`)).text()
  await expect.poll(() => lines.length).toBe(2)
  expect(lines).toMatchObject([
    { method: 'GET', path: '/main/store/get/k?_token=***', status: 200 },
    { method: 'GET', path: '/nobody', status: 404 },
  ])
  expect(JSON.stringify(lines)).not.toContain(token)
})

describe('closing', () => {
  test('close() ends within its grace period although a client keeps its connection and request open', async () => {
    const running = await start()
    const slow: Socket = dial(running.port, '127.0.0.1')
    await new Promise((resolve) => slow.once('connect', resolve))
    slow.on('error', () => undefined)
    slow.write('POST /main/store HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n[')
    await store(running, 'main', { body: '["PING"]' })
    await running.close()
    await expect(fetch(`${running.origin}/_health`)).rejects.toThrow()
    slow.destroy()
  })

  test('close() can be called twice', async () => {
    const running = await start()
    await Promise.all([running.close(), running.close()])
  })
})
