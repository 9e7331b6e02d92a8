import { describe, expect, test } from 'vitest'
import '../../matchers/vitest.js'
import { latin1, toBase64, utf8 } from '../../src/kernel/bytes.js'
import { orderStory, start } from '../report/story.js'
import { failureOf, verdictOf } from './failure.js'
import { attempt, publish, retryIn, testQueue, until } from './messages.js'

const to = 'https://shop.test/orders'

describe('toHavePublished', () => {
  /** Five messages, none of which goes to /orders with 3 retries and the ID 42. */
  function fiveMessages() {
    const queue = testQueue()
    const { traffic } = queue
    const far = { url: 'https://elsewhere.example/some/other/place', body: utf8('{}'), maxRetries: 0 }
    publish(traffic, { ...far, messageId: 'msg_1aaAAAAAAAAAAA' })
    publish(traffic, { ...far, messageId: 'msg_2bbAAAAAAAAAAA' })
    publish(traffic, { ...far, messageId: 'msg_3ccAAAAAAAAAAA' })
    traffic.at(12)
    until(traffic, 17)
    publish(traffic, { maxRetries: 5 })
    until(traffic, 21)
    const body = utf8('{"id":7}')
    publish(traffic, { messageId: 'msg_9QaAAAAAAAAAAA', url: 'https://shop.test/refunds', maxRetries: 3, body })
    return queue
  }

  test('shows the nearest messages by field, the replay command and the timeline', () => {
    const queue = fiveMessages()
    const text = failureOf(() => expect(queue).toHavePublished({ to, retries: 3, body: { id: 42 } }))
    expect(text).toBe(
      [
        "expect(queue).toHavePublished({ to: 'https://shop.test/orders', retries: 3, body: { id: 42 } })",
        '',
        'Expected a published message. Nearest of 5:',
        '  #17 at 09:00:12.000   msg_2Kd…   to https://shop.test/orders',
        '      ✓ to   ✗ retries: expected 3, received 5   ✓ body',
        '  #21 at 09:00:12.000   msg_9Qa…   to https://shop.test/refunds',
        "      ✗ to: expected 'https://shop.test/orders', received 'https://shop.test/refunds'   ✓ retries",
        '      ✗ body.id: expected 42, received 7',
        '  #1 at 09:00:00.000   msg_1aa…   to https://elsewhere.example/some/other/place',
        "      ✗ to: expected 'https://shop.test/orders', received 'https://elsewhere.example/some/other/place'",
        '      ✗ retries: expected 3, received 0   ✗ body.id: expected 42, received undefined',
        'Replay: seed 7',
        '',
        '2030-01-01',
        '   #1  09:00:00.000        published msg_1aa… to https://elsewhere.example/some/other/place, 0 retries',
        '                             body: {}',
        '   #2  09:00:00.000        published msg_2bb… to https://elsewhere.example/some/other/place, 0 retries',
        '                             body: {}',
        '   #3  09:00:00.000        published msg_3cc… to https://elsewhere.example/some/other/place, 0 retries',
        '                             body: {}',
        '  #17  09:00:12.000  +12s  published msg_2Kd… to https://shop.test/orders, 5 retries',
        '                             body: {"id":42}',
        '  #21  09:00:12.000        published msg_9Qa… to https://shop.test/refunds, 3 retries',
        '                             body: {"id":7}',
      ].join('\n'),
    )
  })

  test('lists the matches of .not', () => {
    const queue = fiveMessages()
    expect(verdictOf(() => expect(queue).not.toHavePublished({ to: 'https://shop.test/*' }))).toBe(
      [
        "expect(queue).not.toHavePublished({ to: 'https://shop.test/*' })",
        '',
        'Expected no published message like this, found 2:',
        '  #17 at 09:00:12.000   msg_2KdAAAAAAAAAAAAAAAAAAAA   to https://shop.test/orders',
        '  #21 at 09:00:12.000   msg_9QaAAAAAAAAAAA   to https://shop.test/refunds',
        'Replay: seed 7',
      ].join('\n'),
    )
  })

  test('checks the number of matches', () => {
    const queue = fiveMessages()
    expect(queue).toHavePublished({ to: 'https://shop.test/*' }, { times: 2 })
    expect(queue).toHavePublished({ to: 'https://nobody.test/' }, { times: 0 })
    expect(queue).not.toHavePublished({ to: 'https://shop.test/*' }, { times: 1 })
    expect(verdictOf(() => expect(queue).toHavePublished({ to }, { times: 2 }))).toBe(
      [
        "expect(queue).toHavePublished({ to: 'https://shop.test/orders' }, { times: 2 })",
        '',
        'Expected exactly 2 published messages like this, found 1. These fit:',
        '  #17 at 09:00:12.000   msg_2Kd…   to https://shop.test/orders',
        'Nearest of the other published messages:',
        '  #21 at 09:00:12.000   msg_9Qa…   to https://shop.test/refunds',
        "      ✗ to: expected 'https://shop.test/orders', received 'https://shop.test/refunds'",
        '  #1 at 09:00:00.000   msg_1aa…   to https://elsewhere.example/some/other/place',
        "      ✗ to: expected 'https://shop.test/orders', received 'https://elsewhere.example/some/other/place'",
        '  #2 at 09:00:00.000   msg_2bb…   to https://elsewhere.example/some/other/place',
        "      ✗ to: expected 'https://shop.test/orders', received 'https://elsewhere.example/some/other/place'",
        'Replay: seed 7',
      ].join('\n'),
    )
    expect(verdictOf(() => expect(queue).not.toHavePublished({ to }, { times: 1 }))).toContain(
      'Expected any number of published messages like this except exactly 1, found 1:',
    )
  })

  test('fails for an empty log', () => {
    expect(failureOf(() => expect(testQueue()).toHavePublished())).toBe(
      [
        'expect(queue).toHavePublished()',
        '',
        'Expected a published message. There were no published messages at all.',
        'Replay: seed 7',
        '',
        '(no traffic)',
      ].join('\n'),
    )
  })

  test('compares every field', () => {
    const queue = testQueue()
    publish(queue.traffic, {
      method: 'PUT',
      headers: [
        ['Content-Type', 'application/json'],
        ['X-Tag', 'a'],
        ['x-tag', 'b'],
      ],
      notBefore: start + 30_000,
      deduplicationId: 'order-42',
      urlGroup: 'buyers',
      endpointName: 'mail',
      queue: 'q',
      scheduleId: 'scd_1',
      flowControlKey: 'k',
      labels: ['a', 'b'],
      callback: 'https://shop.test/done',
      failureCallback: 'https://shop.test/failed',
    })
    const fitting = {
      to: 'https://*.test/orders',
      method: 'PUT',
      headers: { 'content-type': expect.stringContaining('json'), 'X-TAG': 'a, b', 'x-none': undefined },
      body: { id: 42 },
      retries: 2,
      delay: '30s',
      notBefore: '2030-01-01T09:00:30Z',
      deduplicated: false,
      deduplicationId: 'order-42',
      urlGroup: 'buyers',
      endpointName: /^ma/,
      queue: 'q',
      scheduleId: expect.stringMatching(/^scd_/),
      flowControlKey: 'k',
      label: 'b',
      labels: ['a', 'b'],
      callback: 'https://shop.test/d*',
      failureCallback: 'https://shop.test/failed',
      kind: 'message',
      messageId: expect.any(String),
      sourceMessageId: undefined,
    } as const
    expect(queue).toHavePublished(fitting)
    const wrong: Record<string, unknown> = {
      to: 'https://shop.test/order',
      method: 'POST',
      headers: { 'x-tag': 'a' },
      body: { id: '42' },
      retries: 3,
      delay: '31s',
      notBefore: '2030-01-01T09:00:31Z',
      deduplicated: true,
      deduplicationId: 'order-4',
      urlGroup: 'buyer',
      endpointName: /^il/,
      queue: undefined,
      scheduleId: expect.stringMatching(/^msg_/),
      flowControlKey: 'K',
      label: 'c',
      labels: ['b'],
      callback: 'https://shop.test/done/*',
      failureCallback: '*/done',
      kind: 'callback',
      messageId: 'msg_2Kd',
      sourceMessageId: expect.anything(),
    }
    expect(Object.keys(wrong).sort()).toEqual(Object.keys(fitting).sort())
    for (const [name, value] of Object.entries(wrong)) expect(queue).not.toHavePublished({ [name]: value })
  })

  test.each([
    ['the text', '{"id":42}', '{"id": 42}'],
    ['parsed, partially', {}, { id: 43 }],
    ['an expression', /"id":\d+/, /^id/],
    ['bytes', new TextEncoder().encode('{"id":42}'), new TextEncoder().encode('{"id":42} ')],
    ['asymmetric over the parsed value', expect.objectContaining({ id: 42 }), expect.objectContaining({ id: 43 })],
    ['asymmetric over the text', expect.stringContaining('42'), expect.stringContaining('43')],
    ['asymmetric inside', { id: expect.any(Number) }, { id: expect.any(String) }],
  ])('compares bodies: %s', (_, fitting, other) => {
    const queue = testQueue()
    publish(queue.traffic)
    expect(queue).toHavePublished({ body: fitting })
    expect(queue).not.toHavePublished({ body: other })
  })

  test('reports a body that is not JSON, and compares the length of lists', () => {
    const queue = testQueue()
    publish(queue.traffic, { body: utf8('id=42') })
    expect(verdictOf(() => expect(queue).toHavePublished({ body: { id: 42 } }))).toContain(
      "      ✗ body: expected { id: 42 }, received no JSON: 'id=42'",
    )
    publish(queue.traffic, { body: utf8('{"items":[{"sku":"a","n":1},{"sku":"b","n":2}]}') })
    expect(queue).toHavePublished({ body: { items: [{ sku: 'a' }, { n: 2 }] } })
    expect(queue).not.toHavePublished({ body: { items: [{ sku: 'a' }] } })
    expect(
      verdictOf(() => expect(queue).toHavePublished({ body: { items: [{ sku: 'a' }, { n: 3, sku: 'x' }] } })),
    ).toContain("      ✗ body.items[1].n: expected 3, received 2   ✗ body.items[1].sku: expected 'x', received 'b'")
  })

  test('counts callbacks and duplicates only on request', () => {
    const queue = testQueue()
    const first = publish(queue.traffic)
    publish(queue.traffic, { deduplicated: true })
    publish(queue.traffic, { kind: 'callback', messageId: 'msg_c', sourceMessageId: first.messageId })
    expect(queue).toHavePublished({}, { times: 1 })
    expect(queue).toHavePublished({ deduplicated: true }, { times: 1 })
    expect(queue).toHavePublished({ kind: 'callback', sourceMessageId: first.messageId }, { times: 1 })
    expect(verdictOf(() => expect(queue).toHavePublished({}, { times: 2 }))).toContain(
      '      ✗ deduplicated: expected false, received true',
    )
  })

  test('gives hints for typical mistakes', () => {
    const queue = testQueue()
    const { traffic } = queue
    attempt(traffic, publish(traffic, { headers: [['Upstash-Label', 'x']] }), 0, {})
    expect(verdictOf(() => expect(queue).toHavePublished({ to: 'shop.test/orders' }))).toContain(
      "\n\nHint: `to` is compared with the whole URL. Write 'https://shop.test/orders', or '*shop.test/orders' for any host.\nReplay:",
    )
    expect(verdictOf(() => expect(queue).toHavePublished({ headers: { 'Service-Label': 'x' } }))).toContain(
      "Hint: No header is named 'Service-Label'; there is 'upstash-label'. Service headers have the prefix of the publisher's dialect.",
    )
  })

  test('rejects a pattern that can never match', () => {
    const queue = testQueue()
    const published = (pattern: unknown, options?: object) => () =>
      expect(queue).toHavePublished(pattern as object, options as object)
    expect(published({ url: to })).toThrow(
      /^toHavePublished\(\): unknown field 'url'. Did you mean `to`\? The fields are to, body, /,
    )
    expect(published({ retrys: 3 })).toThrow("unknown field 'retrys'. Did you mean `retries`?")
    expect(published({ times: 2 })).toThrow(
      'times is not a field of the pattern. Pass it as the last argument: toHavePublished({ … }, { times: 2 }).',
    )
    expect(published(to)).toThrow(/^toHavePublished\(\): the pattern must be an object of fields .*\{ to: … \}/)
    expect(published({}, { times: 1.5 })).toThrow(
      /times must be a whole number or a range \(got 1\.5\)\. .*\{ times: 2 \}/,
    )
    // It is rejected without any message, because .not would always pass.
    expect(published({ delay: '1 hour' })).toThrow('"1 hour" is not a duration')
    expect(published({ notBefore: 'tomorrow' })).toThrow('"tomorrow" is not a time')
  })
})

describe('toHaveDelivered', () => {
  test('compares attempts, state, status and published fields', () => {
    const queue = { traffic: orderStory() }
    expect(queue).toHaveDelivered({ to, attempts: 3, status: 200, retried: 2, body: { id: 42 }, response: 'ok' })
    expect(queue).toHaveDelivered({ attempts: [500, 0, 200], deliveredAt: '2030-01-01T09:02:43Z' })
    expect(queue).toHaveDelivered({
      attempts: [
        { status: 500, delayMs: 12_000, at: start },
        { note: 'the handler ran, its response was lost' },
        { state: 'DELIVERED', retried: 2 },
      ],
    })
    expect(queue).not.toHaveDelivered({ attempts: 2 })
    expect(queue).not.toHaveDelivered({ attempts: [500, 200] })
    expect(queue).not.toHaveDelivered({ state: 'FAILED' })
    expect(verdictOf(() => expect(queue).toHaveDelivered({ to, attempts: [500, 200], status: 201 }))).toBe(
      [
        "expect(queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: [500, 200], status: 201 })",
        '',
        'Expected a delivered message. Nearest of 1:',
        '  #7 at 09:02:43.000   msg_2Kd…   to https://shop.test/orders',
        '      ✓ to   ✗ attempts: expected [500, 200], received [500, 0, 200]   ✗ status: expected 201, received 200',
        'Replay: without a seed',
      ].join('\n'),
    )
  })

  test.each([
    ['CREATED', (_: unknown) => {}],
    [
      'ACTIVE',
      (queue: ReturnType<typeof testQueue>) => attempt(queue.traffic, queue.traffic.ofType('published')[0]!, 0),
    ],
    [
      'RETRY',
      (queue: ReturnType<typeof testQueue>) =>
        attempt(queue.traffic, queue.traffic.ofType('published')[0]!, 0, retryIn(12)),
    ],
    [
      'FAILED',
      (queue: ReturnType<typeof testQueue>) =>
        attempt(queue.traffic, queue.traffic.ofType('published')[0]!, 0, { status: 489, state: 'FAILED' }),
    ],
    [
      'CANCELLED',
      (queue: ReturnType<typeof testQueue>) => {
        const { messageId } = queue.traffic.ofType('published')[0]!
        queue.traffic.append({ type: 'message', messageId, state: 'CANCEL_REQUESTED' })
        queue.traffic.append({ type: 'message', messageId, state: 'CANCELLED' })
      },
    ],
  ] as const)('finds messages in state %s', (state, happen) => {
    const queue = testQueue()
    publish(queue.traffic)
    happen(queue)
    expect(queue).not.toHaveDelivered()
    expect(queue).toHaveDelivered({ state }, { times: 1 })
    expect(queue).toHaveDelivered({ state: expect.anything() })
  })

  test('names until when and why a message waits, and the call that delivers it', () => {
    const queue = testQueue()
    const { traffic } = queue
    attempt(traffic, publish(traffic), 0, retryIn(12))
    traffic.at(2)
    expect(verdictOf(() => expect(queue).toHaveDelivered({ to }))).toBe(
      [
        "expect(queue).toHaveDelivered({ to: 'https://shop.test/orders' })",
        '',
        'Expected a delivered message. Nearest of 1:',
        '  #2 at 09:00:00.000   msg_2Kd…   to https://shop.test/orders',
        "      ✓ to   ✗ state: expected 'DELIVERED', received 'RETRY'",
        '',
        "Hint: msg_2Kd… waits 10s, until 09:00:12.000 (default back-off). So far, 1 of 3 attempts failed: fix the cause, or await sandbox.clock.advance('10s') or clock.drain() for its next attempt.",
        'Replay: seed 7',
      ].join('\n'),
    )
  })

  test('explains a delayed, active, due or held message', () => {
    const hint = (more: object, happen?: (queue: ReturnType<typeof testQueue>) => void): string => {
      const queue = testQueue()
      publish(queue.traffic, more)
      happen?.(queue)
      return verdictOf(() => expect(queue).toHaveDelivered())
    }
    expect(hint({ notBefore: start + 90_000 })).toContain(
      "Hint: msg_2Kd… waits 1m30s, until 09:01:30.000 (delay as published). Await sandbox.clock.advance('1m30s') or clock.drain() for its next attempt.",
    )
    expect(hint({})).toContain('Hint: msg_2Kd… is due, but the clock has not moved. Await sandbox.clock.drain() first.')
    expect(hint({}, ({ traffic }) => attempt(traffic, traffic.ofType('published')[0]!, 0))).toContain(
      'Hint: msg_2Kd… is being delivered now.',
    )
    expect(
      hint({}, ({ traffic }) => {
        const { messageId } = traffic.ofType('published')[0]!
        traffic.append({ type: 'message', messageId, state: 'WAITING', reason: 'flow-control key k: it is paused' })
      }),
    ).toContain('Hint: msg_2Kd… waits: flow-control key k: it is paused.')
    expect(
      hint({}, ({ traffic }) => {
        const [published] = traffic.ofType('published')
        const { messageId } = published!
        traffic.append({ type: 'message', messageId, state: 'WAITING', reason: 'flow-control key k: it is paused' })
        attempt(traffic, published!, 0, retryIn(12))
      }),
    ).toContain('Hint: msg_2Kd… waits 12s, until 09:00:12.000 (default back-off).')
  })
})

describe('toHaveDeadLetter', () => {
  test('compares fields of the dead letter', () => {
    const queue = testQueue()
    const { traffic } = queue
    const order = publish(traffic)
    const last = attempt(traffic, order, 2, { status: 503, error: '503 Service Unavailable', state: 'FAILED' })
    const { messageId, kind, url } = order
    traffic.append({ type: 'dead-letter', messageId, kind, url, dlqId: '1893488400000-0', status: 503 }, last.seq)
    expect(queue).toHaveDeadLetter({ to, dlqId: '1893488400000-0', status: 503, attempts: 1, body: { id: 42 } })
    expect(queue).toHaveDeadLetter({}, { times: 1 })
    expect(queue).not.toHaveDeadLetter({ dlqId: '1893488400000-1' })
    expect(queue).not.toHaveDelivered()
    expect(verdictOf(() => expect(queue).not.toHaveDeadLetter())).toBe(
      [
        'expect(queue).not.toHaveDeadLetter()',
        '',
        'Expected no dead letter like this, found 1:',
        '  #3 at 09:00:00.000   msg_2Kd…   to https://shop.test/orders',
        'Replay: seed 7',
      ].join('\n'),
    )
    expect(() => expect(queue).toHaveDeadLetter({ state: 'FAILED' } as never)).toThrow("unknown field 'state'")
  })

  test('ignores delivered messages', () => {
    const queue = { traffic: orderStory() }
    expect(queue).not.toHaveDeadLetter()
    expect(verdictOf(() => expect(queue).toHaveDeadLetter({ to }))).toContain(
      "      ✓ to   ✗ state: expected 'FAILED', received 'DELIVERED'",
    )
  })
})

describe('toHaveDeliveredCallback', () => {
  function reported() {
    const queue = testQueue()
    const { traffic } = queue
    const order = publish(traffic)
    const body = {
      status: 503,
      header: { 'Retry-After': ['5'] },
      body: toBase64(utf8('{"reason":"sold out"}')),
      retried: 2,
      maxRetries: 2,
      sourceMessageId: order.messageId,
      url: to,
      method: 'POST',
      sourceBody: toBase64(order.body),
      dlqId: '1-0',
    }
    const callback = publish(traffic, {
      messageId: 'msg_cbAAAAAAAAAAAAAA',
      kind: 'failure-callback',
      url: 'https://shop.test/failed',
      body: utf8(JSON.stringify(body)),
      sourceMessageId: order.messageId,
    })
    return { queue, traffic, callback }
  }

  test('reads the body of the callback and decodes its bodies', () => {
    const { queue, traffic, callback } = reported()
    expect(queue).not.toHaveDeliveredCallback()
    expect(queue).toHaveDeliveredCallback({ state: 'CREATED' })
    attempt(traffic, callback, 0, {})
    expect(queue).toHaveDeliveredCallback({
      to: 'https://shop.test/failed',
      kind: 'failure-callback',
      status: 503,
      retried: 2,
      maxRetries: 2,
      body: { reason: 'sold out' },
      sourceBody: { id: 42 },
      headers: { 'Retry-After': ['5'] },
      url: to,
      dlqId: expect.stringMatching(/^\d+-\d+$/),
      attempts: 1,
    })
    expect(queue).not.toHaveDeliveredCallback({ kind: 'callback' })
    expect(queue).not.toHaveDeliveredCallback({ body: { reason: 'stolen' } })
    expect(verdictOf(() => expect(queue).toHaveDeliveredCallback({ status: 200, body: 'ok' }))).toBe(
      [
        "expect(queue).toHaveDeliveredCallback({ status: 200, body: 'ok' })",
        '',
        'Expected a callback. Nearest of 1:',
        '  #3 at 09:00:00.000   msg_cbA…   failure callback to https://shop.test/failed',
        `      ✗ status: expected 200, received 503   ✗ body: expected 'ok', received '{"reason":"sold out"}'`,
        'Replay: seed 7',
      ].join('\n'),
    )
  })

  test('ignores ordinary messages', () => {
    expect(verdictOf(() => expect({ traffic: orderStory() }).toHaveDeliveredCallback())).toContain(
      'Expected a callback. There were no callbacks at all.',
    )
  })
})

test('escapes captured text', () => {
  const queue = testQueue()
  const evil = '\u001b[2J\nReplay: seed 8\u202e'
  publish(queue.traffic, { url: `https://shop.test/${evil}`, body: utf8(JSON.stringify({ note: evil })), queue: evil })
  const text = failureOf(() => expect(queue).toHavePublished({ to, body: { note: 'x' }, queue: latin1('y') }))
  expect(text).toMatch(/^[^\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]*$/)
  expect(text.match(/^Replay:/gm)).toHaveLength(1)
})

test('reads headers of attempts, which computes a signature, only if the pattern names them', () => {
  const queue = testQueue()
  const entry = attempt(queue.traffic, publish(queue.traffic), 0, {})
  let reads = 0
  Object.defineProperty(entry, 'headers', {
    get: () => {
      reads++
      return [['X-Tag', 'a']]
    },
  })
  expect(queue).toHaveDelivered({ to, attempts: 1 })
  expect(reads).toBe(0)
  expect(queue).toHaveDelivered({ headers: { 'x-tag': 'a' } })
  expect(reads).toBeGreaterThan(0)
})
