import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createSandbox, fault } from '../../../../src/index.js'
import { loadTrace } from '../../../../src/report/index.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { fieldsOf } from '../../src/entry/entry-fields.js'
import { relationsOf } from '../../src/entry/relations.js'
import { signaturesOf } from '../../src/entry/signature-check.js'
import { entryText, lineOf, waitText } from '../../src/entry-text.js'
import { listed } from '../../src/list/list-rows.js'
import { hexLines, readBody } from '../../src/readable-bytes.js'
import { orders, story } from './opened.js'

const entriesOf = async (): Promise<readonly TraceEntry[]> => (await story()).traffic.toTrace().entries

describe('entryText()', () => {
  test('contains the same result and URL as the timeline', async () => {
    const { traffic } = await story()
    const timeline = traffic.timeline({ ids: 'full', bodies: 0 })
    for (const entry of traffic.toTrace().entries) {
      if (entry.type !== 'attempt') continue
      const { head, url, end } = entryText(entry)
      const line = timeline.split('\n').find((one) => one.includes(`#${entry.seq} `))!
      expect(line).toContain(head.slice(0, 'attempt 1 of 4'.length))
      expect(line).toContain(url)
      expect(line).toContain(end)
    }
  })

  test('has the reasons and the ends of waits', async () => {
    const waits = (await entriesOf())
      .filter((entry) => entry.type === 'attempt')
      .map((entry) => [entry, waitText] as const)
    expect(waits[0]![1](waits[0]![0])).toMatch(/^waits 12s until 09:00:12.000: .*back-?off/)
  })

  test('escapes hostile fields of any type, on one line', () => {
    const unsafe = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]/
    const text = fc.string({ unit: fc.constantFrom('a', '\u202e', '\x1b', '\n', '<', '"', '\u2028', '😀', '\ud800') })
    fc.assert(
      fc.property(
        text,
        fc.constantFrom(
          'request',
          'outbound',
          'command',
          'keyspace',
          'published',
          'attempt',
          'message',
          'dead-letter',
          'fault',
          'setting',
          'unheard-of',
          '__proto__',
        ),
        (given, type) => {
          const names = [
            'method',
            'url',
            'error',
            'event',
            'key',
            'messageId',
            'kind',
            'state',
            'reason',
            'dlqId',
            'resource',
            'name',
            'change',
            'fault',
            'point',
            'target',
            'rule',
            'waitReason',
            'note',
            given,
          ]
          const entry = {
            ...{ type, seq: 1, at: 0, argv: [given, { base64: '/w==' }], labels: [given], value: { [given]: given } },
            ...Object.fromEntries(names.map((name) => [name, given])),
          } as unknown as TraceEntry
          const words = entryText(entry)
          expect([lineOf(words), ...words.notes].filter((line) => unsafe.test(line))).toEqual([])
          for (const { name, text: shown } of fieldsOf(entry)) {
            expect(unsafe.test(name)).toBe(false)
            expect(unsafe.test(shown.replaceAll('\n', ''))).toBe(false)
          }
        },
      ),
    )
  })

  test('fieldsOf() has a label for every field in the schema of traces', async () => {
    const names = (await entriesOf()).flatMap((entry) => fieldsOf(entry).map(({ name }) => name))
    expect(names.filter((name) => /[a-z][A-Z]/.test(name))).toEqual([])
  })
})

describe('the list', () => {
  test('has a line for each entry, each wait and each day, and finds an entry again', async () => {
    const sandbox = createSandbox({ seed: 3, startAt: '2030-01-01T20:00:00Z' })
    sandbox.destinations.script(orders, [fault.status(500)])
    sandbox.queue.publish({ to: orders, delay: '5h' })
    await sandbox.clock.drain()
    const { entries } = sandbox.traffic.toTrace()
    const rows = listed(entries, {})
    const shown = Array.from({ length: rows.length }, (_, row) => `${rows.kind(row)} ${rows.entry(row).type}`)
    expect(shown).toEqual([
      ...['day published', 'entry published', 'wait published', 'entry clock'],
      ...['day attempt', 'entry attempt', 'wait attempt', 'entry attempt'],
    ])
    for (const { seq } of entries) expect(rows.entry(rows.rowOf(seq)).seq).toBe(seq)
    for (const { seq } of entries) expect(rows.kind(rows.rowOf(seq))).toBe('entry')
  })

  test('is filtered by text, by kinds and by a range, including waits', async () => {
    const entries = await entriesOf()
    expect(listed(entries, { words: ['attempt', '503'] }).count).toBeGreaterThan(0)
    expect(listed(entries, { words: ['no such word'] }).count).toBe(0)
    expect(listed(entries, { groups: new Set(['Commands']) }).count).toBe(1)
    const published = entries.find(({ type }) => type === 'published')!
    // A second after the first attempt there is no entry, and the message waits.
    const range = { from: published.at + 1000, to: published.at + 2000 }
    const rows = listed(entries, { range })
    const kinds = Array.from({ length: rows.length }, (_, row) => rows.entry(row).type)
    expect(kinds).toContain('attempt')
    expect(kinds).not.toContain('command')
  })
})

test('relationsOf() returns the causes and effects of the causal tree', async () => {
  const { traffic } = await story()
  const { entries } = traffic.toTrace()
  for (const entry of entries) {
    const { cause, effects } = relationsOf(entries, entry)
    expect(cause).toBe(entry.cause)
    expect(effects).toEqual(traffic.filter(({ cause: seq }) => seq === entry.seq).map(({ seq }) => seq))
  }
})

describe('signaturesOf()', () => {
  const at = Date.parse('2030-01-01T09:00:00Z')
  const body = '{"id":42}'
  const signed = async (claims: object): Promise<string> =>
    new SignJWT({ ...claims } as Record<string, unknown>).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32))
  const entry = (header: string): TraceEntry =>
    ({
      type: 'attempt',
      seq: 1,
      at,
      url: orders,
      body,
      headers: [['Service-Signature', header]],
    }) as unknown as TraceEntry
  const good = {
    ...{ iss: 'Service', sub: orders, nbf: at / 1000 - 1, iat: at / 1000, exp: at / 1000 + 300 },
    body: createHash('sha256').update(body).digest('base64url'),
  }

  test('reads and checks claims', async () => {
    const [one] = signaturesOf(entry(await signed(good)))
    expect(one).toMatchObject({ header: 'Service-Signature', algorithm: 'HS256' })
    expect(one!.claims.filter(({ holds }) => holds === true)).toHaveLength(5)
    expect(one!.claims.filter(({ holds }) => holds === false)).toEqual([])
  })

  test.each([
    ['sub', { ...good, sub: `${orders}/` }],
    ['body', { ...good, body: 'other' }],
    ['exp', { ...good, exp: at / 1000 - 1 }],
    ['nbf', { ...good, nbf: at / 1000 + 1 }],
  ])('finds a wrong %s', async (name, claims) => {
    const [one] = signaturesOf(entry(await signed(claims)))
    expect(one!.claims.filter(({ holds }) => holds === false).map((claim) => claim.name)).toEqual([
      expect.stringContaining(`(${name})`),
    ])
  })

  test('finds no wrong claim in real deliveries of a trace', async () => {
    const { traffic } = await story()
    const attempts = loadTrace(JSON.stringify(traffic))
      .toTrace()
      .entries.filter(({ type }) => type === 'attempt')
    const found = attempts.flatMap(signaturesOf)
    expect(found.length).toBeGreaterThanOrEqual(attempts.length)
    expect(found.flatMap(({ claims }) => claims).filter(({ holds }) => holds === false)).toEqual([])
    expect(found.every(({ claims }) => claims.some(({ name, holds }) => name.includes('(body)') && holds))).toBe(true)
  })

  test.each(['', 'x', 'a.b.c', '....', 'eyJ.eyJ.', 'bnVsbA.bnVsbA.x'])(
    'ignores %j, which is not a signature',
    (header) => {
      expect(signaturesOf(entry(header))).toEqual([])
    },
  )
})

describe('readBody()', () => {
  test('formats bytes as Node.js does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const digits = hexLines(bytes, 1000)
          .split('\n')
          .map((line) => line.slice(10, 57).replaceAll(' ', ''))
          .join('')
        expect(digits).toBe(Buffer.from(bytes).toString('hex'))
      }),
    )
  })

  test('reports that a body was cut', () => {
    expect(readBody({ cut: 'abc', size: 9 })).toMatchObject({ text: 'abc', cutFrom: 9 })
    expect(readBody({ base64: '/w==' })).toEqual({ bytes: Uint8Array.of(255) })
  })
})
