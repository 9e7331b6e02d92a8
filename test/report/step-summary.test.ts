import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { describe, expect, test } from 'vitest'
import type { ReportedFailure } from '../../src/report/failure.js'
import { causeLines, failedTestsSummary, type SummarizedTest, tenantsSummary } from '../../src/report/step-summary.js'
import { runs, seedOr } from '../support/effort.js'

const mebibyte = 1024 * 1024
const markdown = new MarkdownIt({ html: true, linkify: true })

/** Returns the text of a summary as a browser shows it. */
function shown(summary: string): string {
  return markdown
    .render(summary)
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

/** Returns the tags of a summary, as a renderer of Markdown emits them. */
function tags(summary: string): string[] {
  return markdown.render(summary).match(/<\/?[a-z!][^>]*>/gi) ?? []
}

function summaryOf(tests: readonly SummarizedTest[], room = mebibyte): string {
  return failedTestsSummary(tests, room)!
}

const failure: ReportedFailure = {
  message: 'expected [ 1990, 1990 ] to deeply equal [ 1990 ]',
  causes: ['The handler of https://shop.test/pay threw: TypeError: fetch failed', '  in pay.ts:20:18'],
  hints: ['msg_xTq… called POST https://bank.test/charges in each of 2 attempts.'],
  replay: "STUNTDOUBLE_SEED=7 npx vitest run pay.test.ts -t 'charges once'",
  timeline: ['2030-01-01', '  #1  09:00:00.000  POST https://queue.test → 200'],
}
const charged: SummarizedTest = {
  titles: ['', 'shop', 'charges once'],
  place: 'pay.test.ts:24',
  failure,
  page: 'stuntdouble-report/1-charges-once.html',
}

describe('a summary of failed tests', () => {
  test('shows the cause first, then the facts, the folded timeline and the trace', () => {
    const summary = summaryOf([charged])
    expect(shown(summary).trim().split(/\n+/)).toEqual([
      'stuntdouble: 1 failed test',
      '1. shop › charges once',
      'Cause: The handler of https://shop.test/pay threw: TypeError: fetch failed',
      'in pay.ts:20:18',
      'Hint: msg_xTq… called POST https://bank.test/charges in each of 2 attempts.',
      'expected [ 1990, 1990 ] to deeply equal [ 1990 ]',
      'Timeline',
      '2030-01-01',
      '  #1  09:00:00.000  POST https://queue.test → 200',
      'Test: pay.test.ts:24',
      "Replay: STUNTDOUBLE_SEED=7 npx vitest run pay.test.ts -t 'charges once'",
      'Trace: stuntdouble-report/1-charges-once.html',
    ])
    expect(summary.indexOf('<details>')).toBeGreaterThan(summary.indexOf('</blockquote>'))
    expect(summary.indexOf('2030-01-01')).toBeGreaterThan(summary.indexOf('<details>'))
  })

  test('shows a hint that explains the error of the app before this error, also in an annotation', () => {
    const hint = 'Attempt 1 did so, and the handler threw TypeError: fetch failed, so attempt 2 did so again.'
    for (const cause of [
      'The handler of https://shop.test/pay threw: TypeError: fetch failed',
      'The handler of https://shop.test/pay threw in 2 attempts: TypeError: fetch failed',
    ]) {
      const test = { ...charged, failure: { ...failure, causes: [cause], hints: ['Another.', hint] } }
      expect(causeLines(test)).toEqual([hint, cause, 'Another.'])
      expect(shown(summaryOf([test]))).toMatch(/Hint: Attempt 1[^\n]*\n+Cause: The handler[^\n]*\n+Hint: Another\./)
    }
  })

  test('counts the errors of a test that it does not show', () => {
    expect(shown(summaryOf([{ ...charged, moreErrors: 1 }]))).toContain('1 more error of this test is in the log.')
    expect(shown(summaryOf([{ ...charged, moreErrors: 2 }]))).toContain('2 more errors of this test are in the log.')
    expect(shown(summaryOf([{ ...charged, moreErrors: 0 }]))).not.toContain('in the log')
  })

  test('shows the facts first if no cause is known', () => {
    const { causes: _, hints: _hints, ...facts } = failure
    const summary = summaryOf([
      { ...charged, failure: { ...facts, expected: 'Expected a message.', received: ['  #6'] } },
    ])
    expect(summary).not.toContain('<blockquote>')
    expect(shown(summary)).toMatch(/charges once\s+expected \[ 1990[^\n]*\nExpected a message\.\n {2}#6\s+Timeline/)
  })

  test('reads the message of a test that left no trace', () => {
    const message =
      '\u001b[31mexpected 1 to be 2\u001b[39m\n\nNo request reached the sandbox.\n\nReplay: npx jest pay\n\n2030-01-01\n  #1\n    at pay (pay.test.ts:3:4)'
    const text = shown(summaryOf([{ titles: ['pays'], place: 'pay.test.ts', message }]))
    expect(text).toMatch(
      /pays\s+expected 1 to be 2\nNo request reached the sandbox\.\s+Timeline\s+2030-01-01\n {2}#1\s+Test: pay\.test\.ts\nReplay: npx jest pay\n/,
    )
    expect(text).not.toContain('at pay')
  })

  test('redacts secrets', () => {
    const secret = `sk_live_${'a1B2'.repeat(6)}`
    const line = `authorization: Bearer ${secret}`
    const texts = { call: [line], causes: [line], expected: line, hints: [line], timeline: [line], message: line }
    const tests = [
      { titles: [line], place: line, failure: { ...texts, replay: line }, page: line },
      { titles: ['x'], place: 'x', message: `${'y'.repeat(900)} ${line}` },
    ]
    expect(summaryOf(tests)).not.toContain(secret.slice(0, 12))
    expect(tests.flatMap(causeLines).join('\n')).not.toContain(secret.slice(0, 12))
  })
})

describe('the limit of a summary', () => {
  test('counts the omitted ones of 10,000 failed tests', () => {
    const tests = Array.from({ length: 10_000 }, (_, index) => ({ ...charged, titles: [`ünïcödé 🎬 ${index}`] }))
    const summary = summaryOf(tests)
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(mebibyte)
    expect(Buffer.byteLength(summary)).toBeGreaterThan(mebibyte * 0.99)
    const blocks = summary.match(/<h3>/g)!.length
    const [, omitted] = /<p>(\d+) more failed tests are omitted, because a summary has at most 1 MiB\.<\/p>\n$/.exec(
      summary,
    )!
    expect(blocks + Number(omitted)).toBe(10_000)
  })

  test('is exact in bytes, and never cuts a block or a character', () => {
    const tests = [charged, { ...charged, titles: ['€ß🎬'] }, { ...charged, message: '日本語' }]
    const whole = summaryOf(tests)
    const size = Buffer.byteLength(whole)
    expect(size).toBeGreaterThan(whole.length)
    const summaries = new Set<string>()
    for (let room = 0; room < size + 200; room++) {
      const summary = failedTestsSummary(tests, room)
      if (summary === undefined) continue
      expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(room)
      summaries.add(summary)
    }
    expect(summaries.size).toBe(4)
    for (const summary of summaries) {
      expect(Buffer.from(summary).toString()).toBe(summary)
      for (const tag of ['h3', 'pre', 'details', 'blockquote', 'code', 'ul'])
        expect(summary.split(`<${tag}>`).length, tag).toBe(summary.split(`</${tag}>`).length)
      const omitted = Number(/<p>(\d+) more/.exec(summary)?.[1] ?? 0)
      expect((summary.match(/<h3>/g) ?? []).length + omitted).toBe(3)
    }
    expect(failedTestsSummary(tests, 10)).toBeUndefined()
  })

  test('one test cannot fill the summary', () => {
    const huge = Array.from({ length: 20_000 }, () => 'é🎬'.repeat(30_000))
    const summary = summaryOf([
      { ...charged, failure: { ...failure, causes: huge, timeline: huge, message: huge[0]!.repeat(20) } },
      charged,
    ])
    expect(Buffer.byteLength(summary)).toBeLessThan(400_000)
    expect(shown(summary)).toContain('… more lines')
    expect(summary).toContain('2. <code>')
  })
})

const pieces = [
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '</pre>',
    '</code>',
    '</details>',
    '<!--',
    ']]>',
    '<?php',
  ],
  ...['</blockquote>\n\n# heading', '\n\n', '\n', '\r\n', '\r', '\u2028', '\u0085', '\t', '    '],
  ...[
    '```',
    '~~~',
    '`',
    '*bold*',
    '__bold__',
    '~~gone~~',
    '- item',
    '1. item',
    '> quote',
    '---',
    '| a | b |\n|---|---|',
  ],
  ...[
    '[link](https://evil.test)',
    '![image](https://evil.test/a.png)',
    '[ref]: https://evil.test',
    '<https://evil.test>',
  ],
  ...['https://evil.test/', 'www.evil.test', 'ada@evil.test', '@octocat', '@org/team', '#1', 'GH-1', 'org/repo#1'],
  ...['::error::hello', '::set-output name=a::b', '##[command]rm', '##vso[task]', '::stop-commands::x', ':tada:'],
  ...[
    '\u202e',
    '\u2066',
    '\u200b',
    '\u001b[31m',
    '\u0000',
    '\ud800',
    '\udc00',
    '&lt;',
    '&#60;',
    '&amp',
    '$x$',
    '\\',
    '🎬',
  ],
]
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 6 })
  .map((parts) => parts.join(''))
const lines = fc.array(hostile, { maxLength: 3 })

/** A test with hostile texts everywhere. */
const hostileTest: fc.Arbitrary<SummarizedTest> = fc.record({
  titles: lines,
  place: hostile,
  page: hostile,
  message: hostile,
  failure: fc.option(
    fc.record({
      ...{ call: lines, causes: lines, expected: hostile, received: lines, hints: lines, notes: lines },
      ...{ replay: hostile, timeline: lines, message: hostile },
    }),
    { nil: undefined },
  ),
})

/** Markup that the module writes itself. None of it has an attribute. */
const own = /^<\/?(?:h2|h3|code|blockquote|b|br|pre|details|summary|ul|li|p|table|tr|td)>$/

/** Checks that captured text is only text. */
function expectOnlyText(summary: string): void {
  for (const { type } of markdown.parse(summary, {})) expect(type).toBe('html_block')
  for (const tag of tags(summary)) expect(tag).toMatch(own)
  // GitHub links mentions, issues and URLs in text outside of these two elements.
  const outside = summary.replace(/<code>[^<]*<\/code>|<pre>[^<]*<\/pre>/g, '').replace(/<[^>]*>/g, '')
  expect(outside).toMatch(/^[\w\s.:…,]*$/)
  // A log that prints the file runs no commands.
  expect(summary).not.toMatch(/::|##/)
  expect(summary).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/)
  expect(Buffer.from(summary).toString()).toBe(summary)
}

describe('captured text', () => {
  test('is never markup, a link, a mention or a command', () => {
    fc.assert(
      fc.property(fc.array(hostileTest, { minLength: 1, maxLength: 3 }), (tests) => expectOnlyText(summaryOf(tests))),
      { seed: seedOr(1), numRuns: runs(150, 2_000, 20_000) },
    )
  })

  test('is never markup in a summary of tenants', () => {
    const tenant = fc.record({ name: hostile, problems: lines, timeline: hostile, counts: fc.constant([]) })
    fc.assert(
      fc.property(hostile, fc.array(tenant, { maxLength: 2 }), (command, tenants) =>
        expectOnlyText(tenantsSummary({ command, code: 1, tenants }, mebibyte)!),
      ),
      { seed: seedOr(1), numRuns: runs(100, 1_000, 10_000) },
    )
  })

  test('stays readable', () => {
    const text = 'a <b> & "c" \'d\' *e* [f](g) @h #1 ::i:: `j` $k$ \\l'
    expect(shown(summaryOf([{ titles: [text], place: 'x', message: text }])).split(text)).toHaveLength(3)
  })
})

test('a summary of tenants has the counts, the problems and the timeline of each', () => {
  const summary = tenantsSummary(
    {
      command: 'pytest',
      code: 2,
      tenants: [
        { name: 'main', counts: [['dead letters', 1]], problems: ['No destination.'], timeline: '2030-01-01\n  #1' },
      ],
    },
    mebibyte,
  )!
  expect(shown(summary).trim().split(/\n+/)).toEqual([
    'stuntdouble run: pytest ended with exit code 2',
    'Tenant main',
    'Problem: No destination.',
    'dead letters1',
    'Timeline',
    '2030-01-01',
    '  #1',
  ])
  expect(shown(tenantsSummary({ command: 'true', code: 0, tenants: [] }, mebibyte)!)).toContain(
    'No request reached the server.',
  )
})
