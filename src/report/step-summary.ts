import { utf8 } from '../kernel/bytes.js'
import { plural } from '../kernel/plural.js'
import type { ReportedFailure } from './failure.js'
import { isFrame } from './failure-text.js'
import { Redaction } from './redaction.js'
import { excerpt, withoutColors } from './safe-text.js'

// A summary of GitHub Actions is Markdown. Markdown is parsed only outside of HTML blocks, so everything is written as
// HTML blocks: a line that begins with a tag of a block, up to the next blank line, and `<pre>` up to `</pre>`. Captured
// text is in `<code>` and `<pre>` only, because GitHub links no mentions, issues and URLs in these elements.

/** A failed test of a summary. Its texts may be untrusted. */
export interface SummarizedTest {
  /** Names that lead to the test. Empty names are not shown. */
  readonly titles: readonly string[]
  /** Location of the failure: `test/orders.test.ts:12`. */
  readonly place: string
  /** Failure that the test stored with its trace. */
  readonly failure?: ReportedFailure | undefined
  /** Message of the runner, which is used for a test without a trace. */
  readonly message?: string | undefined
  /** Number of errors of the test that are not shown: for example, of `expect.soft()`. Default: 0. */
  readonly moreErrors?: number | undefined
  /** Path of the page with the trace. */
  readonly page?: string | undefined
}

/** Facts about one tenant of `stuntdouble run`. */
export interface SummarizedTenant {
  readonly name: string
  /** Number of events by their name, in the order in which they are shown. */
  readonly counts: readonly (readonly [what: string, count: number])[]
  /** Problems: unhandled deliveries, unused faults, violated invariants. */
  readonly problems: readonly string[]
  /** Note about what the counts include. */
  readonly note?: string | undefined
  readonly timeline: string
}

/** Maximum number of lines and characters of one part of a test, and of characters in a line or a name. */
const maxLines = 200
const maxChars = 20_000
const maxLine = 1_000
const maxName = 300
/**
 * Numbers of texts of a list, and of characters of a text and of a line, that are read. They are larger than the numbers
 * that are shown, so that no secret is cut at the end and not recognized.
 */
const readOfList = maxLines + 1
const readOfText = 65_536
const readOfLine = maxLine + 8_192

const redaction = new Redaction()

/**
 * Returns a summary of failed tests in Markdown. Tests that do not fit are omitted and counted.
 * @param room maximum number of bytes in UTF-8
 * @returns `undefined` if not even the heading fits
 */
export function failedTestsSummary(tests: readonly SummarizedTest[], room: number): string | undefined {
  const heading = `<h2>stuntdouble: ${plural(tests.length, 'failed test')}</h2>\n`
  return fitted(heading, tests, (test, index) => testBlock(test, index + 1), 'failed test', room)
}

/** Returns a summary of what the tenants of a server did while a command ran. The parameters are as above. */
export function tenantsSummary(
  { command, code, tenants }: { command: string; code: number; tenants: readonly SummarizedTenant[] },
  room: number,
): string | undefined {
  const used = tenants.length === 0 ? '<p>No request reached the server.</p>\n' : ''
  const heading = `<h2>stuntdouble run: ${inline(command)} ended with exit code ${code}</h2>\n${used}`
  return fitted(heading, tenants, tenantBlock, 'tenant', room)
}

/** Returns the cause of a failure as plain lines, for an annotation: causes and hints, or else the facts. */
export function causeLines({ failure, message }: SummarizedTest): string[] {
  const { causes, facts } = partsOf(failure, message)
  return (causes.length > 0 ? causes.map(([, line]) => line) : facts).map((line) => safe(line, maxLine))
}

/** Returns a name or another short text on one line: redacted, and safe to print. */
export function safeName(name: string): string {
  return safe(name, maxName)
}

/** Appends blocks while they fit, and then the number of the remaining ones. */
function fitted<T>(
  heading: string,
  items: readonly T[],
  blockOf: (item: T, index: number) => string,
  what: string,
  room: number,
): string | undefined {
  const restOf = (count: number): string =>
    `<p>${plural(count, `more ${what} is`, `more ${what}s are`)} omitted, because a summary has at most 1 MiB.</p>\n`
  // The first blank line ends an HTML block of an earlier summary.
  const start = `\n\n${heading}\n`
  let left = room - bytesIn(start) - bytesIn(restOf(items.length))
  if (left < 0) return undefined
  const blocks: string[] = []
  for (const [index, item] of items.entries()) {
    const block = `${blockOf(item, index)}\n`
    left -= bytesIn(block)
    if (left < 0) return start + blocks.join('') + restOf(items.length - index)
    blocks.push(block)
  }
  return start + blocks.join('')
}

function bytesIn(text: string): number {
  return utf8(text).length
}

function testBlock({ titles, place, failure, message, moreErrors = 0, page }: SummarizedTest, number: number): string {
  const { causes, facts, timeline, replay } = partsOf(failure, message)
  const title = titles.filter((name) => name !== '').join(' › ')
  const notes = [
    `Test: ${inline(place)}`,
    ...(replay === undefined ? [] : [`Replay: ${inline(replay)}`]),
    ...(page === undefined ? [] : [`Trace: ${inline(page)}`]),
  ]
  return [
    `<h3>${number}. ${inline(title)}</h3>\n`,
    quote(causes),
    pre(facts),
    moreErrors > 0
      ? `<p>${plural(moreErrors, 'more error of this test is', 'more errors of this test are')} in the log.</p>\n`
      : '',
    folded('Timeline', timeline),
    `<ul>\n${notes.map((note) => `<li>${note}</li>\n`).join('')}</ul>\n`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function tenantBlock({ name, counts, problems, note, timeline }: SummarizedTenant): string {
  const rows = counts.map(([what, count]) => `<tr><td>${escapedData(what)}</td><td>${count}</td></tr>\n`).join('')
  return [
    `<h3>Tenant ${inline(name)}</h3>\n`,
    quote(labeled('Problem', problems)),
    `<table>\n${rows}</table>\n${note === undefined ? '' : `<p>${note}</p>\n`}`,
    folded('Timeline', linesOf([timeline])),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

interface Parts {
  readonly causes: readonly Labeled[]
  readonly facts: readonly string[]
  readonly timeline: readonly string[]
  readonly replay: string | undefined
}

function partsOf(failure: ReportedFailure | undefined, message = ''): Parts {
  if (failure === undefined || !hasText(failure)) return partsOfText(message)
  const { call = [], causes = [], expected, received = [], hints = [], notes = [], timeline = [], replay } = failure
  return {
    causes: explained(causes, hints),
    facts: [[failure.message ?? ''], call, [expected ?? ''], received, notes].flatMap(linesOf),
    timeline: linesOf(timeline),
    replay,
  }
}

function hasText({ message, causes = [], hints = [], expected, call = [] }: ReportedFailure): boolean {
  return message !== undefined || expected !== undefined || causes.length + hints.length + call.length > 0
}

const replay = /^Replay: (.*)$/

/**
 * Returns the parts of a message that a test without a trace has left. Frames of its stack are omitted. A timeline
 * follows its line `Replay: …`.
 */
function partsOfText(message: string): Parts {
  const plain = redaction.text(withoutColors(message.slice(0, readOfText)))
  const lines = linesOf([plain]).filter((line) => !isFrame(line))
  const at = lines.findIndex((line) => replay.test(line))
  if (at === -1) return { causes: [], facts: lines, timeline: [], replay: undefined }
  return {
    causes: [],
    facts: lines.slice(0, at),
    timeline: lines.slice(at + 1),
    replay: replay.exec(lines[at]!)?.[1],
  }
}

/** Returns the lines of texts, without blank lines. Reads more than is shown, but not everything. */
function linesOf(texts: readonly string[]): string[] {
  return texts
    .slice(0, readOfList)
    .flatMap((text) => text.slice(0, readOfText).split('\n'))
    .filter((line) => line.trim() !== '')
}

type Labeled = readonly [label: string, line: string]

function labeled(label: string, texts: readonly string[]): Labeled[] {
  return linesOf(texts).map((line) => [label, line])
}

/**
 * Returns causes and hints in the order in which they are read. A hint that says why the app threw an error comes before
 * the error, which alone explains little: `fetch failed`.
 */
function explained(causes: readonly string[], hints: readonly string[]): Labeled[] {
  const errors = causes.slice(0, readOfList).flatMap((cause) => thrown.exec(cause.slice(0, readOfText))?.[1] ?? [])
  const says = (hint: string): boolean => errors.some((error) => hint.includes(`the handler threw ${error}`))
  return [
    ...labeled('Hint', hints.filter(says)),
    ...labeled('Cause', causes),
    ...labeled(
      'Hint',
      hints.filter((hint) => !says(hint)),
    ),
  ]
}

const thrown = /^The handler of \S+ threw(?: in \d+ attempts)?: (.+)$/m

/** Returns labeled messages. They are not in `<pre>`, because its lines do not wrap. */
function quote(lines: readonly Labeled[]): string {
  if (lines.length === 0) return ''
  const { shown, more } = clipped(lines.map(([, line]) => line))
  const messages = shown.map((line, index) =>
    // An indented line continues the message above.
    /^\s/.test(line) ? inline(line.trim()) : `<b>${lines[index]![0]}:</b> ${inline(line)}`,
  )
  return `<blockquote>\n${[...messages, ...more].join('<br>\n')}\n</blockquote>\n`
}

/** Returns lines as they are in a terminal. */
function pre(lines: readonly string[]): string {
  const { shown, more } = clipped(lines)
  return lines.length === 0 ? '' : `<pre>\n${[...shown.map(escapedLine), ...more].join('\n')}\n</pre>\n`
}

function folded(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `<details><summary>${title}</summary>\n\n${pre(lines)}\n</details>\n`
}

/** Returns the first lines, and a line that says whether there are more. */
function clipped(lines: readonly string[]): { readonly shown: readonly string[]; readonly more: readonly string[] } {
  let left = maxChars
  const end = lines.findIndex((line, index) => {
    left -= Math.min(line.length, maxLine)
    return index >= maxLines || left < 0
  })
  if (end === -1) return { shown: lines, more: [] }
  return { shown: lines.slice(0, end), more: ['… more lines'] }
}

function inline(text: string): string {
  return `<code>${escapedLine(text)}</code>`
}

function escapedLine(line: string): string {
  return escapedData(safe(line, maxLine))
}

/** Returns a line without secrets and without control characters. */
function safe(line: string, most: number): string {
  return excerpt(redaction.text(line.slice(0, readOfLine)), most)
}

/**
 * Escapes captured text for HTML. Also escapes what other readers of the file would interpret: Markdown, mentions, and
 * the commands of CI systems in a log that prints the file.
 */
function escapedData(text: string): string {
  return text.replace(/[&<>"'`*_[\]~$\\@]|:(?=:)|#(?=[\d#])/g, (char) => `&#${char.charCodeAt(0)};`)
}
