import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { createSandbox } from 'stuntdouble'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { latin1 } from '../../../../src/kernel/bytes.js'
import { findRedisServer } from '../../../../test/support/redis-server.js'
import { RespClient } from '../../../../test/support/resp.js'
import { Signer } from '../../src/cluster/node-signature.js'
import { passHeader } from '../../src/cluster/pass-header.js'
import { type Engines, startEngines } from './engines.js'
import { base, builtProgram, clusterSecret, type NodeProcess, type Program, refusedNode, startNode } from './nodes.js'

const storeToken = 'a-store-token'
const queueToken = 'a-queue-token'
const scenario = new URL('../../scenarios/lost-acknowledgements.yaml', import.meta.url).pathname
const words = ['--store-token', storeToken, '--queue-token', queueToken, '--cluster-lease', '1500']
const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })

interface Description {
  readonly node: string
  readonly nodes: readonly { readonly id: string; readonly address: string; readonly isAlive: boolean }[]
  readonly tenants: readonly { readonly name: string; readonly owner?: string }[]
}

const post = async (
  node: NodeProcess,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(node.origin + path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
const command = async (node: NodeProcess, tenant: string, ...words: string[]): Promise<unknown> => {
  const response = await post(node, `/${tenant}/store`, words, bearer(storeToken))
  const text = await response.text()
  return response.status === 200 ? (JSON.parse(text) as { result: unknown }).result : `${response.status} ${text}`
}
const order = async <T>(node: NodeProcess, path: string, body?: unknown): Promise<T> => {
  const response = await fetch(
    `${node.origin}/_control${path}`,
    body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
  )
  return (await response.json()) as T
}
const ownerOf = async (nodes: readonly NodeProcess[], tenant: string): Promise<NodeProcess> => {
  const { tenants } = await order<Description>(nodes[0]!, '/cluster')
  const owner = tenants.find(({ name }) => name === tenant)?.owner
  return nodes.find(({ id }) => id === owner) ?? expect.fail(`${tenant} has no owner among them: ${owner}`)
}
const noOwnerOf = async (nodes: readonly NodeProcess[], tenant: string): Promise<NodeProcess> => {
  const owner = await ownerOf(nodes, tenant)
  return nodes.find((node) => node !== owner)!
}
/** Repeats a check until it passes, because a machine may be busy. */
const eventually = async (check: () => Promise<void>): Promise<void> => {
  for (let tries = 0; ; tries++) {
    try {
      return await check()
    } catch (error) {
      if (tries === 100) throw error
      await wait(50)
    }
  }
}

let program: Program
const isMissing = findRedisServer() === undefined
beforeAll(async () => {
  if (!isMissing) program = await builtProgram()
})
afterAll(() => program?.remove())

describe.skipIf(isMissing)('three nodes with one Redis', () => {
  let engines: Engines
  let nodes: NodeProcess[]
  beforeAll(async () => {
    engines = await startEngines({ masters: 1 })
    nodes = await Promise.all([0, 1, 2].map(() => startNode({ program, engine: engines.url, words })))
  })
  afterAll(async () => {
    await Promise.all(nodes?.map((node) => node.end('SIGKILL')) ?? [])
    await engines?.close()
  })

  test('serve every request on any node, and return the owners', async () => {
    for (const [index, node] of nodes.entries()) expect(await command(node, 'w1', 'INCR', 'count')).toBe(index + 1)
    const owner = await ownerOf(nodes, 'w1')
    for (const node of nodes) {
      const description = await order<Description>(node, '/cluster')
      expect(description.node).toBe(node.id)
      expect(await (await fetch(`${node.origin}/_health`)).json()).toMatchObject({ status: 'ok', node: node.id })
      expect(
        description.nodes
          .filter(({ isAlive }) => isAlive)
          .map(({ id, address }) => `${id} ${address}`)
          .sort(),
      ).toEqual(nodes.map(({ id, origin }) => `${id} ${origin}`).sort())
      expect(description.tenants).toContainEqual({ name: 'w1', owner: owner.id })
      expect((await order<{ tenants: string[] }>(node, '')).tenants).toContain('w1')
      const { urls } = await order<{ urls: { store: string } }>(node, '/w1')
      expect(urls.store).toBe(`${base}/w1/store`)
    }
  })

  test('serve the store of main at the root of any node, as at its own path', async () => {
    const sent = async ({ origin }: NodeProcess, path: string, body?: string): Promise<[number, string]> => {
      const init = { headers: bearer(storeToken), ...(body !== undefined && { method: 'POST', body }) }
      const response = await fetch(origin + path, init)
      return [response.status, await response.text()]
    }
    for (const [index, node] of nodes.entries()) {
      expect(await sent(node, '/', '["INCR","at-root"]')).toEqual([200, `{"result":${index + 1}}`])
      expect(await sent(node, '/main/store/get/at-root')).toEqual(await sent(node, '/get/at-root'))
      expect(await sent(node, '/pipeline', '[["GET","at-root"],["PING"]]')).toEqual([
        200,
        `[{"result":"${index + 1}"},{"result":"PONG"}]`,
      ])
      const denied = await fetch(`${node.origin}/get/at-root`, { headers: bearer('no') })
      expect([denied.status, await denied.text()]).toEqual([401, expect.stringContaining('WRONGPASS')])
      expect((await fetch(`${node.origin}/_control/get`)).status).toBe(400)
    }
    // One node owns main, so the others have forwarded their requests.
    expect((await order<Description>(nodes[0]!, '/cluster')).tenants).toContainEqual({
      name: 'main',
      owner: (await ownerOf(nodes, 'main')).id,
    })
  })

  test('accept a body in chunks with a trailer on any node', async () => {
    await command(nodes[0]!, 'trailed', 'SET', 'key', 'value')
    for (const { origin } of nodes) {
      const headers = { ...bearer(storeToken), 'transfer-encoding': 'chunked', trailer: 'x-sum' }
      const said = await new Promise<string>((resolve, reject) => {
        const sent = request(`${origin}/trailed/store`, { method: 'POST', headers }, (response) => {
          let body = ''
          response.on('data', (part) => {
            body += part
          })
          response.on('end', () => resolve(`${response.statusCode} ${body}`))
        })
        sent.on('error', reject)
        sent.addTrailers({ 'x-sum': '1' })
        sent.end('["GET","key"]')
      })
      expect(said).toBe('200 {"result":"value"}')
    }
  })

  test('return bytes, headers and statuses unchanged', async () => {
    const value = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte))
    await fetch(`${nodes[0]!.origin}/w2/store/set/bytes`, { method: 'POST', headers: bearer(storeToken), body: value })
    const told = async ({ origin }: NodeProcess, token: string): Promise<object> => {
      const response = await fetch(`${origin}/w2/store/get/bytes`, {
        headers: { ...bearer(token), 'upstash-encoding': 'base64' },
      })
      const headers = [...response.headers].filter(([name]) => name !== 'date' && name !== 'keep-alive')
      return { status: response.status, headers, body: await response.json() }
    }
    const good = await Promise.all(nodes.map((node) => told(node, storeToken)))
    expect(good[0]).toMatchObject({ status: 200, body: { result: value.toString('base64') } })
    expect(good).toEqual([good[0], good[0], good[0]])
    const bad = await Promise.all(nodes.map((node) => told(node, 'x')))
    expect(bad[0]).toMatchObject({ status: 401 })
    expect(bad).toEqual([bad[0], bad[0], bad[0]])
  })

  test('serve a stream on any node, and its owner notices when the client disconnects', async () => {
    await command(nodes[0]!, 'w3', 'PING')
    const other = await noOwnerOf(nodes, 'w3')
    const stop = new AbortController()
    const response = await fetch(`${other.origin}/w3/store/subscribe/news`, {
      headers: bearer(storeToken),
      signal: stop.signal,
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toMatch(/subscribe,news,1/)
    for (const [index, node] of nodes.entries())
      expect(await command(node, 'w3', 'PUBLISH', 'news', `extra ${index}`)).toBe(1)
    let heard = ''
    while (!heard.includes('extra 2')) heard += (await reader.read()).value
    expect(heard.match(/message,news,extra \d/g)).toEqual([0, 1, 2].map((index) => `message,news,extra ${index}`))
    stop.abort()
    await reader.cancel().catch(() => undefined)
    await eventually(async () => expect(await command(nodes[0]!, 'w3', 'PUBLISH', 'news', 'nobody')).toBe(0))
  })

  test('break the connection of a client of any node when a fault does', async () => {
    await order(nodes[0]!, '/w4/faults', { rules: { on: 'store.request', fault: { kind: 'reset' } } })
    for (const node of nodes) {
      const broken = await command(node, 'w4', 'PING').catch(
        (error: Error) => (error.cause as NodeJS.ErrnoException).code,
      )
      expect(broken).toMatch(/ECONNRESET|UND_ERR_SOCKET/)
    }
  })

  test('accept a forwarded request only with a signature, once and on one node', async () => {
    await command(nodes[0]!, 'w5', 'SET', 'count', '0')
    const owner = await ownerOf(nodes, 'w5')
    const other = nodes.find((node) => node !== owner)!
    const send = (node: NodeProcess, signature: string, target = '/w5/store/incr/count'): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { ...bearer(storeToken), host: 'lb.test', [passHeader]: signature }
        const sent = request(node.origin + target, { headers }, (response) =>
          resolve(response.resume().statusCode ?? 0),
        )
        sent.on('error', reject).end()
      })
    const passage = {
      method: 'GET',
      target: '/w5/store/incr/count',
      headers: Object.entries({ ...bearer(storeToken), host: 'lb.test' }),
      body: latin1(''),
    }
    const signer = new Signer(clusterSecret, 'a test', Date.now)
    const stranger = new Signer('another secret of 16 chars', 'a test', Date.now)
    const late = new Signer(clusterSecret, 'a test', () => Date.now() - 61_000)
    expect(await send(owner, 'I am a node')).toBe(401)
    expect(await send(owner, stranger.sign(passage, owner.id))).toBe(401)
    expect(await send(owner, late.sign(passage, owner.id))).toBe(401)
    expect(await send(owner, signer.sign(passage, other.id))).toBe(401)
    expect(await send(owner, signer.sign(passage, owner.id), '/w5/store/incr/count?x')).toBe(401)
    const good = signer.sign(passage, owner.id)
    expect(await send(owner, good)).toBe(200)
    expect(await send(owner, good)).toBe(401)
    expect(await send(other, signer.sign(passage, other.id))).toBe(421)
    expect(await command(other, 'w5', 'GET', 'count')).toBe('1')
  })

  test('check an unsigned forwarded request before its body arrives', async () => {
    const early = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = request(`${nodes[0]!.origin}/_control/w5/clock/advance`, {
          method: 'POST',
          headers: { [passHeader]: 'a;b;c;d;e;f;g', 'content-length': '1000000', ...headers },
        })
        sent.on('response', (response) => {
          resolve(response.statusCode ?? 0)
          sent.destroy()
        })
        sent.on('error', reject).write('[')
      })
    expect(await early({})).toBe(401)
    expect(await early({ host: 'evil.example' })).toBe(403)
    expect(await early({ origin: 'https://evil.example' })).toBe(403)
  })

  test('drop a tenant for all nodes, and create it again', async () => {
    await command(nodes[0]!, 'w6', 'SET', 'a', '1')
    const other = await noOwnerOf(nodes, 'w6')
    expect(await (await fetch(`${other.origin}/_control/w6`, { method: 'DELETE' })).json()).toEqual({ dropped: true })
    expect((await order<{ tenants: string[] }>(nodes[0]!, '')).tenants).not.toContain('w6')
    for (const node of nodes) expect(await command(node, 'w6', 'GET', 'a')).toBeNull()
  })

  test('reject a fork, and do not create a tenant for a page of another site', async () => {
    await command(nodes[0]!, 'w7', 'PING')
    const forked = await order<{ error: string }>(nodes[0]!, '/w7/fork', {})
    expect(forked.error).toMatch(/server without --cluster, and fork/)
    const page = await post(nodes[1]!, '/nobody/store', ['PING'], {
      ...bearer(storeToken),
      origin: 'http://evil.example',
    })
    expect(page.status).toBe(403)
    expect(await command(nodes[0]!, 'cluster', 'PING')).toMatch(/^400 .*Use another name/)
    expect((await order<{ tenants: string[] }>(nodes[0]!, '')).tenants).not.toContain('nobody')
  })

  test('reject a node with other options, and name them', async () => {
    const { code, said } = await refusedNode({
      program,
      engine: engines.url,
      words: [...words, '--cluster-public-url', base, '--seed', '7'],
    })
    expect(said).toMatch(/seed must be the same/)
    expect(code).toBe(2)
    const elsewhere = await refusedNode({ program, engine: engines.url, words })
    expect(elsewhere.said).toMatch(/--cluster-public-url .* must be the same/)
    const stranger = await refusedNode({
      program,
      engine: engines.url,
      words: [...words, '--cluster-public-url', base],
      env: { STUNTDOUBLE_CLUSTER_SECRET: 'another secret of 16 chars' },
    })
    expect(stranger.said).toMatch(/STUNTDOUBLE_CLUSTER_SECRET .*must be the same .*same secret\.$/m)
    expect(stranger.said).not.toMatch(/drop|version|seed|another secret/)
  })
})

describe.skipIf(isMissing)('a node that ends', () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'with %s: its tenants continue at the same virtual instant with the same future',
    async (signal) => {
      const engines = await startEngines({ masters: 1 })
      const manual = [...words, '--clock', 'manual', '--deliver-to', 'none']
      const nodes = await Promise.all([0, 1].map(() => startNode({ program, engine: engines.url, words: manual })))
      const twin = createSandbox({
        name: 'w1',
        tokens: { store: storeToken, queue: queueToken },
        urls: { base: `${base}/w1` },
        dialect: 'auto',
        policy: { maxTrafficEntries: 200_000 },
      })
      try {
        const publish = async (ask: typeof fetch, origin: string, delay: string): Promise<unknown> => {
          const headers = { ...bearer(queueToken), 'upstash-delay': delay }
          const response = await ask(`${origin}/w1/queue/v2/publish/https://shop.test/orders`, {
            method: 'POST',
            headers,
            body: '{}',
          })
          return response.json()
        }
        await order(nodes[0]!, '/w1/destinations/respond', { to: 'https://shop.test/orders', response: 200 })
        twin.destinations.respond('https://shop.test/orders', 200)
        expect(await publish(fetch, nodes[0]!.origin, '10s')).toEqual(await publish(twin.fetch, base, '10s'))
        await order(nodes[0]!, '/w1/clock/advance', { by: '5s' })
        await twin.clock.advance('5s')
        const owner = await ownerOf(nodes, 'w1')
        const survivor = nodes.find((node) => node !== owner)!
        const begin = performance.now()
        expect(await owner.end(signal)).toBe(signal === 'SIGKILL' ? null : 0)
        expect((await order<{ now: string }>(survivor, '/w1')).now).toBe(new Date(twin.clock.now()).toISOString())
        console.log(`${signal}: taken over after ${Math.round(performance.now() - begin)} ms`)
        expect(await publish(fetch, survivor.origin, '20s')).toEqual(await publish(twin.fetch, base, '20s'))
        await order(survivor, '/w1/clock/advance', { by: '30s' })
        await twin.clock.advance('30s')
        const timeline = await (await fetch(`${survivor.origin}/_control/w1/traffic/timeline`)).text()
        expect(timeline.match(/200/g)?.length).toBeGreaterThanOrEqual(2)
        expect(timeline.trim()).toBe(twin.traffic.timeline().trim())
      } finally {
        await Promise.all(nodes.map((node) => node.end('SIGKILL')))
        await engines.close()
        twin.dispose()
      }
    },
  )
})

describe.skipIf(isMissing)('a node that ends under load', () => {
  test('causes no error for clients of other nodes', async () => {
    const engines = await startEngines({ masters: 1 })
    const nodes = [await startNode({ program, engine: engines.url, words })]
    try {
      for (let round = 0; round < 3; round++) {
        const ending = nodes.at(-1)!
        const survivor = await startNode({ program, engine: engines.url, words })
        nodes.push(survivor)
        // The node that ends owns the tenant.
        await command(ending, 'w1', 'SET', 'count', '0')
        const said: unknown[] = []
        let isOver = false
        const asking = Array.from({ length: 8 }, async () => {
          while (!isOver) said.push(await command(survivor, 'w1', 'INCR', 'count'))
        })
        await wait(200)
        expect(await ending.end('SIGTERM')).toBe(0)
        isOver = true
        await Promise.all(asking)
        expect(said.toSorted((one, other) => Number(one) - Number(other))).toEqual(said.map((_, index) => index + 1))
      }
    } finally {
      await Promise.all(nodes.map((node) => node.end('SIGKILL')))
      await engines.close()
    }
  })
})

describe.skipIf(isMissing)('a node that hangs', () => {
  test('does not serve a client that gave up, and its later responses are ignored', {
    timeout: 60_000,
  }, async () => {
    const engines = await startEngines({ masters: 1 })
    const nodes = await Promise.all([0, 1].map(() => startNode({ program, engine: engines.url, words })))
    try {
      await command(nodes[0]!, 'w1', 'SET', 'count', '0')
      const owner = await ownerOf(nodes, 'w1')
      const survivor = nodes.find((node) => node !== owner)!
      owner.child.kill('SIGSTOP')
      const direct = command(owner, 'w1', 'INCR', 'count')
      const subscribed = fetch(`${survivor.origin}/w1/store/subscribe/news`, {
        headers: bearer(storeToken),
        signal: AbortSignal.timeout(100),
      }).catch(() => 'gone')
      expect(await subscribed).toBe('gone')
      await eventually(async () => expect(await command(survivor, 'w1', 'PING')).toBe('PONG'))
      expect(await command(survivor, 'w1', 'INCR', 'count')).toBe(1)
      owner.child.kill('SIGCONT')
      const late = await direct
      const count = Number(await command(survivor, 'w1', 'GET', 'count'))
      // The request is forwarded to the new owner or rejected. It never affects the lost sandbox.
      if (late === 2) expect(count).toBe(2)
      else expect([late, count]).toEqual([expect.stringMatching(/^503 .*(?:Nothing was done|may have happened)/), 1])
      expect(await command(owner, 'w1', 'GET', 'count')).toBe(String(count))
      await survivor.end('SIGKILL')
      await eventually(async () => expect(await command(owner, 'w1', 'GET', 'count')).toBe(String(count)))
    } finally {
      await Promise.all(nodes.map((node) => node.end('SIGKILL')))
      await engines.close()
    }
  })

  test('a tenant with a broken journal can be dropped, and is new afterwards', async () => {
    const engines = await startEngines({ masters: 1 })
    const first = await startNode({ program, engine: engines.url, words })
    const client = await RespClient.connect(engines.ports[0]!)
    let second: NodeProcess | undefined
    try {
      expect(await command(first, 'w1', 'SET', 'a', '1')).toBe('OK')
      await first.end('SIGTERM')
      await client.send(['LSET', 'stuntdouble:{w1}:journal', '0', '1:nonsense'])
      second = await startNode({ program, engine: engines.url, words })
      expect(await command(second, 'w1', 'GET', 'a')).toMatch(/^500 .*Tenant w1 cannot be opened from its journal/)
      const ended = await fetch(`${second.origin}/_control/w1`, { method: 'DELETE' })
      expect([ended.status, await ended.json()]).toEqual([200, { dropped: true }])
      expect((await order<{ tenants: string[] }>(second, '')).tenants).toEqual([])
      expect(await command(second, 'w1', 'GET', 'a')).toBeNull()
    } finally {
      client.close()
      await Promise.all([first, second].map((node) => node?.end('SIGKILL')))
      await engines.close()
    }
  })

  test('a key of the cluster that another program has written is reported, and not as a bug', async () => {
    const engines = await startEngines({ masters: 1 })
    const node = await startNode({ program, engine: engines.url, words })
    const client = await RespClient.connect(engines.ports[0]!)
    try {
      await client.send(['SET', 'stuntdouble:{w1}:journal', 'theirs'])
      const said = /^500 .*The Redis of the cluster rejects .* stuntdouble:\*: WRONGTYPE [^.:]*\."/
      expect(await command(node, 'w1', 'GET', 'a')).toMatch(said)
      expect(await command(node, 'w2', 'SET', 'a', '1')).toBe('OK')
      expect(await client.send(['GET', 'stuntdouble:{w1}:journal'])).toEqual({ bulk: 'theirs' })
    } finally {
      client.close()
      await node.end('SIGKILL')
      await engines.close()
    }
  })

  test('a full Redis is reported in every response and once by the node, and its tenants can be dropped', async () => {
    const engines = await startEngines({ masters: 1 })
    const node = await startNode({ program, engine: engines.url, words })
    const client = await RespClient.connect(engines.ports[0]!)
    try {
      for (const tenant of ['w1', 'w2']) expect(await command(node, tenant, 'SET', 'a', '1')).toBe('OK')
      await client.send(['CONFIG', 'SET', 'maxmemory', '1'])
      const first = await command(node, 'w1', 'SET', 'a', '2')
      expect(first).toMatch(/^503 .*unavailable: OOM [^.]*\. .*may not have run\. .*again\."/)
      await eventually(async () =>
        expect(await command(node, 'w1', 'GET', 'a')).toMatch(
          /^503 .*unavailable: OOM [^.]*\. Nothing was done\. Send the request again\."/,
        ),
      )
      for (const tenant of ['w1', 'w2']) {
        const ended = await fetch(`${node.origin}/_control/${tenant}`, { method: 'DELETE' })
        expect([ended.status, await ended.json()]).toEqual([200, { dropped: true }])
      }
      expect(node.output().match(/rejects writes: OOM [^.]*\.$/gm)).toHaveLength(1)
      await client.send(['CONFIG', 'SET', 'maxmemory', '0'])
      await eventually(async () => expect(await command(node, 'w1', 'GET', 'a')).toBeNull())
    } finally {
      client.close()
      await node.end('SIGKILL')
      await engines.close()
    }
  })

  test('more tenants than --max-tenants are rejected without affecting the others', async () => {
    const engines = await startEngines({ masters: 1 })
    const node = await startNode({ program, engine: engines.url, words: [...words, '--max-tenants', '2'] })
    try {
      for (const tenant of ['w1', 'w2']) expect(await command(node, tenant, 'PING')).toBe('PONG')
      expect(await command(node, 'w3', 'PING')).toMatch(/^503 .*has 2 tenants.*Nothing was done/)
      expect(await command(node, 'w2', 'PING')).toBe('PONG')
      expect((await order<{ tenants: string[] }>(node, '')).tenants).toEqual(['w1', 'w2'])
    } finally {
      await node.end('SIGKILL')
      await engines.close()
    }
  })
})

describe.skipIf(isMissing)('nodes on a non-loopback address', () => {
  test('create nothing for unauthorized clients, and accept users of a tenant on every node', async () => {
    const engines = await startEngines({ masters: 1 })
    const env = { STUNTDOUBLE_SECRET: 'a secret of the tokens' }
    const wide = ['--host', '0.0.0.0', '--control-token', 'a-control-token']
    const nodes = await Promise.all([0, 1].map(() => startNode({ program, engine: engines.url, words: wide, env })))
    const local = nodes.map(({ origin }) => `http://127.0.0.1:${new URL(origin).port}`)
    const ask = async (
      index: number,
      path: string,
      token: string,
      body?: unknown,
    ): Promise<{ status: number; json: Record<string, unknown> }> => {
      const response = await fetch(local[index]! + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: bearer(token),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, json: (await response.json()) as Record<string, unknown> }
    }
    try {
      for (const index of [0, 1]) {
        expect((await ask(index, '/stray/store', 'a guess', ['PING'])).status).toBe(401)
        expect((await ask(index, '/_control/stray', 'a guess')).status).toBe(401)
        expect((await ask(index, '/_control/cluster', 'a guess')).status).toBe(401)
      }
      expect((await ask(0, '/_control', 'a-control-token')).json).toEqual({ tenants: [] })
      const { json } = await ask(0, '/_control/w1', 'a-control-token')
      const { store } = json.tokens as { store: string }
      const told = async (index: number, ...words: string[]): Promise<string> =>
        (await ask(index, '/w1/store', store, ['ACL', ...words])).json.result as string
      const password = await told(0, 'GENTOKEN', 'ann')
      expect(await told(1, 'SETUSER', 'ann', 'on', `>${password}`, '~*', '+@all')).toBe('OK')
      const token = await told(0, 'RESTTOKEN', 'ann', password)
      for (const index of [0, 1])
        expect(await ask(index, '/w1/store', token, ['PING'])).toEqual({ status: 200, json: { result: 'PONG' } })
      expect((await ask(0, '/_control', 'a-control-token')).json).toEqual({ tenants: ['w1'] })
      for (const node of nodes) expect(node.output()).not.toContain('a secret of the tokens')
    } finally {
      await Promise.all(nodes.map((node) => node.end('SIGKILL')))
      await engines.close()
    }
  })
})

describe.skipIf(isMissing)('two nodes with an added database', () => {
  let engines: Engines
  let nodes: NodeProcess[]
  const withDatabase = [...words, '--databases', 'us']
  beforeAll(async () => {
    engines = await startEngines({ masters: 1 })
    nodes = await Promise.all([0, 1].map(() => startNode({ program, engine: engines.url, words: withDatabase })))
  })
  afterAll(async () => {
    await Promise.all(nodes?.map((node) => node.end('SIGKILL')) ?? [])
    await engines?.close()
  })

  test('serve it on any node, and keep it when its owner dies', async () => {
    const { tokens } = await order<{ tokens: { databases: { us: { store: string } } } }>(nodes[0]!, '/w1')
    const ask = async (node: NodeProcess, ...words: string[]): Promise<unknown> =>
      (await post(node, '/w1/store-us', words, bearer(tokens.databases.us.store))).json()
    for (const [index, node] of nodes.entries()) expect(await ask(node, 'INCR', 'n')).toEqual({ result: index + 1 })
    expect(await command(nodes[0]!, 'w1', 'GET', 'n')).toBeNull()
    for (const { origin } of nodes) {
      const { status } = await fetch(`${origin}/w1/store-uss/ping`)
      expect(status).toBe(404)
    }
    const owner = await ownerOf(nodes, 'w1')
    const heir = nodes.find((node) => node !== owner)!
    await owner.end('SIGKILL')
    await eventually(async () => expect(await ask(heir, 'GET', 'n')).toEqual({ result: '2' }))
    expect(await command(heir, 'w1', 'GET', 'n')).toBeNull()
  })

  test('reject a node with other databases', async () => {
    const { said } = await refusedNode({ program, engine: engines.url, words })
    expect(said).toMatch(/databases must be the same as for the tenants and other nodes of this cluster/)
  })
})

describe.skipIf(isMissing)('invalid options of a node', () => {
  test.each([
    [['--state', '/tmp/x.json'], {}, /tenants in Redis, but --state/],
    [['--redis-port', '0'], {}, /--redis-port needs the Redis protocol/],
    [['--real-redis', 'redis://127.0.0.1:1'], {}, /--real-redis keeps/],
    [['--scenario', scenario], {}, /--scenario/],
    [[], { STUNTDOUBLE_CLUSTER_SECRET: '' }, /at least 16 characters/],
    [['--cluster-lease', '100'], {}, /from 500 to 60000/],
    [['--cluster-node-url', 'here'], {}, /http:\/\/10\.0\.0\.5:4010/],
    [['--host', '0.0.0.0'], {}, /STUNTDOUBLE_SECRET/],
    [[], {}, /Redis.*unavailable.*ECONNREFUSED/],
  ] as const)('%j', async (words, env, sentence) => {
    const { code, said } = await refusedNode({ program, engine: 'redis://:opensesame@127.0.0.1:1', words, env })
    expect(said).toMatch(sentence)
    expect(said.trim().split('\n')).toHaveLength(1)
    expect(said).not.toContain('opensesame')
    expect(code).toBe(2)
  })

  test('a Redis whose settings may lose data causes a warning, and so does one that hides its settings', async () => {
    const engines = await startEngines({ masters: 1, isKept: false, more: ['--maxmemory-policy', 'allkeys-lru'] })
    const fragile = await startEngines({ masters: 2, more: ['--cluster-require-full-coverage', 'yes'] })
    const silent = await startEngines({ masters: 1, more: ['--rename-command', 'CONFIG', ''] })
    try {
      for (const [engine, sentences] of [
        [engines, [/appendonly no.*crash loses/, /maxmemory-policy allkeys-lru/]],
        [fragile, [/cluster-require-full-coverage yes.*all tenants are unavailable/]],
        [silent, [/does not return its settings/]],
      ] as const) {
        const node = await startNode({ program, engine: engine.url, words })
        if (engine !== fragile) expect(node.output()).not.toContain('full-coverage')
        for (const sentence of sentences) expect(node.output()).toMatch(sentence)
        await node.end('SIGTERM')
      }
    } finally {
      await Promise.all([engines.close(), fragile.close(), silent.close()])
    }
  })
})
