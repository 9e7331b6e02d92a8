import { describe, expect, test } from 'vitest'
import { latin1, utf8 } from '../../src/kernel/bytes.js'
import { timeline } from '../../src/report/timeline.js'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { none, orderStory, publishedOrder, start, TestTraffic } from './story.js'

const text = (traffic: TestTraffic): string => timeline(traffic.entries)

test('timeline() shows an order: nested causes, the reason of every wait, and elapsed time', () => {
  expect(timeline(orderStory().entries)).toBe(
    [
      '2030-01-01',
      '  #1  09:00:00.000          POST https://queue.test/v2/publish/https://shop.test/orders → 201',
      '  #2  09:00:00.000            published msg_2Kd… to https://shop.test/orders, 2 retries',
      '                                body: {"id":42}',
      '  #3  09:00:00.000              attempt 1 of 3 of msg_2Kd… to https://shop.test/orders → 500 Internal Server Error after 3s at 09:00:03.000',
      '                                  response: out of stock',
      '                                  waits 12s until 09:00:15.000: default back-off',
      '  #4  09:00:15.000  +15s        attempt 2 of 3 of msg_2Kd… to https://shop.test/orders → no response: connection reset',
      '                                  the handler ran, its response was lost',
      '                                  waits 2m28s until 09:02:43.000: default back-off',
      '  #5  09:00:15.000                POST https://store.test/ → 200',
      '  #6  09:00:15.000                  INCR charged:42 → 1',
      '  #7  09:02:43.000  +2m28s      attempt 3 of 3 of msg_2Kd… to https://shop.test/orders → 200',
    ].join('\n'),
  )
})

test('timeline() returns the same bytes for the same traffic', () => {
  expect(timeline(orderStory().entries)).toBe(timeline(orderStory().entries))
})

test('timeline() of an empty log states that there is no traffic', () => {
  expect(text(new TestTraffic())).toBe('(no traffic)')
})

test('timeline() shows the date when it changes, and with a time on another day', () => {
  const traffic = new TestTraffic()
  traffic.append({ ...publishedOrder, body: none, notBefore: start + 86_400_000 })
  traffic.at(86_400)
  traffic.append({ type: 'message', messageId: publishedOrder.messageId, state: 'CANCELLED' })
  expect(text(traffic)).toBe(
    [
      '2030-01-01',
      '  #1  09:00:00.000        published msg_2Kd… to https://shop.test/orders, 2 retries',
      '                            waits 1d until 2030-01-02 09:00:00.000: as published',
      '2030-01-02',
      '  #2  09:00:00.000  +1d   msg_2Kd… CANCELLED',
    ].join('\n'),
  )
})

describe('timeline() of a message', () => {
  test('shows group, queue, schedule, flow control, labels and callbacks', () => {
    const traffic = new TestTraffic()
    traffic.append({
      ...publishedOrder,
      body: none,
      method: 'PUT',
      maxRetries: 1,
      urlGroup: 'buyers',
      endpointName: 'first one',
      queue: 'q',
      scheduleId: 'scd_1',
      flowControlKey: 'k',
      labels: ['a', 'b c'],
      callback: 'https://shop.test/done',
      failureCallback: 'https://shop.test/failed',
    })
    expect(text(traffic).split('\n')[1]).toBe(
      '  #1  09:00:00.000        published msg_2Kd… to PUT https://shop.test/orders, 1 retry, group buyers endpoint "first one", queue q, schedule scd_1, flow control k, label a "b c", callback https://shop.test/done, failure callback https://shop.test/failed',
    )
  })

  test('shows a duplicate, a callback, a dead letter, a fault and a delivery on request', () => {
    const traffic = new TestTraffic()
    traffic.append({ ...publishedOrder, body: none, deduplicated: true })
    traffic.append({
      ...publishedOrder,
      body: none,
      messageId: 'msg_9QaBBBBBBBBBBBBBBBB',
      kind: 'failure-callback',
      sourceMessageId: publishedOrder.messageId,
    })
    traffic.append({
      type: 'attempt',
      messageId: 'msg_9QaBBBBBBBBBBBBBBBB',
      kind: 'failure-callback',
      url: 'https://shop.test/failed',
      method: 'POST',
      retried: 0,
      maxRetries: 0,
      reason: 'first attempt, delivered now on request',
      waitReason: '3 s in the wait list of flow-control key k',
      headers: [],
      body: none,
    })
    traffic.append({
      type: 'dead-letter',
      messageId: publishedOrder.messageId,
      dlqId: '1893488400000-0',
      kind: 'message',
      url: 'https://shop.test/orders',
      status: 0,
      error: 'context deadline exceeded',
    })
    traffic.append({ type: 'fault', point: 'store.command', fault: 'error-reply', target: 'INCR stock' })
    expect(text(traffic)).toBe(
      [
        '2030-01-01',
        '  #1  09:00:00.000        published msg_2Kd… to https://shop.test/orders, 2 retries',
        '                            a duplicate: accepted with the ID of the first message, not delivered again',
        '  #2  09:00:00.000        failure callback about msg_2Kd…: msg_9Qa… to https://shop.test/orders, 2 retries',
        '  #3  09:00:00.000        attempt 1 of 1 of failure callback msg_9Qa… to https://shop.test/failed → (in flight)',
        '                            had waited: 3 s in the wait list of flow-control key k',
        '                            because: first attempt, delivered now on request',
        '  #4  09:00:00.000        dead letter 1893488400000-0: msg_2Kd… to https://shop.test/orders, no response: context deadline exceeded',
        '  #5  09:00:00.000        fault error-reply injected at store.command for INCR stock',
      ].join('\n'),
    )
  })
})

test('shortens IDs to the characters that distinguish them, or shows them in full', () => {
  const traffic = new TestTraffic()
  for (const messageId of ['msg_abcdefgh1', 'msg_abcdefgi1'])
    traffic.append({ ...publishedOrder, body: none, messageId })
  expect(text(traffic)).toMatch(/published msg_abcdefgh1 to.*published msg_abcdefgi1 to/s)
  traffic.append({ ...publishedOrder, body: none, messageId: 'msg_abcXXXXXXXXXXXXXXXXXXX' })
  expect(text(traffic)).toContain('published msg_abcXXXXX… to')
  expect(timeline(traffic.entries, { ids: 'full' })).toContain('published msg_abcXXXXXXXXXXXXXXXXXXX to')
})

test('omits keyspace events that repeat a command, unless requested', () => {
  const traffic = new TestTraffic()
  traffic.append({ type: 'keyspace', event: 'set', key: utf8('k') })
  traffic.append({ type: 'keyspace', event: 'expired', key: utf8('k') })
  expect(text(traffic)).toBe('2030-01-01\n  #2  09:00:00.000        key k: expired')
  expect(timeline(traffic.entries, { keyspace: true })).toContain('  #1  09:00:00.000        key k: set')
})

test('shows attempts at the same level, and what they cause below them', () => {
  const traffic = new TestTraffic()
  const published = traffic.append({ ...publishedOrder, body: none })
  const more = { messageId: published.messageId, kind: 'message', url: published.url } as const
  const attempt = {
    ...more,
    type: 'attempt',
    method: 'POST',
    maxRetries: 2,
    reason: '',
    headers: [],
    body: none,
  } as const
  const first = traffic.append({ ...attempt, retried: 0 }, published.seq)
  const waiting = traffic.append(
    { type: 'message', messageId: more.messageId, state: 'WAITING', reason: 'flow-control key k: it is paused' },
    first.seq,
  )
  const second = traffic.append({ ...attempt, retried: 1 }, waiting.seq)
  traffic.append({ ...more, type: 'dead-letter', dlqId: '1-0', status: 500 }, second.seq)
  const indents = text(traffic)
    .split('\n')
    .slice(1)
    .map((line) => line.slice(26).search(/\S/))
  expect(indents).toEqual([0, 2, 2, 2, 4])
})

test('shows the reason of a wait once', () => {
  const traffic = new TestTraffic()
  const published = traffic.append({ ...publishedOrder, body: none, notBefore: start + 5000 })
  const attempt = (retried: number, waited: string) =>
    traffic.append(
      {
        type: 'attempt',
        messageId: published.messageId,
        kind: 'message',
        url: published.url,
        method: 'POST',
        retried,
        maxRetries: 2,
        reason: '',
        waitReason: waited,
        headers: [],
        body: none,
      },
      published.seq,
    )
  traffic.at(5)
  const first = attempt(0, 'delay 5 s as published')
  const reason = 'delay 12 s from the default back-off after 500'
  const next = { at: start + 17_000, delayMs: 12_000, reason }
  traffic.complete(first, { outcome: { at: start + 5000, status: 500, headers: [], body: none, state: 'RETRY', next } })
  traffic.at(20)
  attempt(1, `${reason}, then 3 s in the wait list of flow-control key k`)
  expect(text(traffic).match(/^ +had waited: .*$/gm)).toEqual([
    expect.stringMatching(/^ {30}had waited: 3 s .*flow-control key k$/),
  ])
})

describe('timeline() of commands', () => {
  const command = (argv: string[], more: object = {}): string => {
    const traffic = new TestTraffic()
    traffic.append({ type: 'command', argv: argv.map(utf8), user: 'default', via: 'request', reply: null, ...more })
    return text(traffic).split('\n')[1]!.slice(26)
  }

  test.each([
    [['GET', 'k'], {}, 'GET k → nil'],
    [['GET', ''], { reply: latin1('') }, 'GET "" → ""'],
    [['GET', 'two words'], { reply: 'two words' }, 'GET "two words" → "two words"'],
    [['SET', 'k', '{"a":1}'], { reply: { text: 'OK' } }, `SET k '{"a":1}' → OK`],
    [['SET', 'k', `'"`], { reply: { text: 'OK' } }, `SET k "'\\"" → OK`],
    [['INCR', 'n'], { reply: 9_007_199_254_740_993n }, 'INCR n → 9007199254740993'],
    [['LRANGE', 'l', '0', '-1'], { reply: ['a', null, ['b']] }, 'LRANGE l 0 -1 → [a, nil, [b]]'],
    [
      ['INCR', 'k'],
      { reply: undefined, error: 'ERR value is not an integer' },
      'INCR k → error: ERR value is not an integer',
    ],
    [['GET', 'k'], { via: 'pipeline' }, 'GET k (pipeline) → nil'],
    [['GET', 'k'], { via: 'direct' }, 'GET k (by the test) → nil'],
  ])('%s', (argv, more, expected) => {
    expect(command(argv as string[], more)).toBe(expected)
  })

  test('cuts long ones and shows their length', () => {
    expect(command(['SET', 'k', 'x'.repeat(1000)])).toBe(`SET k "${'x'.repeat(60)}…" (1000 bytes) → nil`)
    expect(command(['MGET', ...Array.from({ length: 100 }, (_, index) => `k${index}`)])).toMatch(
      /k14 … \(101 words\) → nil$/,
    )
    expect(command(['LRANGE', 'l', '0', '-1'], { reply: Array.from({ length: 50 }, () => 1) })).toBe(
      'LRANGE l 0 -1 → [1, 1, 1, 1, 1, 1, 1, 1, … (50 items)]',
    )
  })
})

describe('timeline() of untrusted text', () => {
  const evil = 'a\u001b[31mred\nforged #9  09:00:00.000\r\u0007\u0000\u0085\u2028\u202egnp\u200b\u009b1m\ufeff'

  test('contains no terminal escapes and no forged lines', () => {
    const traffic = new TestTraffic()
    traffic.append({
      type: 'request',
      service: 'store',
      method: evil,
      url: `https://store.test/${evil}`,
      headers: [],
      body: none,
    })
    traffic.append({ type: 'command', argv: [utf8(evil), utf8(evil)], user: '', via: 'request', error: evil })
    traffic.append({ type: 'keyspace', event: evil, key: utf8(evil) })
    const published = traffic.append({ ...publishedOrder, messageId: evil, url: evil, body: utf8(evil), queue: evil })
    const attempt = traffic.append(
      {
        type: 'attempt',
        messageId: evil,
        kind: 'message',
        url: evil,
        method: evil,
        retried: 0,
        maxRetries: 1,
        reason: evil,
        waitReason: evil,
        headers: [],
        body: none,
      },
      published.seq,
    )
    traffic.complete(attempt, {
      outcome: {
        at: start,
        status: 500,
        error: evil,
        headers: [],
        body: utf8(evil),
        state: 'RETRY',
        next: { at: start + 1, delayMs: 1, reason: evil },
        note: evil,
      },
    })
    traffic.append({ type: 'message', messageId: evil, state: 'WAITING', reason: evil })
    traffic.append({
      type: 'dead-letter',
      messageId: evil,
      dlqId: evil,
      kind: 'message',
      url: evil,
      status: 0,
      error: evil,
    })
    traffic.append({ type: 'fault', point: evil, fault: evil, target: evil })
    traffic.append({ type: 'workflow', runId: evil, url: evil, state: 'RUN_STARTED' })
    const lines = timeline(traffic.entries, { keyspace: true }).split('\n')
    for (const line of lines) expect(line).toMatch(/^[^\x00-\x1f\x7f-\x9f\u200b\u2028\u202e\ufeff]*$/)
    expect(lines.filter((line) => /^ +#\d+ {2}\d/.test(line))).toHaveLength(9)
    expect(lines[2]).toContain(
      'a\\x1b[31mred\\nforged #9  09:00:00.000\\r\\x07\\x00\\x85\\u2028\\u202egnp\\u200b\\x9b1m\\ufeff',
    )
  })

  test('cuts long bodies with their length, and only counts binary ones', () => {
    const body = (given: string): string => {
      const traffic = new TestTraffic()
      traffic.append({ ...publishedOrder, body: latin1(given) })
      return text(traffic).split('\n')[2]!.trim()
    }
    expect(body('x'.repeat(81))).toBe(`body: ${'x'.repeat(80)}… (81 bytes)`)
    expect(body('\xff\xfe')).toMatch(/^body: 2 bytes.*not text$/)
    expect(body('a\0')).toMatch(/^body: 2 bytes.*not text$/)
    expect(body('\xf0\x9f\x98\x80')).toBe('body: 😀')
  })

  test('can omit bodies', () => {
    expect(timeline(orderStory().entries, { bodies: 0 })).not.toMatch(/^ +(body|answer):/m)
  })
})

describe('timeline() with a limit', () => {
  const long = (): TestTraffic => {
    const traffic = new TestTraffic()
    for (let index = 0; index < 100; index++) {
      traffic.append({ type: 'keyspace', event: 'expired', key: utf8(`k${index}`) })
    }
    return traffic
  }
  const numbers = (given: string): number[] => [...given.matchAll(/#(\d+)/g)].map(([, number]) => Number(number))

  test('shows the end and the number of earlier entries', () => {
    const told = timeline(long().entries, { limit: 3 })
    expect(told.split('\n')[0]).toBe('(97 earlier entries not shown)')
    expect(numbers(told)).toEqual([98, 99, 100])
  })

  test('shows the surroundings of an entry', () => {
    const told = timeline(long().entries, { limit: 4, around: 50 })
    expect(numbers(told)).toEqual([48, 49, 50, 51])
    expect(told.split('\n').at(-1)).toBe('(49 later entries not shown)')
    expect(numbers(timeline(long().entries, { limit: 4, around: 1 }))).toEqual([1, 2, 3, 4])
    expect(numbers(timeline(long().entries, { limit: 4, around: 100 }))).toEqual([97, 98, 99, 100])
  })
})

test('timeline() handles more entries than a call can have arguments', () => {
  const traffic = new TestTraffic()
  for (let count = 0; count < 130_000; count++) traffic.append(publishedOrder)
  expect(timeline(traffic.entries)).toContain('#130000')
})

test('the entry of a duplicate states why it is one', () => {
  using sandbox = createSandbox()
  const publish = (more: object) => sandbox.queue.publish({ to: 'https://shop.test/orders', retries: 0, ...more })
  for (let count = 0; count < 2; count++) publish({ deduplicationId: 'order\u001b42' })
  for (let count = 0; count < 2; count++) publish({ body: 'same', contentBasedDeduplication: true })
  const [byId, byContent, ...others] = sandbox.traffic
    .timeline()
    .split('\n')
    .filter((line) => line.includes('duplicate'))
  expect(byId).toMatch(/a duplicate.*deduplication ID "order\\x1b42": /)
  expect(byContent).toContain('a duplicate by its content: ')
  expect(others).toEqual([])
})
