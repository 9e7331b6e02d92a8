import { spawn } from 'node:child_process'
import { createConnection } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type StuntdoubleServer, startServer } from '../src/server.js'
import { program, run, started } from './command-line.js'

let server: StuntdoubleServer
beforeEach(async () => {
  server = await startServer({ port: 0, clock: 'manual', startAt: '2030-01-01T09:00:00Z' })
})
afterEach(() => server.close())

const shop = 'https://shop.test/orders'
const tail = (...args: string[]) => started('tail', '--url', server.origin, ...args)

describe('tail', () => {
  test('prints entries as they happen, below their causes', async () => {
    const { store, queue, destinations, clock } = server.tenant('main')
    store.run('SET', 'before', '1')
    const { printed, child, ended } = tail()
    await printed(/SET before 1 \(by the test\) → OK/)
    destinations.script(shop, [{ kind: 'status', status: 503 }])
    destinations.respond(shop, 200)
    queue.publish({ to: shop })
    await clock.drain()
    await printed(/attempt 2 of 4.*→ 200/)
    child.kill('SIGINT')
    const { code, out, err } = await ended
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n')[0]).toBe('2030-01-01')
    const [clockLine, first, second] = ['clock.drain', 'attempt 1 of 4', 'attempt 2 of 4'].map((text) =>
      out.split('\n').find((line) => line.includes(text)),
    )
    expect(clockLine).toBeDefined()
    expect(first).toMatch(/^ +#\d+ {2}09:00:00\.000 .*→ 503/)
    expect(second).toMatch(/^ +#\d+ {2}09:00:12\.000 {2}\+12s .*→ 200/)
    expect(first!.indexOf('attempt')).toBe(second!.indexOf('attempt'))
    // Without a terminal there are no colors.
    expect(out).not.toContain('\x1b')
  })

  test('prints an open entry again at its end', async () => {
    const { queue, destinations, clock } = server.tenant('main')
    let answer = (_: Response): void => {}
    destinations.on(shop, () => new Promise((resolve) => (answer = resolve)))
    const { printed, child, ended } = tail('--type', 'attempt')
    queue.publish({ to: shop })
    const moved = clock.advance('1s')
    await printed(/attempt 1 of 4/)
    answer(new Response())
    await moved
    await printed(/attempt 1 of 4.*→ 200/)
    child.kill('SIGTERM')
    const { out } = await ended
    expect(out.match(/attempt 1 of 4/g)).toHaveLength(2)
    expect(out).not.toContain('published')
  })

  test('continues after a reset', async () => {
    const sandbox = server.tenant('main')
    sandbox.store.run('SET', 'old', '1')
    const { printed, child, ended } = tail()
    await printed(/SET old 1/)
    sandbox.reset()
    sandbox.store.run('SET', 'new', '1')
    await printed(/the sandbox was reset —\n2030-01-01\n +#\d+ .*SET new 1/)
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })

  test('prints what a loaded sandbox contains', async () => {
    const sandbox = server.tenant('main')
    sandbox.queue.upsertQueue('orders', { parallelism: 2 })
    const { printed, child, ended } = tail()
    await printed(/queue orders/)
    sandbox.load(sandbox.dump())
    await printed(/the sandbox was loaded —\n[\s\S]*store store.*loaded\n[\s\S]*queue orders/)
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })

  test('--once prints the last entries of a tenant, filtered by type', async () => {
    const { store } = server.tenant('w1')
    for (const n of [1, 2, 3]) store.run('SET', 'k', n)
    const once = (...args: string[]) => run('tail', '--url', server.origin, '--tenant', 'w1', '--once', ...args)
    const { code, out } = await once('--lines', 'all')
    expect([code, out.match(/SET k \d/g)]).toEqual([0, ['SET k 1', 'SET k 2', 'SET k 3']])
    expect((await once('--lines', '2')).out.match(/SET k \d/g)).toEqual(['SET k 3'])
    expect(await once('--type', 'attempt')).toMatchObject({ code: 0, out: '' })
  })

  test('ends with exit code 1 and a message when the server ends', async () => {
    const { printed, ended } = tail('--type', 'command')
    server.tenant('main').store.run('SET', 'k', 'v')
    await printed(/SET k v/)
    await server.close()
    expect(await ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^stuntdouble: the server at .* has ended/),
    })
  })

  test('ends when its reader closes the pipe', async () => {
    server.tenant('main').store.run('SET', 'k', 'v')
    const shell = spawn('sh', ['-c', `"${process.execPath}" "${program}" tail --url ${server.origin} | head -n 1`])
    shell.stdout.setEncoding('utf8')
    let out = ''
    const first = new Promise<void>((resolve) => {
      shell.stdout.on('data', (text: string) => {
        out += text
        resolve()
      })
    })
    const ended = new Promise((resolve) => shell.on('close', resolve))
    await first
    // The next line breaks the pipe.
    server.tenant('main').store.run('SET', 'k', 'w')
    await ended
    expect(out).toBe('2030-01-01\n')
  })

  test.each([
    [['--type', 'attempts'], /--type: there is no entry type "attempts"\. Use request, command, /],
    [['--lines', 'many'], /--lines must be a whole number or all \(got "many"\)\./],
  ])('rejects %j', async (args, sentence) => {
    const { code, out, err } = await run('tail', '--url', server.origin, ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
  })
})

test('GET /traffic/stream drops a slow reader, which neither blocks the server nor fills its memory', async () => {
  const { store } = server.tenant('main')
  const { port } = server
  const socket = createConnection(port, '127.0.0.1')
  socket.pause()
  socket.write(`GET /_control/main/traffic/stream HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
  await expect.poll(async () => (await fetch(`${server.origin}/_health`)).status).toBe(200)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (let n = 0; n < 60_000; n++) {
    store.run('SET', 'k', 'x'.repeat(1000))
    if (n % 5000 === 0) await new Promise(setImmediate)
  }
  // The reader notices that it was dropped when it reads again.
  socket.resume()
  await closed
  expect((await fetch(`${server.origin}/_health`)).status).toBe(200)
})
