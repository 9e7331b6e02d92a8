import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { catalog, faultKinds } from '../../src/faults/catalog.js'
import * as fault from '../../src/faults/constructors.js'
import { faultProblems } from '../../src/faults/fault-schema.js'
import { ruleProblems } from '../../src/rules/rule-schema.js'
import { catalogTable } from '../support/fault-tables.js'

const sentences = (rule: unknown): string[] => ruleProblems(rule).map(({ sentence }) => sentence)
const reset = { kind: 'reset' }

describe('valid rules', () => {
  test.each(faultKinds)('include the example of %s', (kind) => {
    const { example, points } = catalog[kind]
    expect(faultProblems(example)).toEqual([])
    for (const on of points) expect(sentences({ on, fault: example, until: '1h' })).toEqual([])
  })

  test.each<[string, object]>([
    ['several points', { on: ['queue.delivery', 'queue.callback'], fault: reset }],
    ['a window of spans', { on: 'store.request', from: '10s', until: 30_000, fault: reset }],
    ['a window of instants', { on: 'store.request', from: '2030-01-01T09:00:00Z', until: '2030-01-02', fault: reset }],
    ['a cron pattern with a zone', { on: 'store.request', cron: 'CRON_TZ=Europe/Berlin 0 3 * * 1-5', fault: reset }],
    ['all counters', { on: 'store.request', skip: 0, times: 1, every: 2, chance: [1, 10], fault: reset }],
    ['a range of attempts', { on: 'queue.delivery', match: { attempt: { from: 2 } }, fault: reset }],
  ])('include %s', (_, rule) => {
    expect(sentences(rule)).toEqual([])
  })
})

describe('invalid rules: the problem names the field and the nearest valid name', () => {
  test.each<[string, unknown, string]>([
    ['no object', 'reset', 'a fault rule must be an object such as { on:'],
    [
      'unknown fault',
      { on: 'store.request', fault: { kind: 'latancy' } },
      'fault.kind: there is no fault "latancy". Did you mean "latency"?',
    ],
    ['no kind', { on: 'store.request', fault: {} }, 'fault.kind is missing. Use one of latency, status,'],
    ['no fault', { on: 'store.request' }, 'fault is missing'],
    ['no point', { fault: reset }, 'on is missing. Use one of store.request,'],
    [
      'unknown point',
      { on: 'store.requests', fault: reset },
      'on: there is no point "store.requests". Did you mean "store.request"?',
    ],
    [
      'unknown point in a list',
      { on: ['store.request', 'queue.deliver'], fault: reset },
      'on[1]: there is no point "queue.deliver". Did you mean "queue.delivery"?',
    ],
    [
      'unknown field of a rule',
      { on: 'store.request', tims: 2, fault: reset },
      'there is no field "tims". Did you mean "times"?',
    ],
    [
      'unknown field of a match',
      { on: 'store.command', match: { keys: 'a' }, fault: { kind: 'error-reply', error: 'x' } },
      'match: there is no field "keys". Did you mean "key"?',
    ],
    [
      'unknown field of a fault',
      { on: 'store.request', fault: { kind: 'latency', waitMS: 3 } },
      'fault: there is no field "waitMS". Did you mean "waitMs"?',
    ],
    [
      'times as a text',
      { on: 'store.request', times: '2', fault: reset },
      'times must be a whole number, at least 1 (got "2")',
    ],
    [
      'a fault that is a text',
      { on: 'store.request', fault: 'reset' },
      "fault must be an object such as { kind: 'status'",
    ],
    [
      'a slip in a range of attempts',
      { on: 'queue.delivery', match: { attempt: { form: 3 } }, fault: reset },
      'match.attempt: there is no field "form". Did you mean "from"? The fields are from, to.',
    ],
    [
      'headers as a text',
      { on: 'store.request', match: { headers: 'a' }, fault: reset },
      'match.headers must be an object of',
    ],
    ['times: 0', { on: 'store.request', times: 0, fault: reset }, 'times must be a whole number, at least 1 (got 0)'],
    [
      'chance 0',
      { on: 'store.request', chance: [0, 10], fault: reset },
      'chance must be above 0, such as [1, 10] for one in ten (got [0,10])',
    ],
    ['chance over 1', { on: 'store.request', chance: [3, 2], fault: reset }, 'chance must not be above 1 (got [3,2])'],
    [
      'a window that ends before it begins',
      { on: 'store.request', from: '30s', until: '10s', fault: reset },
      'until must be after \'from\' (got "10s", with \'from\' "30s")',
    ],
    [
      'a window that ends as it begins',
      { on: 'store.request', until: 0, fault: reset },
      "until must be after 'from' (got 0, with 'from' 0)",
    ],
    [
      'a window of instants that is over',
      { on: 'store.request', from: '2030-01-02', until: '2030-01-01', fault: reset },
      "until must be after 'from'",
    ],
    ['no time', { on: 'store.request', from: 'soon', fault: reset }, `from must be a duration such as '30s'`],
    [
      'no cron',
      { on: 'store.request', cron: '61 * * * *', fault: reset },
      'cron must be a cron pattern of five fields:',
    ],
    [
      'another point',
      { on: 'store.command', fault: { kind: 'status', status: 500 } },
      `fault status has no effect at store.command.`,
    ],
    [
      'an invalid phase',
      { on: 'store.request', phase: 'before', fault: { kind: 'truncate', afterBytes: 3 } },
      `phase must be 'after' or omitted for truncate`,
    ],
    [
      'an invalid status',
      { on: 'store.request', fault: { kind: 'status', status: 99 } },
      'fault.status must be an HTTP status from 200 to 599 (got 99).',
    ],
    [
      'a header with a line end',
      { on: 'store.request', fault: { kind: 'status', status: 200, headers: { a: 'b\r\nc: d' } } },
      'fault.headers.a',
    ],
    [
      'latency of nothing',
      { on: 'store.request', fault: { kind: 'latency' } },
      'fault needs waitMs, or minMs and maxMs',
    ],
    [
      'latency from more to less',
      { on: 'store.request', fault: { kind: 'latency', minMs: 3, maxMs: 2 } },
      'fault must have minMs not above maxMs (got minMs 3, maxMs 2)',
    ],
    [
      'attempts from more to less',
      { on: 'queue.delivery', match: { attempt: { from: 3, to: 2 } }, fault: reset },
      'match must not have attempt.from above attempt.to (got from 3 to 2)',
    ],
    [
      'attempt 0',
      { on: 'queue.delivery', match: { attempt: 0 }, fault: reset },
      'match.attempt must be the number of an attempt',
    ],
    [
      'an invalid URL',
      { on: 'queue.delivery', match: { url: 'shop.test' }, fault: reset },
      `match.url must be an absolute URL`,
    ],
    [
      'an unknown flaw',
      { on: 'queue.delivery', fault: { kind: 'bad-signature', flaw: 'expird' } },
      'fault.flaw must be one of',
    ],
    ['an outage of deliveries without an end', { on: 'queue.delivery', fault: { kind: 'outage' } }, 'until is missing'],
  ])('reports %s', (_, rule, expected) => {
    const found = sentences(rule)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(expected)
  })
})

test.each(faultKinds)('the documented constructor call of %s returns a fault of that kind', (kind) => {
  const code = new RegExp(`^\\| \\[\`${kind}\`\\]\\(#${kind}\\) \\| \`(.+?)\` \\|`, 'm').exec(catalogTable())?.[1]
  const made = new Function('fault', `return ${code}`)(fault)
  expect(made).toEqual(catalog[kind].example)
  expect(faultProblems(made)).toEqual([])
})

test('every kind has a constructor, named as the kind in camel case', () => {
  const made = faultKinds.flatMap((kind) => Object.entries(catalog[kind].made))
  expect(Object.fromEntries(made)).toEqual({ ...fault })
  const camelCase = (kind: string) => kind.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  expect(made.map(([name]) => name)).toEqual(faultKinds.map(camelCase))
})

test.each([
  [fault.status(503), { kind: 'status', status: 503 }],
  [
    fault.status(200, { body: { a: 1 } }),
    { kind: 'status', status: 200, headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
  ],
  [fault.status(429, { retryAfter: '1m30s' }), { kind: 'status', status: 429, headers: { 'retry-after': '90' } }],
  [fault.latency('1m30s', '10s'), { kind: 'latency', waitMs: 90_000, jitterMs: 10_000 }],
  [fault.latency({ min: 5, max: '1s' }), { kind: 'latency', minMs: 5, maxMs: 1000 }],
  [
    fault.rateLimited({ limit: 'daily', retryAfter: '1h', form: 'date' }),
    { kind: 'rate-limited', limit: 'daily', retryAfter: { form: 'date', waitMs: 3_600_000 } },
  ],
  [fault.clockSkew('-10m'), { kind: 'clock-skew', byMs: -600_000 }],
  [fault.clockSkew(5), { kind: 'clock-skew', byMs: 5 }],
  [fault.duplicate({ copies: 2, after: '1s' }), { kind: 'duplicate', copies: 2, afterMs: 1000 }],
  [fault.delay('1s', fault.reset()), JSON.parse('{"kind":"delay","waitMs":1000,"then":{"kind":"reset"}}')],
])('constructors return plain data: %j', (made, expected) => {
  expect(made).toEqual(expected)
  expect(JSON.parse(JSON.stringify(made))).toEqual(made)
  if (made.kind !== 'delay') expect(faultProblems(made)).toEqual([])
})

test('no file in src/rules names a kind of fault', () => {
  const folder = new URL('../../src/rules/', import.meta.url)
  const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'))
  expect(sources.filter((source) => /\bkind *[!=]== *'/.test(source))).toEqual([])
})
