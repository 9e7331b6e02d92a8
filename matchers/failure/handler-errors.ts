import { utf8 } from '../../src/kernel/bytes.js'
import { callerLine } from '../../src/kernel/caller-line.js'
import { errorText } from '../../src/kernel/error-text.js'
import { plural } from '../../src/kernel/plural.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { urlText } from '../../src/report/describe.js'
import { failureOf } from '../../src/report/failure.js'
import { withoutTimeline } from '../../src/report/failure-text.js'
import { excerpt, plainText, withoutColours } from '../../src/report/safe-text.js'
import { threw } from '../../src/report/timeline-writer.js'
import type { MatcherInput } from '../received.js'
import type { Chain } from './chain.js'
import { grouped } from './circumstance.js'
import { sandboxOf } from './sandbox-facts.js'
import { fromHere } from './test-location.js'

/** What handlers threw, told once, with the place in the user's code. */
export interface HandlerErrors {
  readonly lines: readonly string[]
  /** Those of them that say it is this with which the test has failed. */
  readonly same: readonly string[]
  /** The same as the details of a timeline tell it. */
  readonly details: readonly string[]
}

/** One time that a handler threw, as the log has it. */
interface Throw {
  readonly handler: string
  readonly unit: 'attempt' | 'call'
  /** As `errorText()` makes it. */
  readonly text: string
}

/** The lines that tell of an error. */
interface ToldThrow {
  readonly lines: readonly string[]
  /** The test has failed with it. */
  readonly isFailure: boolean
}

interface PrintedError {
  readonly error: unknown
  readonly text: string
}

const maxErrors = 2
const maxMarks = 4
const maxLine = 200
const maxDetail = 600

/**
 * Of the deliveries and calls that matter: each error once, however many attempts met it.
 * @param told the failure of the test, where it has one: what a handler threw may be that
 */
export function thrownIn(evidence: MatcherInput, chain: Chain, told = ''): HandlerErrors {
  const errors = sandboxOf(evidence).errors.map((error) => ({ error, text: errorText(error) }))
  const attempts = attemptsThatThrew(evidence, chain)
  // Runners may write the name of the error in front.
  const failure = verdictIn(told).replace(/^\w*Error: /, '')
  const last = (throws: readonly Throw[]): ToldThrow[] =>
    [...grouped(throws, (one) => sameError(one, errors)).values()]
      .slice(-maxErrors)
      .map((group) => toldThrow(evidence, group, errors, failure))
  const notes = new Set(attempts.map(({ text }) => excerpt(evidence.redaction.text(threw + text), maxDetail)))
  const all = [...last(attempts), ...last(errors.length === 0 ? [] : callsThatThrew(evidence, chain, errors))]
  return {
    lines: all.flatMap(({ lines }) => lines),
    same: all.flatMap(({ lines, isFailure }) => (isFailure ? lines : [])),
    details: [...notes],
  }
}

function attemptsThatThrew(evidence: MatcherInput, chain: Chain): Throw[] {
  return evidence.ofType('attempt').flatMap((attempt): Throw[] => {
    const note = attempt.outcome?.note
    if (note === undefined || !note.startsWith(threw) || !concerns(chain, attempt)) return []
    const handler = `The handler of ${urlText(attempt.url, evidence.redaction)}`
    return [{ handler, unit: 'attempt', text: note.slice(threw.length) }]
  })
}

/** Handlers of `sandbox.outbound` that threw: the app saw a 500 of a host that is the test's own code. */
function callsThatThrew(evidence: MatcherInput, chain: Chain, errors: readonly PrintedError[]): Throw[] {
  const texts = new Map<unknown, string>(errors.map(({ text }) => [utf8(text), text]))
  return evidence.ofType('outbound').flatMap((call): Throw[] => {
    const text = call.response?.status === 500 ? texts.get(call.response.body) : undefined
    if (text === undefined || !concerns(chain, call)) return []
    const handler = `The handler that stands for ${plainText(call.method)} ${urlText(call.url, evidence.redaction)}`
    return [{ handler, unit: 'call', text }]
  })
}

/** An assertion that fails again at its place is the same, though its text has other times and candidates. */
function sameError({ handler, text }: Throw, errors: readonly PrintedError[]): string {
  return `${handler}\n${firstLine(text)}\n${placeIn(errors, text)}`
}

function toldThrow(
  evidence: MatcherInput,
  group: readonly Throw[],
  errors: readonly PrintedError[],
  failure: string,
): ToldThrow {
  const { handler, unit, text } = group.at(-1)!
  const texts = new Set(group.map((one) => one.text))
  // An attempt whose answer was lost says that instead. A part of a log has no other attempts than its own.
  const known = errors.filter((one) => texts.has(one.text))
  const count = evidence.role === 'traffic' || unit === 'call' ? group.length : Math.max(group.length, known.length)
  const often = count === 1 ? '' : ` in ${plural(count, unit)}`
  if (known.some(({ error }) => failure === verdictIn(messageOf(error))))
    return { lines: [`${handler} threw this${often}.`], isFailure: true }
  const full = known.findLast((one) => one.text === text)
  const [first = '', ...marks] = marksIn(full === undefined ? text : `${nameOf(full.error)}${messageOf(full.error)}`)
  const where = placeIn(errors, text)
  const safe = (line: string): string => excerpt(evidence.redaction.text(line), maxLine)
  const lines = [
    `${handler} threw${often}: ${safe(first)}`,
    ...marks.map((line) => `  ${safe(line)}`),
    // Not `at`: Jest takes all that follows such a line for a stack.
    ...(where === '' ? [] : [`  in ${where}`]),
  ]
  return { lines, isFailure: false }
}

/** The first line of an error, and those that say what was expected and what there was. */
function marksIn(text: string): string[] {
  const [first = '', ...others] = withoutColours(text).split('\n')
  // Of a matcher not what had been thrown before, nor its story.
  const { received = others } = failureOf({ message: text }) ?? {}
  const marks = received.map((line) => line.trim()).filter((line) => /✗|^(?:Expected|Received)[\w ]*: /.test(line))
  return [first, ...marks.slice(0, maxMarks)]
}

/** A failure of a matcher without the command that replays it and the story. */
function verdictIn(text: string): string {
  return withoutTimeline(text, failureOf({ message: text })?.replay)
}

function firstLine(text: string): string {
  return withoutColours(text).split('\n')[0]!
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : errorText(error)
}

function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ` : ''
}

function placeIn(errors: readonly PrintedError[], text: string): string {
  const error = errors.findLast((one) => one.text === text)?.error
  return error instanceof Error ? fromHere(callerLine(error)) : ''
}

/** In the story that is told, or at the address that it is about. */
function concerns(chain: Chain, entry: EntryOf<'attempt'> | EntryOf<'outbound'>): boolean {
  return chain.has(entry) || chain.isAt(entry.url)
}
