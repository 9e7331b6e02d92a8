import { connect as dial, type Socket } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { createSandbox, fault } from '../../../src/index.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'

let server: StuntdoubleServer
const start = async (options: ServerOptions = {}): Promise<StuntdoubleServer> => {
  server = await startServer({ port: 0, clock: 'manual', ...options })
  return server
}
afterEach(() => server?.close())

/** Sends a part of a request. */
async function halfSent(head: string, body: string, tenant = 'main'): Promise<Socket> {
  const { tokens } = server.tenant(tenant)
  const socket = dial(server.port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(
    `POST /${tenant}/store HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${tokens.store}\r\n${head}\r\n\r\n${body}`,
  )
  // Another request was served, so the server has received everything before it.
  expect((await fetch(`${server.origin}/_health`)).status).toBe(200)
  return socket
}

describe('an incomplete request', () => {
  test.each([
    ['with a length', 'content-length: 100', '["SET",'],
    ['in chunks', 'transfer-encoding: chunked', '5\r\n["SET\r\n'],
    ['with "Expect: 100-continue"', 'content-length: 100\r\nexpect: 100-continue', ''],
  ])('%s does not block time, and leaves nothing when its client disconnects', async (_, head, body) => {
    await start()
    const { clock, traffic } = server.tenant('main')
    const socket = await halfSent(head, body)
    expect(clock.running).toEqual([])
    await clock.advance('1h')
    const gone = new Promise((resolve) => socket.once('close', resolve))
    socket.destroy()
    await gone
    await clock.drain()
    expect([clock.running, traffic.ofType('request')]).toEqual([[], []])
  })

  test('is served at the instant of its last byte', async () => {
    await start()
    const { clock, store } = server.tenant('main')
    const body = '["SET","k","v","EX","60"]'
    const socket = await halfSent(`content-length: ${body.length}\r\nconnection: close`, body.slice(0, 10))
    await clock.advance('1h')
    socket.end(body.slice(10))
    expect(await textOf(socket)).toContain('{"result":"OK"}')
    expect(store.run('TTL', 'k')).toBe(60)
  })

  test('has a timeout, and does not block other requests', async () => {
    await start({ limits: { requestTimeout: 200 } })
    const socket = await halfSent('content-length: 100', '["SET",')
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('blocks only the next request on its own connection', async () => {
    await start()
    const { tokens } = server.tenant('main')
    const head = `POST /main/store HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${tokens.store}\r\n`
    const socket = dial(server.port, '127.0.0.1')
    socket.write(`${head}content-length: 8\r\n\r\n["PING"]`.repeat(3))
    socket.write(`${head}content-length: 100\r\n\r\n["P`)
    let told = ''
    for await (const chunk of socket) {
      told += chunk
      if (told.split('PONG').length === 4) break
    }
    await server.tenant('main').clock.advance('1h')
    socket.destroy()
  })
})

describe('a request in the process', () => {
  test('blocks time for only some turns if its body never ends, and rejects if its body fails', async () => {
    using sandbox = createSandbox()
    const init = { method: 'POST', headers: { authorization: `Bearer ${sandbox.tokens.store}` }, duplex: 'half' }
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given
        given.enqueue(new TextEncoder().encode('["PING"'))
      },
    })
    const answered = sandbox.fetch(new Request(sandbox.urls.store, { ...init, body } as RequestInit))
    await sandbox.clock.advance('1h')
    controller!.enqueue(new TextEncoder().encode(']'))
    controller!.close()
    expect(await (await answered).json()).toEqual({ result: 'PONG' })

    const broken = new ReadableStream({ pull: (given) => given.error(new Error('the disk is gone')) })
    const rejected = sandbox.fetch(new Request(sandbox.urls.store, { ...init, body: broken } as RequestInit))
    await expect(rejected).rejects.toThrow('the disk is gone')
    await sandbox.clock.drain()
    expect(sandbox.clock.running).toEqual([])
  })

  test('is served before time advances if it is complete', async () => {
    using sandbox = createSandbox()
    const { clock, traffic, tokens, urls } = sandbox
    const headers = { authorization: `Bearer ${tokens.store}` }
    const answered = sandbox.fetch(new Request(urls.store, { method: 'POST', headers, body: '["PING"]' }))
    const begun = clock.now()
    await clock.advance('1h')
    await answered
    expect(traffic.ofType('request')[0]!.at).toBe(begun)
  })
})

describe('a request that sleeps when its sandbox ends', () => {
  test.each(['drop', 'reset', 'load'] as const)('gets an error after %s', async (how) => {
    await start()
    const sandbox = server.tenant('w1')
    const dump = sandbox.dump()
    sandbox.faults.add({ on: 'store.request', fault: fault.latency('1h') })
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const answered = fetch(sandbox.urls.store, { method: 'POST', headers, body: '["PING"]' })
    await expect.poll(() => sandbox.clock.pending.length).toBe(1)
    if (how === 'drop') server.drop('w1')
    else if (how === 'reset') sandbox.reset()
    else sandbox.load(dump)
    const answer = await answered
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { error: expect.stringContaining('reset, loaded or disposed') },
    ])
  })

  test('breaks off a body that is sent slowly', async () => {
    await start()
    const sandbox = server.tenant('w1')
    sandbox.faults.add({ on: 'store.request', fault: fault.slowBody(1) })
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const answer = await fetch(sandbox.urls.store, { method: 'POST', headers, body: '["PING"]' })
    sandbox.reset()
    await expect(answer.text()).rejects.toThrow('terminated')
  })

  test('stays pending if a delivery of the old sandbox sent it', async () => {
    using sandbox = createSandbox({ onWarning: () => {} })
    const { urls, tokens, destinations, faults, queue, clock } = sandbox
    let wasTold = false
    faults.add({ on: 'store.request', fault: fault.latency('1h') })
    destinations.on('https://shop.test/', async () => {
      await sandbox.fetch(`${urls.store}/ping`, { headers: { authorization: `Bearer ${tokens.store}` } })
      wasTold = true
      return new Response()
    })
    queue.publish({ to: 'https://shop.test/' })
    await clock.advance('1s')
    sandbox.reset()
    await sandbox.clock.advance('2h')
    expect(wasTold).toBe(false)
  })
})
