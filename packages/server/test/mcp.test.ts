import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadTrace } from '../../../src/report/load-trace.js'
import { withToolsAndConversation } from '../../../test/support/agent-page.js'
import { controlOperations } from '../src/control/control.js'
import { maxBytes, partsOf } from '../src/mcp/fenced-response.js'
import { TraceTarget } from '../src/mcp/mcp-target.js'
import { tools } from '../src/mcp/tools.js'
import { agentAtServer, agentOf, parted } from './mcp-client.js'

const shop = 'https://shop.test/orders'

describe('the table of tools', () => {
  test('has at least fifteen tools with unique names and descriptions', async () => {
    await using agent = await agentAtServer()
    const { tools: listed } = await agent.client.listTools()
    expect(listed.length).toBeGreaterThanOrEqual(15)
    expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length)
    for (const { name, description, inputSchema, annotations } of listed) {
      expect(name).toMatch(/^[a-z]+(?:_[a-z]+)*$/)
      expect(description, name).toMatch(/^[A-Z].{20,500}[.`]$/s)
      expect(inputSchema.type).toBe('object')
      expect(annotations, name).toMatchObject({ openWorldHint: false })
    }
    // An agent must read this text before its first call.
    expect(JSON.stringify(listed).length).toBeLessThan(40_000)
  })

  test('contains one tool for each operation with a tool', () => {
    const rows = controlOperations.flatMap(({ tool }) => (tool === undefined ? [] : [tool]))
    expect(rows.length).toBeGreaterThanOrEqual(30)
    for (const { name, effect } of rows) expect(tools.find((tool) => tool.name === name)).toMatchObject({ effect })
  })

  test('marks GET operations as reading and DELETE operations as destroying', () => {
    for (const { method, tool } of controlOperations) {
      if (tool === undefined) continue
      if (method === 'GET') expect(tool.effect, tool.name).toBe('reads')
      if (method === 'DELETE') expect(tool.effect, tool.name).toBe('destroys')
    }
  })

  test('has no argument with the same name in path, query and body', () => {
    for (const { path, query = {}, body, tool } of controlOperations) {
      if (tool === undefined) continue
      const fields = Object.keys((body as { entries?: object } | undefined)?.entries ?? {})
      const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
      const all = [...names, ...Object.keys(query), ...fields, 'tenant', 'page', 'full']
      expect(new Set(all).size, tool.name).toBe(all.length)
      for (const name of Object.keys(tool.args ?? {})) {
        const { properties } = tools.find((one) => one.name === tool.name)!.input
        expect(Object.keys(properties), tool.name).toContain(name)
      }
    }
  })

  test('mentions only existing tools as the next step', () => {
    const names = new Set(tools.map(({ name }) => name))
    for (const { name, next, description } of tools) {
      const mentioned = `${next} ${description}`.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []
      for (const word of mentioned) expect(names, `${name} mentions ${word}`).toContain(word)
    }
  })
})

describe('an agent that is connected to a server', () => {
  test('publishes, advances time, and gets an explanation', async () => {
    await using agent = await agentAtServer()
    await agent.call('script_deliveries', { to: shop, steps: [500, 500] })
    await agent.call('respond_to_deliveries', { to: shop, response: 200 })
    const published = await agent.call('publish_message', { to: shop, body: { id: 42 }, delay: '5m', retries: 3 })
    const [, id] = /^id: (msg_\w+)$/m.exec(published.text)!
    expect(agent.sandbox.queue.messages).toMatchObject([{ id, maxRetries: 3 }])

    expect((await agent.call('explain_message', { id })).text).toContain('waits for its first attempt')
    expect((await agent.call('forecast_message', { id })).text).toContain(`${agent.sandbox.clock.now() + 300_000}`)
    const step = await agent.call('step_clock')
    expect(parted(step.text).data).toContain('→ 500')
    expect(parted(step.text).data).not.toContain('→ 200')
    const drained = await agent.call('drain_clock')
    expect(parted(drained.text).data.match(/→ (?:500|200)/g)).toEqual(['→ 500', '→ 200'])
    expect(drained.text).toMatch(/\nNext: list_dead_letters/)
    expect((await agent.call('list_dead_letters')).text).toContain('(none)')
  })

  test('injects a fault, and sees that it was injected', async () => {
    await using agent = await agentAtServer()
    const added = await agent.call('add_fault', {
      rules: { on: 'store.command', times: 1, fault: { kind: 'lost-ack' } },
    })
    const handle = parted(added.text).data
    expect((await agent.call('list_unused_faults')).text).toContain('never injected')
    const { env } = agent.sandbox
    await fetch(`${env.UPSTASH_REDIS_REST_URL}/set/a/1`, {
      headers: { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
    }).catch(() => undefined)
    expect((await agent.call('list_faults')).text).toContain('"injected":1')
    await agent.call('remove_faults', { handle })
    expect((await agent.call('list_faults')).text).toContain('(none)')
  })

  test('sees which commands the service may reject', async () => {
    await using agent = await agentAtServer()
    expect((await agent.call('list_store_diagnostics')).text).toContain('(none)')
    await agent.call('run_command', { command: ['SORT', 'scores'] })
    expect((await agent.call('list_store_diagnostics')).text).toContain('SORT has no page')
  })

  test('retries a dead letter, and resets the sandbox', async () => {
    await using agent = await agentAtServer()
    agent.sandbox.destinations.script(shop, [500])
    agent.sandbox.destinations.respond(shop, 200)
    await agent.call('publish_message', { to: shop, retries: 0 })
    await agent.call('drain_clock')
    const [, id] = /"id":"([^"]+)"/.exec((await agent.call('list_dead_letters')).text)!
    await agent.call('retry_dead_letter', { id })
    expect((await agent.call('drain_clock')).text).toContain('→ 200')
    await agent.call('reset_sandbox')
    expect(agent.sandbox.traffic.size).toBe(0)
  })

  test('plays a scenario, and finds a seed with which it does not hold', async () => {
    await using agent = await agentAtServer()
    const scenario = {
      name: 'half of the responses are lost',
      destinations: [{ url: shop }],
      faults: [{ on: 'queue.delivery', chance: [1, 2], fault: { kind: 'lost-ack' } }],
      steps: [{ publish: { to: shop, retries: 0 } }, { drain: true }],
      expect: [{ delivered: { to: shop, attempts: [200] } }],
    }
    const found = await agent.call('find_failing_seed', { scenario, seeds: 40, from: 1 })
    const [, seed] = /does not hold with seed (\d+)/.exec(found.text)!
    expect(parted(found.text).data).toContain('lost-ack')
    const again = await agent.call('play_scenario', { scenario, seed: Number(seed) })
    expect(parted(again.text).data).toContain('holds: false')
    const shipped = await agent.call('find_failing_seed', { name: 'lost-acknowledgements', seeds: 2 })
    expect(shipped.text).toContain('holds with all 2 seeds')
    expect(agent.sandbox.traffic.size).toBe(0)
    for (const name of ['../../../test/package', '/etc/passwd', 'nobody'])
      expect((await agent.call('find_failing_seed', { name })).text).toContain('"name" must be a shipped scenario')
  })

  test('reads another tenant, and does not create one by mistake', async () => {
    await using agent = await agentAtServer()
    agent.server.tenant('w2').store.run('SET', 'here', 'yes')
    expect((await agent.call('list_tenants')).text).toContain('w2')
    expect((await agent.call('get_key', { key: 'here', tenant: 'w2' })).text).toContain('yes')
    const slip = await agent.call('publish_message', { to: shop, tenant: 'w3' })
    expect(slip).toMatchObject({ isError: true, text: expect.stringContaining('no tenant with this name') })
    expect(agent.server.tenants).not.toContain('w3')
  })

  test('copies entries, with variables instead of secrets', async () => {
    await using agent = await agentAtServer()
    const { env, tokens } = agent.sandbox
    await fetch(`${env.UPSTASH_REDIS_REST_URL}/set/a/1`, {
      headers: { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
    })
    const { seq } = agent.sandbox.traffic.last('request')!
    const { text } = await agent.call('copy_as', { form: 'curl', entry: seq })
    expect(parted(text).data).toMatch(/^curl /m)
    expect(parted(text).data).toContain('$UPSTASH_REDIS_REST_TOKEN')
    expect(text).not.toContain(tokens.store)
    for (const [args, sentence] of [
      [{ form: 'nonsense', entry: seq }, /"form" must be one of curl/],
      [{ form: 'curl' }, /exactly one/],
      [{ form: 'curl', entry: 1, message: 'm' }, /exactly one/],
      [{ form: 'curl', entry: 4711 }, /no entry with this number/],
      [{ form: 'curl', message: 'msg_nobody' }, /no message with this ID/],
      [{ form: 'curl', from: 2, to: 1 }, /"to" must be the same as/],
    ] as const) {
      const refused = await agent.call('copy_as', args)
      expect([refused.isError, refused.text]).toEqual([true, expect.stringMatching(sentence)])
    }
  })

  test('reads without leaving entries', async () => {
    await using agent = await agentAtServer()
    await agent.call('respond_to_deliveries', { to: shop, response: 200 })
    await agent.call('publish_message', { to: shop })
    await agent.call('drain_clock')
    const before = JSON.stringify([agent.sandbox.dump(), agent.sandbox.traffic])
    for (const { name, input, effect } of tools)
      if (effect === 'reads' && input.required.length === 0) await agent.call(name)
    expect(JSON.stringify([agent.sandbox.dump(), agent.sandbox.traffic])).toBe(before)
    expect(agent.sandbox.queues).toHaveLength(1)
    expect((await agent.call('check_invariants')).text).toContain('unknown: []')
    await agent.call('list_messages', { region: 'us-east-1' })
    expect(agent.sandbox.queues).toHaveLength(2)
  })

  test('reads the store as of an instant, and the differences since then', async () => {
    await using agent = await agentAtServer()
    const { store, clock } = agent.sandbox
    store.run('HSET', 'stock', 'apples', 5)
    await clock.advance('1h')
    store.run('HINCRBY', 'stock', 'apples', -1)
    expect((await agent.call('read_store_as_of', { at: '-30m', command: ['HGET', 'stock', 'apples'] })).text).toContain(
      '5',
    )
    expect(parted((await agent.call('read_store_as_of', { at: '-30m' })).text).data).toContain('["apples","5"]')
    const difference = parted((await agent.call('diff_store', { from: '-30m' })).text).data
    expect(difference).toMatch(/apples.*5.*apples.*4/s)
    expect(parted((await agent.call('list_store_changes')).text).data.split('\n')).toHaveLength(2)
    expect(await agent.call('read_store_as_of', { at: '-30m', command: ['DEL', 'stock'] })).toMatchObject({
      isError: true,
    })
  })

  test('forks a sandbox, and tries changes there', async () => {
    await using agent = await agentAtServer()
    agent.sandbox.store.run('SET', 'stock', 5)
    await agent.sandbox.clock.advance('1h')
    agent.sandbox.store.run('SET', 'stock', 4)
    const forked = await agent.call('fork_sandbox', { at: '-30m' })
    const [, tenant] = /^tenant: (\S+)$/m.exec(forked.text)!
    expect(parted((await agent.call('get_key', { key: 'stock', tenant })).text).data).toBe('5')
    await agent.call('run_command', { command: ['DEL', 'stock'], tenant })
    await agent.call('advance_clock', { by: '2d', tenant })
    expect(parted((await agent.call('get_key', { key: 'stock' })).text).data).toBe('4')
    expect((await agent.call('fork_sandbox', { at: '+5m' })).isError).toBe(true)
  })

  test('stops advancing time when the call is canceled', async () => {
    await using agent = await agentAtServer()
    const { env } = agent.sandbox
    await fetch(`${env.QSTASH_URL}/v2/schedules/${shop}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.QSTASH_TOKEN}`, 'upstash-cron': '* * * * *' },
    })
    const given = new AbortController()
    const call = agent.client.callTool(
      { name: 'advance_clock', arguments: { by: '3650d' } },
      { signal: given.signal, timeout: 60_000 },
    )
    setTimeout(() => given.abort(), 300)
    await expect(call).rejects.toThrow()
    await expect.poll(() => agent.sandbox.clock.interrupt(), { timeout: 10_000 }).toBeUndefined()
    expect(agent.sandbox.clock.now()).toBeLessThan(Date.parse('2039-01-01'))
  })
})

describe('a wrong call of a tool', () => {
  test.each([
    ['advance_clock', { bye: '5m' }, /unknown argument "bye"\. Did you mean "by"\?/],
    ['advance_clock', {}, /advance_clock: argument "by" is missing: duration/],
    ['advance_clock', { by: 'soon' }, /by: must be a duration\. Send/],
    ['get_timeline', { limit: 0 }, /get_timeline: "limit" must be a whole number from 1 to 1000/],
    ['get_timeline', { limit: 1e9 }, /from 1 to 1000/],
    ['explain_message', { id: 7 }, /explain_message: "id" must be a text/],
    ['forecast_message', { id: 'msg_nobody' }, /There is no message.*list_messages/],
    ['list_messages', { region: 'atlantis' }, /us-east-1/],
    ['list_entries', { type: 'nonsense' }, /no entry type/],
    ['get_key', { key: 'k', tenant: '../main' }, /no tenant with this name/],
    ['run_command', { command: ['NOPE'] }, /Command is not available/],
    ['add_fault', { rules: { on: 'store.comand', fault: { kind: 'reset' } } }, /store\.command/],
    ['find_failing_seed', {}, /either "scenario" or/],
  ])('returns an error with the next step: %s %j', async (name, args, sentence) => {
    await using agent = await agentAtServer()
    const { text, isError } = await agent.call(name, args)
    expect(isError, text).toBe(true)
    expect(text).toMatch(sentence)
    expect(text).toMatch(/\nNext: /)
  })

  test('returns an error with the next step when the server has ended', async () => {
    const agent = await agentAtServer()
    await agent.server.close()
    const { text, isError } = await agent.call('get_timeline')
    expect(isError).toBe(true)
    expect(text).toContain('npx stuntdouble serve')
    await agent.client.close()
  })
})

describe('responses of tools', () => {
  test('are short for 100,000 entries and any arguments', async () => {
    await using agent = await agentAtServer()
    for (let index = 0; index < 100_000; index++) agent.sandbox.store.run('SET', `key:${index}`, 'x'.repeat(40))
    for (const [name, args] of [
      ['get_timeline', {}],
      ['get_timeline', { limit: 1000 }],
      ['list_entries', {}],
      ['list_entries', { limit: 1000, full: true }],
      ['get_diagram', {}],
      ['get_status', {}],
      ['dump_store', {}],
      ['run_command', { command: ['KEYS', '*'] }],
      ['check_invariants', {}],
    ] as const) {
      const { text } = await agent.call(name, args)
      expect(Buffer.byteLength(text), name).toBeLessThanOrEqual(maxBytes)
      expect(text, name).toMatch(/\nNext: /)
    }
  })

  test('contain a long text completely in their pages', async () => {
    await using agent = await agentAtServer()
    const body = Array.from({ length: 3_000 }, (_, index) => `line ${index} ✓`).join('|')
    agent.sandbox.store.run('SET', 'long', body)
    expect((await agent.call('get_key', { key: 'long' })).text).toContain(`… (${body.length} chars)`)
    let read = ''
    for (let part = 1; ; part++) {
      const { text } = await agent.call('get_key', { key: 'long', full: true, page: part })
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
      read += parted(text).data
      if (!text.includes(`"page": ${part + 1}`)) break
    }
    expect(read).toBe(body)
  })

  test('are split between characters', () => {
    for (const text of ['a'.repeat(20_000), '✓'.repeat(9_000), '😀'.repeat(9_000), `${'b\n'.repeat(9_000)}end`, ''])
      for (const part of partsOf(text, 1_000)) {
        expect(Buffer.byteLength(part)).toBeLessThanOrEqual(1_000)
        expect(Buffer.from(part).toString()).toBe(part)
      }
    expect(partsOf('😀'.repeat(9_000), 1_000).join('')).toBe('😀'.repeat(9_000))
  })
})

describe('a saved trace', () => {
  test('is read by the same tools, and cannot be changed', async () => {
    await using live = await agentAtServer()
    live.sandbox.destinations.script(shop, [500])
    live.sandbox.destinations.respond(shop, 200)
    const { id } = live.sandbox.queue.publish({ to: shop, body: { id: 42 } }) as { id: string }
    await live.sandbox.clock.drain()
    const trace = loadTrace(JSON.stringify(live.sandbox.traffic))
    await using agent = await agentOf(new TraceTarget(trace))

    const { tools: listed } = await agent.client.listTools()
    expect(listed.map(({ name }) => name)).toEqual(['list_entries', 'get_timeline', 'get_diagram', 'copy_as'])
    expect(listed.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
    expect(parted((await agent.call('get_timeline')).text)).toEqual(parted((await live.call('get_timeline')).text))
    expect((await agent.call('list_entries', { message: id })).text).toBe(
      (await live.call('list_entries', { message: id })).text,
    )
    expect((await agent.call('get_diagram', { format: 'mermaid' })).text).toContain('sequenceDiagram')
    expect((await agent.call('get_diagram', { format: 'svg' })).isError).toBe(true)
    await expect(agent.call('publish_message', { to: shop })).rejects.toThrow()
  })
})

test('docs/mcp.md contains the current tools and conversation (`npm run docs` writes them)', async () => {
  const page = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8')
  expect(page).toBe(await withToolsAndConversation(page))
  for (const [, json] of page.matchAll(/^```json\n(.*)\n```$/gm)) expect(() => JSON.parse(json!)).not.toThrow()
})

describe('prompts and the resource', () => {
  test('contain the timeline inside a fence', async () => {
    await using agent = await agentAtServer()
    agent.sandbox.store.run('SET', 'marker-of-the-story', 1)
    const { prompts } = await agent.client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['why_did_this_fail', 'reproduce_as_test', 'what_happens_next'])
    for (const { name } of prompts) {
      const { messages } = await agent.client.getPrompt({ name, arguments: { failure: 'expected 1 to be 2' } })
      const { text } = messages[0]!.content as { text: string }
      expect(text).toContain('marker-of-the-story')
      expect(Buffer.byteLength(text)).toBeLessThan(2 * maxBytes)
      for (const word of text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [])
        expect(tools.map((tool) => tool.name)).toContain(word)
    }
    const { contents } = await agent.client.readResource({ uri: 'stuntdouble://timeline' })
    expect((contents[0] as { text: string }).text).toContain('marker-of-the-story')
  })
})
