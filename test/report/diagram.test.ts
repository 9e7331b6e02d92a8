import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/kernel/bytes.js'
import { mermaidDiagram, mermaidText } from '../../src/report/mermaid.js'
import { textDiagram } from '../../src/report/text-diagram.js'
import { Traffic } from '../../src/report/traffic-view.js'
import { none, orderStory, publishedOrder, start, TestTraffic } from './story.js'

test('textDiagram() draws an order', () => {
  expect(textDiagram(orderStory().entries)).toBe(
    [
      '                       app                 store                queue          shop.test/orders',
      '                        │                    │                    │                    │',
      '2030-01-01              │                    │                    │                    │',
      '09:00:00.000            │ POST /v2/publish/https://shop.test/orders                    │',
      '                        │────────────────────────────────────────>│                    │',
      '                        │<╌ 201 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│                    │',
      '                        │                    │                    │─ msg_2Kd… 1/3 ────>│',
      '         +3s            ┆                    ┆                    ┆                    ┆',
      '09:00:03.000            │                    │                    │ 500 Internal Server Error',
      '                        │                    │                    │<╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│',
      '                        │                    │                    ● waits 12s until 09:00:15.000:',
      '                        │                    │                    │ default back-off   │',
      '        +12s            ┆                    ┆                    ┆                    ┆',
      '09:00:15.000            │                    │                    │─ msg_2Kd… 2/3 ────>│',
      '                        │─ INCR charged:42 ─>│                    │                    │',
      '                        │<╌ 1 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│                    │                    │',
      '                        │                    │                    │ the handler ran, its response',
      '                        │                    │                    │ was lost           │',
      '                        │                    │                    │x╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│',
      '                        │                    │                    ● waits 2m28s until 09:02:43.000:',
      '                        │                    │                    │ default back-off   │',
      '      +2m28s            ┆                    ┆                    ┆                    ┆',
      '09:02:43.000            │                    │                    │─ msg_2Kd… 3/3 ────>│',
      '                        │                    │                    │<╌ 200 ╌╌╌╌╌╌╌╌╌╌╌╌╌│',
    ].join('\n'),
  )
})

/** Deliveries to many destinations, one of them with a long name. */
function manyDestinations(count: number): TestTraffic {
  const traffic = new TestTraffic()
  for (let index = 0; index < count; index++) {
    const url = `https://shop.test/a/rather/long/path/to/handler-${index}?token=${index}`
    traffic.append({
      type: 'attempt',
      messageId: `msg_${index}AAAAAAAAAAAAA`,
      kind: 'callback',
      url,
      method: 'POST',
      retried: 0,
      maxRetries: 0,
      reason: 'first attempt',
      headers: [],
      body: none,
    })
  }
  return traffic
}

describe('a diagram in 100 columns is readable', () => {
  test.each([1, 2, 4, 5, 40])('with %i destinations', (count) => {
    const lines = textDiagram(manyDestinations(count).entries).split('\n')
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)
  })

  test('lists long names below, and distinguishes those with the same end', () => {
    const traffic = manyDestinations(2)
    const { seq, at, ...again } = traffic.ofType('attempt')[0]!
    traffic.append({ ...again, url: 'https://other.test/a/rather/long/path/to/handler-0' })
    expect([seq, at]).toEqual([1, start])
    const drawn = textDiagram(traffic.entries, { width: 80 })
    expect(drawn).toMatch(/\n…[^\n]*handler-0 is shop\.test\/a\/rather\/long\/path\/to\/handler-0\n/)
    expect(drawn).toMatch(/\n3…[^\n]*handler-0 is other\.test\/a\/rather\/long\/path\/to\/handler-0$/)
  })

  test('gives the fifth and all further destinations one column', () => {
    const head = textDiagram(manyDestinations(6).entries).split('\n')[0]!
    expect(
      head
        .trim()
        .split(/\s{1,}/)
        .filter((word) => word.includes('handler')),
    ).toHaveLength(4)
    expect(head).toContain('destinations')
  })
})

test('shows dates for more than one day', () => {
  const traffic = new TestTraffic()
  traffic.append({ ...publishedOrder, notBefore: start + 86_400_000 })
  traffic.at(86_400)
  traffic.append({
    type: 'dead-letter',
    messageId: publishedOrder.messageId,
    dlqId: '1-0',
    kind: 'message',
    url: '',
    status: 500,
  })
  const drawn = textDiagram(traffic.entries)
  expect(drawn).toMatch(/^2030-01-01 /m)
  expect(drawn).toMatch(/^ {9}\+1d /m)
  expect(drawn).toMatch(/^2030-01-02 /m)
  expect(drawn).toContain('● msg_2Kd… waits 1d until 2030-01-02 09:00:00.000: as published')
})

test('draws an empty log', () => {
  expect(textDiagram([])).toBe('(no traffic)')
  expect(mermaidDiagram([])).toBe('sequenceDiagram\n  participant p0 as app\n  Note over p0: no traffic')
})

test('a diagram escapes captured text', () => {
  const evil = '\u001b[31m\nA->>B: forged\u202e'
  const traffic = manyDestinations(1)
  traffic.append({ type: 'command', argv: [utf8(evil)], user: '', via: 'direct', reply: null })
  traffic.append({ type: 'fault', point: evil, fault: evil, target: evil })
  traffic.append({ type: 'dead-letter', messageId: evil, dlqId: evil, kind: 'message', url: evil, status: 1 })
  for (const line of textDiagram(traffic.entries).split('\n')) expect(line).toMatch(/^[^\x00-\x1f\x7f-\x9f\u202e]*$/)
  const mermaid = mermaidDiagram(traffic.entries).split('\n')
  // A header, two participants and a store, one time, and four steps: captured text added no line.
  expect(mermaid).toHaveLength(1 + 3 + 1 + 4)
  for (const line of mermaid)
    expect(line).toMatch(/^(sequenceDiagram| {2}participant p\d as | {2}Note | {2}p\d(->>|-->>|--x)p\d: )/)
})

describe('Mermaid', () => {
  test('draws the order', () => {
    // The parser of Mermaid 11 accepts it.
    expect(mermaidDiagram(orderStory().entries)).toBe(
      [
        'sequenceDiagram',
        '  participant p0 as app',
        '  participant p1 as store',
        '  participant p2 as queue',
        '  participant p3 as shop.test/orders',
        '  Note over p0: 2030-01-01 09:00:00.000',
        '  p0->>p2: POST /v2/publish/https://shop.test/orders',
        '  p2-->>p0: 201',
        '  p2->>p3: msg_2Kd… 1/3',
        '  Note over p0: 09:00:03.000 (+3s)',
        '  p3-->>p2: 500 Internal Server Error',
        '  Note right of p2: waits 12s until 09:00:15.000: default back-off',
        '  Note over p0: 09:00:15.000 (+12s)',
        '  p2->>p3: msg_2Kd… 2/3',
        '  p0->>p1: INCR charged:42',
        '  p1-->>p0: 1',
        '  p3--xp2: the handler ran, its response was lost',
        '  Note right of p2: waits 2m28s until 09:02:43.000: default back-off',
        '  Note over p0: 09:02:43.000 (+2m28s)',
        '  p2->>p3: msg_2Kd… 3/3',
        '  p3-->>p2: 200',
      ].join('\n'),
    )
  })

  test.each([
    ['a;b#c', 'a#59;b#35;c'],
    ['%%{init}', '#37;#37;#123;init#125;'],
    ['<b>"x"</b>', '#60;b#62;#34;x#34;#60;/b#62;'],
    ['end', '#101;nd'],
    ['wrap: all', '#119;rap: all'],
    ['nowrap:x', '#110;owrap:x'],
    ['', '#32;'],
    ['Straße 5 → ok', 'Straße 5 → ok'],
  ])('%j is escaped as %j', (given, expected) => {
    expect(mermaidText(given)).toBe(expected)
  })
})

test('traffic.diagram() supports both formats and filtered views', () => {
  const traffic = orderStory()
  const view = new Traffic(traffic, { seed: 7 })
  expect(view.timeline({ limit: 1 })).toContain('#7')
  expect(() => view.timeline({ limt: 1 } as object)).toThrow(
    /timeline\(\) .*option "limt".*mean "limit".*bodies, ids, keyspace, limit, redact, around/,
  )
  expect(view.diagram()).toBe(textDiagram(traffic.entries))
  expect(view.diagram({ format: 'mermaid' })).toBe(mermaidDiagram(traffic.entries))
  expect(view.filter((entry) => entry.type === 'attempt')).toHaveLength(3)
  expect([...view].length).toBe(view.size)
  expect(Traffic.of(traffic)).toBe(view)
  expect(Traffic.of(view)).toBe(view)
})
