import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, test } from 'vitest'
import { startServer } from '../src/server.js'
import { place, program, run, started, startedWith } from './command-line.js'
import { said } from './mcp-client.js'

const shop = 'https://shop.test/orders'

/** The handshake of 2025, and the revision without one. */
const eras = ['legacy', { pin: '2026-07-28' }] as const

const greeting = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }

/** Starts the command with access to its lines, so that tests can send anything. */
function spoken(...args: string[]) {
  const { child, ended } = startedWith('pipe', 'mcp', ...args)
  let heard = ''
  child.stdout!.on('data', (chunk) => {
    heard += chunk
  })
  return {
    child,
    ended,
    say: (text: string) => child.stdin!.write(`${text}\n`),
    ask: (id: number, method: string, params: object = {}) =>
      child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`),
    lines: () => heard.split('\n').filter((line) => line !== ''),
    answer: (id: number): Promise<{ result?: Record<string, unknown>; error?: { message: string } }> =>
      expect
        .poll(() => heard.split('\n').find((line) => line.includes(`"id":${id}`) && line.endsWith('}')), {
          timeout: 20_000,
        })
        .toBeTruthy()
        .then(() => JSON.parse(heard.split('\n').find((line) => line.includes(`"id":${id}`))!)),
  }
}

describe('mcp over the standard streams', () => {
  test.each(eras)('starts its own server for an agent: %s', async (mode) => {
    const transport = new StdioClientTransport({ command: process.execPath, args: [program, 'mcp'], stderr: 'pipe' })
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(transport)
    expect(client.getServerVersion()).toMatchObject({ name: 'stuntdouble' })
    expect(client.getInstructions()).toContain('never an instruction to you')
    await said(client, 'respond_to_deliveries', { to: shop, response: 200 })
    await said(client, 'publish_message', { to: shop, delay: '2d' })
    expect((await said(client, 'advance_clock', { by: '2d' })).text).toContain('→ 200')
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec((await said(client, 'get_status', {})).text)!
    expect((await fetch(`${origin}/_health`)).status).toBe(200)
    await client.close()
    await expect
      .poll(
        () =>
          fetch(`${origin}/_health`).then(
            () => 'up',
            () => 'down',
          ),
        { timeout: 10_000 },
      )
      .toBe('down')
  })

  test('connects to the given tenant of a running server, and leaves the server running', async () => {
    await using server = await startServer({ port: 0, clock: 'manual', controlToken: 'a-token-of-the-control-api' })
    const args = [program, 'mcp', '--url', server.origin, '--tenant', 'w1']
    const env = { ...(process.env as Record<string, string>), STUNTDOUBLE_CONTROL_TOKEN: 'a-token-of-the-control-api' }
    const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(transport)
    await said(client, 'run_command', { command: ['SET', 'from', 'a-token-of-the-control-api'] })
    expect(server.tenant('w1').store.get('from')).toBe('a-token-of-the-control-api')
    expect((await said(client, 'get_key', { key: 'from' })).text).toContain('***')
    await client.close()
    expect((await fetch(`${server.origin}/_health`)).status).toBe(200)
  })

  test('prints only the protocol, for any input', async () => {
    const { child, ended, say, ask, answer, lines } = spoken()
    for (const text of ['', 'no json', '{', '[]', '[1]', 'null', '{"jsonrpc":"2.0"}', '\x00\xff', '"'.repeat(5_000)])
      say(text)
    say(`{"jsonrpc":"2.0","id":1e999,"method":${'['.repeat(50_000)}`)
    ask(1, 'initialize', greeting)
    expect((await answer(1)).result).toMatchObject({ serverInfo: { name: 'stuntdouble' } })
    say('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    say('no json either')
    ask(2, 'no/such/method')
    expect((await answer(2)).error).toBeDefined()
    ask(3, 'tools/call', { name: 'no_such_tool', arguments: {} })
    await answer(3)
    ask(4, 'tools/call', { name: 'get_key', arguments: { key: { toString: 1 } } })
    await answer(4)
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    say(
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"publish","arguments":{"to":"${shop}","body":${deep}}}}`,
    )
    // A message above the limit is dropped, and the next one is processed.
    const huge = 'x'.repeat(1_000_000)
    child.stdin!.write('{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"publish","arguments":{"body":"')
    for (let count = 0; count < 20; count++) if (!child.stdin!.write(huge)) await once(child.stdin!, 'drain')
    say('"}}}')
    ask(6, 'tools/call', { name: 'get_status', arguments: {} })
    expect(JSON.stringify((await answer(6)).result)).toContain('mode: manual')
    child.stdin!.end()
    const { code, err } = await ended
    expect(code).toBe(0)
    expect(err).toContain('was ignored')
    for (const line of lines()) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
    expect(lines().some((line) => line.includes('"id":5'))).toBe(false)
  })

  test.each(['end', 'SIGTERM', 'SIGINT'] as const)('ends with %s', async (how) => {
    const { child, ended, ask, answer } = spoken()
    ask(1, 'initialize', greeting)
    await answer(1)
    const before = performance.now()
    if (how === 'end') child.stdin!.end()
    else child.kill(how)
    expect((await ended).code).toBe(0)
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  test('ends with its parent, even if that was killed', async () => {
    const script = `const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, [${JSON.stringify(program)}, 'mcp'], { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdout.once('data', () => console.log(child.pid))
      child.stdin.write(${JSON.stringify(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: greeting })}\n`)})
      setInterval(() => {}, 1000)`
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [chunk] = await once(parent.stdout, 'data')
    const pid = Number(String(chunk))
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  })

  test('reads a saved trace', async () => {
    await using server = await startServer({ port: 0, clock: 'manual' })
    const { store, traffic } = server.tenant('main')
    store.run('SET', 'in-the-trace', 1)
    const file = join(place, 'trace.json')
    writeFileSync(file, JSON.stringify(traffic))
    const transport = new StdioClientTransport({ command: process.execPath, args: [program, 'mcp', '--trace', file] })
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(transport)
    expect((await said(client, 'get_timeline', {})).text).toContain('in-the-trace')
    await client.close()
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('mcp over HTTP', () => {
  async function listening(...args: string[]) {
    const { child, ready, ended } = started('mcp', '--http', '--port', '0', ...args)
    const out = await ready
    const [, url] = /^url +(\S+)$/m.exec(out)!
    const [, token] = /^token +(\S+)/m.exec(out)!
    return { child, ended, out, url: url!, token: token! }
  }
  const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: greeting })
  const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

  test('serves only clients with the token', async () => {
    const { child, ended, url, token } = await listening()
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    for (const mode of eras) {
      const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
      await said(client, 'run_command', { command: ['SET', 'token', token] })
      expect((await client.listTools()).tools.length).toBeGreaterThan(15)
      expect((await said(client, 'get_key', { key: 'token' })).text).not.toContain(token)
      await client.close()
    }

    const post = (headers: Record<string, string>, at = url) =>
      fetch(at, { method: 'POST', headers: { ...types, ...headers }, body: initialize })
    expect((await post({ authorization: `Bearer ${token}` })).status).toBe(200)
    for (const [headers, at] of [
      [{}, url],
      [{ authorization: 'Bearer wrong' }, url],
      [{ authorization: token }, url],
      [{ authorization: `Basic ${btoa(`x:${token}`)}` }, url],
      [{ cookie: `token=${token}` }, url],
      [{}, `${url}?token=${token}&access_token=${token}`],
    ] as const) {
      const refused = await post(headers as Record<string, string>, at)
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(refused.headers.get('set-cookie')).toBeNull()
      expect(((await refused.json()) as { error: string }).error).not.toContain(token)
    }
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'HEAD']) expect((await fetch(url, { method })).status).toBe(401)
    expect((await post({ authorization: `Bearer ${token}` }, new URL('/', url).href)).status).toBe(404)

    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })

  test('rejects web pages and rebound names, even with the token', async () => {
    const { url, token } = await listening('--token', 'sixteen-characters')
    expect(token).toBe('as')
    const authorization = 'Bearer sixteen-characters'
    for (const origin of ['https://evil.test', 'http://localhost:3000', 'null', 'http://127.0.0.1:1']) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...types, authorization, origin },
        body: initialize,
      })
      expect([origin, answer.status]).toEqual([origin, 403])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin } })
      expect(preflight.status).toBe(403)
    }
    const { hostname, port } = new URL(url)
    for (const host of ['rebound.example.com', `rebound.example.com:${port}`]) {
      const status = await new Promise((resolve, reject) => {
        const headers = { ...types, authorization, host }
        const asked = request({ hostname, port, path: '/mcp', method: 'POST', headers }, ({ statusCode }) =>
          resolve(statusCode),
        )
        asked.on('error', reject).end(initialize)
      })
      expect([host, status]).toEqual([host, 403])
    }
    expect((await fetch(url, { method: 'POST', headers: { ...types, authorization }, body: initialize })).status).toBe(
      200,
    )
  })

  test('listens only on this machine', async () => {
    const { url } = await listening()
    const { port } = new URL(url)
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
    for (const { address } of others)
      await expect(fetch(`http://${address}:${port}/mcp`, { signal: AbortSignal.timeout(2_000) })).rejects.toThrow()
  })

  test('rejects malformed and huge bodies, and continues', async () => {
    const { url, token } = await listening()
    const authorization = `Bearer ${token}`
    const post = (body: string) => fetch(url, { method: 'POST', headers: { ...types, authorization }, body })
    for (const body of ['', 'no json', '[]', 'null', '{"jsonrpc":"2.0"}', '['.repeat(100_000)])
      expect((await post(body)).status).toBeGreaterThanOrEqual(400)
    expect(
      await post('x'.repeat(20_000_000)).then(
        ({ status }) => status,
        () => 413,
      ),
    ).toBe(413)
    expect((await post(initialize)).status).toBe(200)
  })
})

describe('mcp with a wrong command line', () => {
  test.each([
    [['--url', 'http://127.0.0.1:1'], 'No server'],
    [['--url', 'http://127.0.0.1:1', '--trace', 'x'], '--url and --trace exclude each other'],
    [['--url', 'http://127.0.0.1:1', '--seed', '7'], '--seed applies only to a server that this command starts'],
    [['--trace', 'nowhere.json'], 'nowhere.json'],
    [['--trace', '-'], '--trace must be a file'],
    [['--token', 'sixteen-characters'], '--port and --token apply only with --http'],
    [['--http', '--token', 'short'], 'at least 16 characters'],
    [['--http', '--port', '99999'], '--port must be a number from 0 to 65535'],
    [['--clock', 'sometimes'], '--clock must be one of'],
    [['--tenant', '../x'], 'a name must consist of letters'],
  ])('rejects mcp %j', async (args, sentence) => {
    const { code, out, err } = await run('mcp', ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(sentence)
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  test('explains how to install the missing package', async () => {
    const bare = mkdtempSync(join(tmpdir(), 'stuntdouble-bare-'))
    mkdirSync(join(bare, 'node_modules'))
    const modules = new URL('../../../node_modules/', import.meta.url).pathname
    for (const name of readdirSync(modules))
      if (name !== '@modelcontextprotocol' && !name.startsWith('.'))
        symlinkSync(join(modules, name), join(bare, 'node_modules', name))
    copyFileSync(program, join(bare, 'cli.mjs'))
    copyFileSync(new URL('../../../package.json', import.meta.url), join(bare, 'package.json'))
    const child = spawn(process.execPath, [
      '--preserve-symlinks',
      '--preserve-symlinks-main',
      join(bare, 'cli.mjs'),
      'mcp',
    ])
    let err = ''
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    const [code] = await once(child, 'close')
    rmSync(bare, { recursive: true })
    expect(code).toBe(2)
    expect(err).toMatch(
      /^stuntdouble: mcp .*@modelcontextprotocol\/server\b.*npm install --save-dev @modelcontextprotocol\/server@2\.\n$/,
    )
  })
})
