import { describe, expect, test } from 'vitest'
import { playScenario } from '../../packages/explore/src/scenarios.js'
import * as fault from '../../src/faults/constructors.js'
import type { DeliveryFault } from '../../src/faults/fault.js'
import { deadLetterShape } from '../../src/queue/rest/response-shapes.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { type Imported, type ImportOptions, importDeliveries } from '../../src/scenarios/import/import-scenario.js'
import { ImportError } from '../../src/scenarios/import/imported-records.js'

const orders = 'https://shop.test/orders'

/** Returns a response of the API of a sandbox. */
async function asked(sandbox: Sandbox, path: string): Promise<unknown> {
  const response = await sandbox.fetch(`${sandbox.urls.queue}${path}`, {
    headers: { authorization: `Bearer ${sandbox.tokens.queue}` },
  })
  return response.json()
}

const imported = (value: unknown, options?: ImportOptions): Imported =>
  importDeliveries([{ name: 'records.json', value }], options)

/** Returns the log of one message without details that differ between runs. */
async function course(sandbox: Sandbox): Promise<unknown[]> {
  const { events } = (await asked(sandbox, '/v2/events?order=earliestFirst')) as { events: Record<string, unknown>[] }
  return events.map(({ time, state, error, responseStatus, responseBody, url, header, body, nextDeliveryTime }) => ({
    time,
    state,
    error,
    responseStatus,
    responseBody,
    url,
    header,
    body,
    nextDeliveryTime,
  }))
}

/** A failure in production: a separate sandbox, with a slow handler. */
async function production(steps: readonly DeliveryFault[], options: Record<string, unknown> = {}): Promise<Sandbox> {
  const sandbox = createSandbox({ startAt: '2031-05-17T10:11:12.345Z', seed: 99 })
  let call = 0
  sandbox.destinations.respond(orders, async (_delivery, task) => {
    await task.sleep(1000 + 250 * call)
    return steps[call++] ?? 200
  })
  sandbox.destinations.respond('https://shop.test/failed', () => 200)
  sandbox.queue.publish({
    to: orders,
    body: { id: 4711, note: 'größer' },
    headers: { 'x-shop': 'berlin' },
    ...options,
  })
  await sandbox.clock.drain()
  return sandbox
}

const failures: readonly (readonly [string, readonly DeliveryFault[], Record<string, unknown>])[] = [
  ['three statuses', [fault.status(500), fault.status(503, { body: 'down' }), fault.status(404)], { retries: 2 }],
  [
    'no answer at all',
    [fault.reset(), fault.refused(), fault.status(500)],
    { retries: 2, retryDelay: '1000 * (1 + retried)' },
  ],
  [
    'an answer that asks for patience',
    [fault.status(429, { headers: { 'retry-after': '90' } }), fault.status(500)],
    { retries: 1 },
  ],
  ['no retry wanted', [fault.status(500), fault.nonRetryable('bad order')], { retries: 5 }],
  [
    'delayed, with a failure callback',
    [fault.status(500)],
    { retries: 0, delay: '5m', failureCallback: 'https://shop.test/failed' },
  ],
  ['a lost answer', [fault.lostAck(), fault.status(500)], { retries: 1 }],
  ['a time-out', [fault.hang(), fault.status(500)], { retries: 1, timeout: '20s' }],
]

describe('an imported dead letter fails as in its log', () => {
  test.each(failures)('%s', async (_, steps, options) => {
    const original = await production(steps, options)
    const { scenario, redactions } = imported([await asked(original, '/v2/dlq'), await asked(original, '/v2/events')], {
      dialect: 'neutral',
    })
    const play = await playScenario(scenario)
    expect(play.verdict()).toMatch(/\nHolds: /)
    const ofMessage = (list: unknown[]): unknown[] => list.filter((entry) => (entry as { url: string }).url === orders)
    expect(ofMessage(await course(play.sandbox))).toEqual(ofMessage(await course(original)))
    expect(redactions).toEqual([])
  })

  test('without the log, earlier attempts are assumed to have failed like the last one, and a note states it', async () => {
    const original = await production([fault.status(503), fault.status(503), fault.status(503)], { retries: 2 })
    const [letter] = original.queue.deadLetters
    const { scenario, notes } = imported(JSON.parse(JSON.stringify(deadLetterShape(letter!))))
    expect(notes).toEqual([expect.stringMatching(/\b1 of 3 attempts/)])
    const play = await playScenario(scenario)
    expect(play.holds).toBe(true)
    const statuses = play.sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)
    expect(statuses).toEqual([503, 503, 503])
    expect(play.sandbox.queue.deadLetters[0]!.message.body).toBe(letter!.message.body)
  })

  test('a scenario that expects the desired end does not hold before the fix', async () => {
    const original = await production([fault.status(503)], { retries: 0 })
    const records = await asked(original, '/v2/dlq')
    const { scenario } = imported(records, { expect: 'delivered' })
    expect((await playScenario(scenario)).holds).toBe(false)
    const fixed = await playScenario(scenario, {
      elsewhere: (url) => url === orders,
      setup: ({ destinations }) => void destinations.respond(orders, 200),
    })
    expect(fixed.verdict()).toMatch(/\nHolds: /)
  })
})

describe('code under test replaces the record', () => {
  const boom = fault.status(500, { body: 'boom: no such order' })
  const record = async (steps: readonly DeliveryFault[], options: Record<string, unknown> = {}): Promise<Imported> => {
    const original = await production(steps, options)
    return imported([await asked(original, '/v2/dlq'), await asked(original, '/v2/events')])
  }
  type Handler = (request: Request) => Response | Promise<Response>
  const played = async ({ scenario }: Imported, handler: Handler, pattern = orders) => {
    let calls = 0
    const play = await playScenario(scenario, {
      setup: ({ destinations }) =>
        void destinations.on(pattern, (request) => {
          calls++
          return handler(request)
        }),
    })
    return { play, calls, verdict: play.verdict() }
  }
  const dead = () => record([boom, boom], { retries: 1 })

  test('a handler that still fails as recorded is called, and the verdict shows the record and its response', async () => {
    const { play, calls, verdict } = await played(await dead(), async (request) => {
      const { id } = (await request.json()) as { id: number }
      return new Response('boom: no such order', { status: id === 4711 ? 500 : 200 })
    })
    expect({ holds: play.holds, calls }).toEqual({ holds: false, calls: 2 })
    expect(play.checks.filter(({ holds }) => !holds)).toHaveLength(1)
    expect(verdict).toMatch(new RegExp(`Recorded: .*${orders}: 500 "boom: no such order", 2 attempts, a dead letter`))
    expect(verdict).toMatch(/Now: .*attempt 1: 500 "boom: no such order".*still fails as recorded/)
  })

  test('a handler that throws or fails in another way is distinguished from the record', async () => {
    const thrown = await played(await dead(), () => {
      throw new TypeError('sku is undefined')
    })
    expect(thrown.verdict).toMatch(
      /attempt 1: 500 .*threw TypeError: sku is undefined.*recorded status.*another response/,
    )
    const refused = await played(await dead(), () => new Response('who are you', { status: 401 }))
    expect(refused.verdict).toMatch(/attempt 2: 401 "who are you".*not as recorded/)
  })

  test.each([orders, 'https://shop.test/*'])('a fixed handler at %s holds', async (pattern) => {
    const { play, calls, verdict } = await played(await dead(), () => new Response('thanks'), pattern)
    expect(play.holds, verdict).toBe(true)
    expect(calls).toBe(1)
  })

  test('a retry that hides the failure is not a fix', async () => {
    let call = 0
    const { play, verdict } = await played(await dead(), () =>
      call++ === 0 ? new Response('boom: no such order', { status: 500 }) : new Response('seen before'),
    )
    expect(play.holds).toBe(false)
    expect(verdict).toMatch(/still fails as recorded.*later attempt was delivered/)
  })

  test('the handler of a callback is called too, and a recorder does not replace the record', async () => {
    const failures: string[] = []
    const original = await production([boom, boom], { retries: 1, failureCallback: 'https://shop.test/failed' })
    const { scenario } = imported(await asked(original, '/v2/dlq'))
    const play = await playScenario(scenario, {
      setup: ({ destinations }) => {
        destinations.record(orders)
        destinations.on('https://shop.test/f*', (request) => {
          failures.push(request.url)
          return new Response()
        })
      },
    })
    expect(play.holds, play.verdict()).toBe(true)
    expect(play.verdict()).toMatch(/played.*no code responds/)
    expect(failures).toEqual(['https://shop.test/failed'])
    expect(play.sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)).toEqual([500, 500, 200])
  })

  test('a message that was canceled or pending is delivered by working code', async () => {
    const original = await production([boom, boom, boom], { retries: 5 })
    const events = (await asked(original, '/v2/events?order=earliestFirst')) as { events: { state: string }[] }
    const first = events.events.slice(0, events.events.findIndex(({ state }) => state === 'RETRY') + 1)
    const open = imported({ events: first })
    expect((await played(open, () => new Response('thanks'))).verdict).toMatch(/\nHolds: /)
    expect((await played(open, () => new Response('boom: no such order', { status: 500 }))).play.holds).toBe(false)
  })
})

describe('an import', () => {
  // Created from the fields in the service's documentation, not from output of this package. [queue.md 4.3, 5.4, 5.5]
  const letter = {
    messageId: 'msg_26hZCxZCuWyyTWPmSVBrNC1RADwpgWxPcak2rQD51EMjFMuzcW7qYXpPiDyw8Gd',
    url: 'https://shop.example.org/api/orders',
    method: 'POST',
    header: { 'Content-Type': ['application/json'] },
    body: '{"id":4711}',
    maxRetries: 1,
    notBefore: 1725323658000,
    createdAt: 1725323658000,
    failureCallback: 'https://shop.example.org/failed',
    callerIP: '127.43.12.54',
    dlqId: '1725323671000-0',
    responseStatus: 500,
    responseHeader: { 'Content-Type': ['text/plain'] },
    responseBody: 'boom',
  }
  const callback = {
    status: 502,
    header: { 'Content-Type': ['text/html'] },
    body: btoa('bad gateway'),
    sourceMessageId: letter.messageId,
    url: letter.url,
    method: 'POST',
    sourceHeader: { 'Content-Type': ['application/json'] },
    sourceBody: btoa(letter.body),
    maxRetries: 1,
    notBefore: '1725323658000',
    createdAt: '1725323658000',
    callerIP: '127.43.12.54',
  }
  const log = {
    messageId: letter.messageId,
    url: letter.url,
    method: 'POST',
    maxRetries: 1,
    header: letter.header,
    body: btoa(letter.body),
  }

  test('of a callback about the third attempt assumes that the two earlier ones failed', async () => {
    const { scenario, notes } = imported({ ...callback, status: 200, retried: 2, maxRetries: 3 })
    const play = await playScenario(scenario)
    expect(play.sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)).toEqual([500, 500, 200])
    expect(play.holds, play.verdict()).toBe(true)
    expect(notes.filter((note) => note.includes('is not in the records'))).toHaveLength(2)
  })

  test('merges a dead letter and the body of a callback: attempt 1 from the callback, attempt 2 from the dead letter', async () => {
    const { scenario, notes } = imported([letter, callback])
    expect(notes).toEqual([])
    expect(scenario.destinations![0]).toEqual({
      url: letter.url,
      recorded: [
        { kind: 'status', status: 502, headers: { 'Content-Type': 'text/html' }, body: 'bad gateway' },
        { kind: 'status', status: 500, headers: { 'Content-Type': 'text/plain' }, body: 'boom' },
      ],
    })
    expect(scenario.steps![0]).toEqual({
      publish: {
        to: letter.url,
        as: 'message',
        headers: { 'Content-Type': 'application/json' },
        body: letter.body,
        retries: 1,
        failureCallback: letter.failureCallback,
      },
    })
    expect(scenario.startAt).toBe('2024-09-03T00:34:18.000Z')
    expect((await playScenario(scenario)).verdict()).toMatch(/\nHolds: /)
  })

  test('reads log entries newest first, as the API lists them', async () => {
    const at = 1725323658000
    const events = [
      { ...log, time: at + 20_000, state: 'DELIVERED' },
      { ...log, time: at + 18_000, state: 'ACTIVE' },
      { ...log, time: at + 5000, state: 'RETRY', nextDeliveryTime: at + 17_000 },
      {
        ...log,
        time: at + 5000,
        state: 'ERROR',
        responseStatus: 503,
        responseBody: btoa('down'),
        error: '503 Service Unavailable',
      },
      { ...log, time: at + 2000, state: 'ACTIVE' },
      { ...log, time: at, state: 'CREATED' },
    ]
    const { scenario } = imported({ events, cursor: '' })
    expect(scenario.destinations![0]!.recorded).toEqual([
      fault.delay('3s', fault.status(503, { body: 'down' })),
      fault.delay('2s', fault.pass()),
    ])
    const play = await playScenario(scenario)
    expect(play.verdict()).toMatch(/\nHolds: /)
    expect(scenario.expect).toEqual([{ recorded: { message: 'message', attempts: [503, 200], state: 'DELIVERED' } }])
  })

  test('reads a message that was canceled while it waited', async () => {
    const at = 1725323658000
    const { scenario } = imported([
      { ...log, time: at, state: 'CREATED' },
      { ...log, time: at, state: 'ACTIVE' },
      { ...log, time: at, state: 'ERROR', responseStatus: 500 },
      { ...log, time: at, state: 'RETRY' },
      { ...log, time: at + 4000, state: 'CANCEL_REQUESTED' },
      { ...log, time: at + 12_000, state: 'CANCELED' },
    ])
    expect(scenario.steps!.slice(1, 3)).toEqual([{ advanceTo: '2024-09-03T00:34:22.000Z' }, { cancel: 'message' }])
    expect((await playScenario(scenario)).verdict()).toMatch(/\nHolds: /)
  })

  test('plays a pending message up to the end of the records', async () => {
    const at = 1725323658000
    const { scenario } = imported([
      { ...log, time: at, state: 'CREATED' },
      { ...log, time: at, state: 'ACTIVE' },
      { ...log, time: at, state: 'ERROR', responseStatus: 500 },
      { ...log, time: at, state: 'RETRY', nextDeliveryTime: at + 12_000 },
    ])
    const play = await playScenario(scenario)
    expect(play.verdict()).toMatch(/\nHolds: /)
    expect(play.virtualMs).toBe(0)
  })

  test('assigns statuses to two messages at one destination in the order of their attempts', async () => {
    const other = {
      ...letter,
      messageId: 'msg_2',
      createdAt: letter.createdAt + 5000,
      notBefore: letter.createdAt + 5000,
      responseStatus: 404,
      responseBody: 'gone',
    }
    const { scenario } = imported({ messages: [letter, other] })
    const play = await playScenario(scenario)
    expect(play.verdict()).toMatch(/\nHolds: /)
    expect(play.sandbox.queue.deadLetters.map(({ response: reply }) => reply.status)).toEqual([500, 404])
  })

  test('notes that a page is one of several', () => {
    const { notes } = imported({ messages: [letter], cursor: '1725323671000-1' })
    expect(notes[0]).toContain('The next page begins at cursor 1725323671000-1')
  })

  test('keeps bytes that are not text', async () => {
    const { body: _, ...rest } = letter
    const { scenario } = imported({ ...rest, bodyBase64: '/wD+' })
    expect(scenario.steps![0]).toMatchObject({ publish: { bodyBase64: '/wD+' } })
    const play = await playScenario(scenario)
    expect(play.sandbox.traffic.ofType('published')[0]!.body).toBe('\xff\x00\xfe')
  })

  test("writes the service's own headers in the dialect of the scenario", () => {
    const given = { ...letter, header: { 'Service-Label': ['a'], 'X-Own': ['1', '2'] } }
    expect(imported(given).scenario.steps![0]).toMatchObject({
      publish: { headers: { 'Upstash-Label': 'a', 'X-Own': '1, 2' } },
    })
    expect(imported(given, { dialect: 'neutral' }).scenario).toMatchObject({
      dialect: 'neutral',
      steps: [{ publish: { headers: { 'Service-Label': 'a' } } }, {}],
    })
  })

  test.each([
    ['nothing', [], 'no message found'],
    ['another object', { id: 1, name: 'x' }, 'no messageId (its fields are id, name)'],
    ['a text', 'hello', 'must be an object'],
    ['a record without a url', { messageId: 'msg_1', dlqId: '1-0' }, 'contain no URL'],
  ])('%s is rejected', (_, value, sentence) => {
    expect(() => imported(value)).toThrow(ImportError)
    expect(() => imported(value)).toThrow(sentence)
  })
})

describe('secrets in an import', () => {
  const secrets = {
    jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.c2lnbmF0dXJlLW9mLWl0',
    live: 'sk_live_51HxAbCdEfGhIjKl',
    password: 'hunter2-and-more',
    cookie: 'c00kie-of-ada',
    query: 'q-secret-9f8e7d',
    user: 'pa55-in-url',
    email: 'ada@lovelace-engines.org',
    ip: '93.184.216.34',
    card: '4111 1111 1111 1111',
    form: 'f0rm-secret',
  }
  const record = {
    messageId: 'msg_1',
    url: `https://ada:${secrets.user}@shop.example.org/hook?access_token=${secrets.query}&page=2`,
    method: 'POST',
    header: {
      Authorization: [`Bearer ${secrets.live}`],
      Cookie: [`session=${secrets.cookie}; theme=dark`],
      'X-Api-Key': [secrets.password],
      'X-Forwarded-For': [secrets.ip],
      Accept: ['*/*'],
    },
    body: JSON.stringify({
      id: 4711,
      customer: { email: secrets.email, apiKey: secrets.live, card: secrets.card },
      text: `token ${secrets.jwt}, again ${secrets.email}`,
      tokens_used: 12,
    }),
    maxRetries: 0,
    createdAt: 1725323658000,
    callback: `https://shop.example.org/cb?signature=${secrets.query}`,
    callbackHeader: { Authorization: [`Basic ${secrets.password}`] },
    dlqId: '1-0',
    responseStatus: 500,
    responseHeader: { 'Set-Cookie': [`id=${secrets.cookie}; HttpOnly`] },
    responseBody: `user=ada&password=${secrets.form}`,
  }

  test('are not in the scenario or the report', () => {
    const { scenario, redactions } = imported(record)
    const written = JSON.stringify(scenario) + JSON.stringify(redactions)
    for (const secret of Object.values(secrets)) expect(written).not.toContain(secret)
    expect(written).toContain('tokens_used')
    expect(redactions.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['header', 'cookie', 'url', 'field', 'jwt', 'card', 'email', 'ip']),
    )
  })

  test('have the same placeholder if they are equal, and different ones otherwise', () => {
    const { scenario } = imported(record)
    const { publish } = scenario.steps![0] as { publish: { body: string; to: string; callback: string } }
    const body = JSON.parse(publish.body) as { customer: { email: string }; text: string }
    expect(body.text).toContain(body.customer.email)
    expect(body.customer.email).toBe('person-1@example.com')
    expect(new URL(publish.callback).searchParams.get('signature')).toBe(
      new URL(publish.to).searchParams.get('access_token'),
    )
    expect(new URL(publish.to).searchParams.get('page')).toBe('2')
  })

  test('keep their authorization scheme, so that a receiver can check it', () => {
    const { scenario } = imported(record)
    expect(scenario.steps![0]).toMatchObject({
      publish: { headers: { Authorization: expect.stringMatching(/^Bearer redacted-header-\d+$/) } },
    })
  })

  test('are kept for the kinds in --keep', () => {
    const { scenario, redactions } = imported(record, { keep: ['email', 'cookie'] })
    expect(JSON.stringify(scenario)).toContain(secrets.email)
    expect(JSON.stringify(scenario)).not.toContain(secrets.live)
    expect(redactions.map(({ kind }) => kind)).not.toContain('email')
  })

  test('are found in JSON within JSON, base64 in JSON, XML, encoded queries, and labels', () => {
    const inner = JSON.stringify({ password: secrets.password, note: 'plain' })
    const bodies = [
      JSON.stringify({ payload: inner }),
      // The body of a callback that became a dead letter itself.
      JSON.stringify({ status: 500, sourceBody: btoa(inner), body: btoa(`mail ${secrets.email}`) }),
      `<order><id>1</id><apiKey>${secrets.password}</apiKey><m>${secrets.email}</m></order>`,
      `a=1&mail=${encodeURIComponent(secrets.email)}&token=${secrets.password}`,
    ]
    for (const body of bodies) {
      const { scenario, redactions } = imported({
        ...record,
        body,
        labels: [`user:${secrets.email}`],
        flowControlKey: secrets.email,
      })
      const { publish } = scenario.steps![0] as { publish: { body: string } }
      const clear = publish.body.replace(/"([A-Za-z\d+/=]{16,})"/g, (_, encoded: string) => atob(encoded))
      for (const secret of [secrets.password, secrets.email, encodeURIComponent(secrets.email)]) {
        expect(JSON.stringify(scenario) + clear + JSON.stringify(redactions)).not.toContain(secret)
      }
      expect(redactions.filter(({ place }) => place.startsWith('msg_1.body')).length).toBeGreaterThan(0)
    }
  })

  test('do not include base64 without a secret', () => {
    const body = JSON.stringify({ image: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB', text: btoa('nothing to hide here') })
    expect(imported({ ...record, body }).scenario.steps![0]).toMatchObject({ publish: { body } })
  })

  test('are not replaced again when an import is imported', () => {
    const first = imported(record)
    const { publish } = first.scenario.steps![0] as {
      publish: { body: string; headers: Record<string, string>; to: string }
    }
    const again = imported({
      ...record,
      url: publish.to,
      header: publish.headers,
      body: publish.body,
      callback: undefined,
      callbackHeader: undefined,
      responseHeader: {},
      responseBody: '',
    })
    expect(again.redactions).toEqual([])
  })

  test('leave a body without secrets unchanged, byte for byte', () => {
    const body = '{ "id" : 4711,\n  "when": 1725323658000 }'
    expect(imported({ ...record, body }).scenario.steps![0]).toMatchObject({ publish: { body } })
  })
})
