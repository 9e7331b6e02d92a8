import { createSandbox, defineScenario, fault } from 'stuntdouble'
import { connect } from 'stuntdouble/client'
import { playScenario } from 'stuntdouble/scenarios'
import { startServer } from 'stuntdouble/server'
import { describe, expect, test } from 'vitest'
import { sandboxOf } from '../../fixtures/fixture-sandbox.js'
import { checkPageClock, checkServerOptions } from '../../fixtures/playwright-options.js'
import PlaywrightTraceReporter from '../../fixtures/reporters/playwright.js'
import VitestTraceReporter from '../../fixtures/reporters/vitest.js'
import { unplayedText } from '../../src/kernel/unused-script.js'

// A misspelled name is reported with the nearest valid one, wherever options are passed.

test.each<[string, () => unknown, string]>([
  ['a sandbox', () => createSandbox({ dilaect: 'upstash' } as never), 'no option "dilaect". Did you mean "dialect"?'],
  [
    'a sandbox with two mistakes',
    () => createSandbox({ dilaect: 'upstash', sede: 1 } as never),
    'no options "dilaect", "sede". Did you mean "dialect", "seed"? The options are',
  ],
  [
    'a policy',
    () => createSandbox({ policy: { deduplicationWindw: 1 } as never }),
    'no policy "deduplicationWindw". Did you mean "deduplicationWindow"?',
  ],
  [
    'a fixture',
    () => sandboxOf({ onUnhandledOutboud: 'error' } as never),
    'no option "onUnhandledOutboud". Did you mean "onUnhandledOutbound"?',
  ],
  ['a fixture, of the sandbox', () => sandboxOf({ sede: 1 } as never), 'no option "sede". Did you mean "seed"?'],
  [
    'a message',
    () => createSandbox().queue.publish({ to: 'https://a.test', retires: 1 } as never),
    'no option "retires". Did you mean "retries"?',
  ],
  [
    'a message, in the singular',
    () => createSandbox().queue.publish({ to: 'https://a.test', retry: 1 } as never),
    'no option "retry". Did you mean "retries"?',
  ],
  [
    'a callback',
    () =>
      createSandbox().queue.publish({ to: 'https://a.test', callback: 'https://b.test', callbackRetry: 1 } as never),
    'no option "callbackRetry". Did you mean "callbackRetries"?',
  ],
  [
    'a check',
    () => createSandbox().assertInvariants({ onyl: 'fifo-per-queue' } as never),
    'sandbox.assertInvariants() has no option "onyl". Did you mean "only"?',
  ],
  [
    'a type of entries',
    () => createSandbox().traffic.last({ type: 'comand' } as never),
    '(got type "comand"). Did you mean "command"?',
  ],
  [
    'a field in the place of the type',
    () => createSandbox().traffic.filter({ typ: 'x' } as never),
    'got type undefined',
  ],
  [
    'a field of a rule that cannot be left out',
    () => createSandbox().faults.add({ on: 'queue.delivery', falt: fault.reset() } as never),
    'there is no field "falt". Did you mean "fault"?',
  ],
  [
    'a field of a fault that cannot be left out',
    () => createSandbox().faults.add({ on: 'queue.delivery', fault: { kind: 'status', staus: 503 } } as never),
    'there is no field "staus". Did you mean "status"?',
  ],
  [
    'an attempt in a scenario',
    () => defineScenario({ name: 's', expect: [{ delivered: { attempts: [{ staus: 500 }] } }] } as never),
    'expect[0].delivered.attempts[0].staus: there is no "staus". Did you mean "status"?',
  ],
  [
    'a form of a diagram',
    () => createSandbox().traffic.diagram({ format: 'mermade' as never }),
    '(got "mermade"). Did you mean "mermaid"?',
  ],
  ['ids of a timeline', () => createSandbox().traffic.timeline({ ids: 'ful' as never }), 'Did you mean "full"?'],
  ['a number of a timeline', () => createSandbox().traffic.timeline({ limit: 'x' as never }), 'limit must be '],
  [
    'what is hidden',
    () => createSandbox().traffic.timeline({ redact: 'body' as never }),
    'redact must be a list of names',
  ],
  [
    'a served worker',
    () => checkServerOptions({ prot: 1 } as never),
    'sandboxServer has no option "prot". Did you mean "port"?',
  ],
  ['the clock of pages', () => checkPageClock('folow' as never), '(got "folow"). Did you mean "follow"?'],
  ['a reporter', () => new VitestTraceReporter({ outputDri: 'x' } as never), 'Did you mean "outputDir"?'],
  [
    'a reporter of Playwright',
    () => new PlaywrightTraceReporter({ outputDri: 'x' } as never),
    'Did you mean "outputDir"?',
  ],
  [
    'a window',
    () => createSandbox().queue.sign({ url: 'https://a.test' }, { window: 'rael' } as never),
    'Did you mean "real"?',
  ],
  [
    'a key',
    () => createSandbox().queue.sign({ url: 'https://a.test' }, { key: 5 } as never),
    "key must be 'current', 'next' or the text of a key (got 5)",
  ],
  [
    'parallelism',
    () => createSandbox().queue.upsertQueue('q', { parallelism: 0 }),
    'parallelism must be a whole number of at least 1 (got 0)',
  ],
  [
    'paused',
    () => createSandbox().queue.upsertQueue('q', { parallelism: 1, paused: 'yes' as never }),
    'paused must be true or false (got "yes")',
  ],
  [
    'headers',
    () => createSandbox().queue.publish({ to: 'https://a.test', headers: 'x' as never }),
    'headers must be an object of names and values (got "x")',
  ],
  [
    'endpoints',
    () => createSandbox().queue.urlGroups.addEndpoints('g', 'https://a.test' as never),
    'the second argument must be a list',
  ],
  ['a region', () => createSandbox().queueIn('us-west-1' as never), 'Did you mean "us-east-1"?'],
])('suggests the nearest name to %s', (_, misuse, sentence) => {
  expect(misuse).toThrow(sentence)
})

test.each([
  [{ prot: 1 }, 'A server has no option "prot". Did you mean "port"?'],
  [{ scenaro: {} }, 'Did you mean "scenario"?'],
  [{ cloc: 'real' }, 'Did you mean "clock"?'],
  [{ name: 'x' }, 'startServer(): a server has no option "name". Omit it: each tenant has its own'],
  [
    { urls: { store: 'https://a.test' } },
    'startServer(): a server has no option "urls". Omit it: each tenant has its own',
  ],
  [{ limits: { maxStreems: 1 } }, 'Did you mean "maxStreams"?'],
  [{ limits: { maxStreams: -1 } }, 'limits.maxStreams must be a number of 0 or more (got -1).'],
])('suggests the nearest option of a server: %j', async (options, sentence) => {
  const started = startServer({ port: 0, ...options } as never).then((server) => server.close())
  await expect(started).rejects.toThrow(sentence)
})

test('connect() throws for a misspelled tenant option instead of using main', async () => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  await expect(connect(server.origin, { tennant: 'w1' } as never)).rejects.toThrow('Did you mean "tenant"?')
})

test.each([
  ['POST', '/clok/advance', 'Did you mean POST /clock/advance?'],
  ['GET', '/queue/mesages', 'Did you mean GET /queue/messages?'],
  ['POST', '/queue/mesages/msg_1/cancle', 'Did you mean POST /queue/messages/msg_1/cancel?'],
  ['GET', '/fault', 'Did you mean GET /faults?'],
  ['GET', '/somewhere/else', undefined],
  ['GET', '/queue/messages/msg_1/of/no/depth', undefined],
])('suggests the nearest path of the control API: %s %s', async (method, path, sentence) => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  const answer = await fetch(`${server.origin}/_control/main${path}`, { method })
  const { error } = (await answer.json()) as { error: string }
  expect(answer.status).toBe(404)
  // The response names similar paths instead of all hundred.
  expect(error.length).toBeLessThan(sentence === undefined ? 1000 : 200)
  if (sentence === undefined) expect(error).not.toContain('Did you mean')
  else expect(error).toContain(sentence)
  expect(error).toContain('/_control/openapi.json')
})

test.each([
  ['/clock/advance', { bye: '5m' }, 'bye: unknown field. Did you mean "by"?'],
  ['/queue/explain', { flowControlKy: 'user-1' }, 'flowControlKy: unknown field. Did you mean "flowControlKey"?'],
  [
    '/queue/url-groups/orders/endpoints',
    { endpoints: [{ url: 'https://a.test', nam: 'a' }] },
    'endpoints.0.nam: unknown field. Did you mean "name"?',
  ],
  ['/faults', { scenarioo: {} }, 'scenarioo: unknown field. Did you mean "scenario"?'],
  [
    '/faults',
    { rules: { on: 'queue.delivery', falt: { kind: 'reset' } } },
    'there is no field "falt". Did you mean "fault"?',
  ],
])('suggests the nearest field of a control request: %s %j', async (path, body, sentence) => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  const answer = await fetch(`${server.origin}/_control/main${path}`, { method: 'POST', body: JSON.stringify(body) })
  const { error } = (await answer.json()) as { error: string }
  expect([answer.status, error]).toEqual([400, expect.stringContaining(sentence)])
})

describe('a script that was never used', () => {
  const world = async (script: string, asked: string[]) => {
    const sandbox = createSandbox()
    sandbox.destinations.respond('https://*', 200).script(script, [503])
    sandbox.outbound.respond('https://*', 200).script(`POST ${script}`, [503])
    for (const url of asked) {
      sandbox.queue.publish({ to: url })
      await sandbox.outbound.fetch(url, { method: 'POST' })
    }
    await sandbox.clock.drain()
    const { destinations, outbound, traffic } = sandbox
    return [
      ...destinations.unused.map((left) => unplayedText(left, 'delivery', traffic.entries)),
      ...outbound.unused.map((left) => unplayedText(left, 'call', traffic.entries)),
    ]
  }

  test('names a similar URL that was requested, for deliveries and for outbound requests', async () => {
    const told = await world('https://pay.test/v1/chrage', [
      'https://pay.test/v1/refunds',
      'https://pay.test/v1/charge',
    ])
    expect(told).toHaveLength(2)
    for (const text of told) expect(text).toContain('Did you mean "https://pay.test/v1/charge"?')
  })

  test('ignores the query of a URL, and never prints it', async () => {
    for (const text of await world('https://pay.test/v1/chrage', ['https://pay.test/v1/charge?key=hunter2']))
      expect(text).toMatch(/Did you mean "https:\/\/pay\.test\/v1\/charge"\?$/)
  })

  test.each([
    ['nothing was asked', 'https://pay.test/v1/chrage', []],
    ['numbers are other things', 'https://pay.test/orders/order-1', ['https://pay.test/orders/order-2']],
    ['short words are other things', 'https://pay.test/cart', ['https://pay.test/card']],
    ['two parts differ', 'https://pay.test/v2/chrage', ['https://pay.test/v1/charge']],
    ['an address with a password', 'https://pay.test/v1/chrage', ['https://u:pw@pay.test/v1/charge']],
  ])('suggests nothing if %s', async (_, script, asked) => {
    const told = await world(script, asked)
    expect(told).toHaveLength(2)
    for (const text of told) expect(text).not.toContain('Did you mean')
  })

  test('suggests nothing once a request has matched it', async () => {
    const sandbox = createSandbox()
    sandbox.outbound.script('https://pay.test/v1/charges', [503, 503]).respond('https://pay.test/v1/charge', 200)
    await sandbox.outbound.fetch('https://pay.test/v1/charges')
    await sandbox.outbound.fetch('https://pay.test/v1/charge')
    const [left] = sandbox.outbound.unused
    expect(unplayedText(left!, 'call', sandbox.traffic.entries)).not.toContain('Did you mean')
  })
})

test('reports a URL that resembles none without a suggestion', () => {
  expect(() => createSandbox({ zzzzzzzzz: 1 } as never)).toThrow(/"zzzzzzzzz"\. The options/)
})

test('a span of time is the same mistake on a server', async () => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  const remote = await connect(server.origin)
  for (const span of [-5, Number.NaN, Number.POSITIVE_INFINITY, '10 minutes?'])
    await expect(remote.clock.advance(span as never)).rejects.toThrow('is not a duration')
})

test('a name in the place of a scenario', async () => {
  await expect(playScenario('poison-message' as never)).rejects.toThrow('The scenario is invalid.')
})

test('PlaywrightTraceReporter accepts the options that Playwright itself adds', () => {
  const given = { configDir: '/a', outputDir: 'x', _mode: 'test', _commandHash: 'abc' }
  expect(() => new PlaywrightTraceReporter(given)).not.toThrow()
})
