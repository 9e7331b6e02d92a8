import { utf8 } from '../../src/kernel/bytes.js'
import { callerLine } from '../../src/kernel/caller-line.js'
import { errorText } from '../../src/kernel/error-text.js'
import { plural } from '../../src/kernel/plural.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { urlText } from '../../src/report/describe.js'
import { failureOf } from '../../src/report/failure.js'
import { withoutTimeline } from '../../src/report/failure-text.js'
import { excerpt, plainText, withoutColors } from '../../src/report/safe-text.js'
import { threw } from '../../src/report/timeline-writer.js'
import type { MatcherInput } from '../received.js'
import type { Chain } from './chain.js'
import { grouped } from './circumstance.js'
import { sandboxOf } from './sandbox-facts.js'
import { fromHere } from './test-location.js'

/** Errors of handlers. Each error occurs once, with its location in the user's code. */
export interface HandlerErrors {
  readonly lines: readonly string[]
  /** The lines about the error that also made the test fail. */
  readonly same: readonly string[]
  /** The errors in the format in which a timeline prints them. */
  readonly details: readonly string[]
}

interface Throw {
  readonly handler: string
  readonly unit: 'attempt' | 'request'
  /** Result of `errorText()`. */
  readonly text: string
}

/** One error as lines of the failure text. */
interface ToldThrow {
  readonly lines: readonly string[]
  /** Whether this error is the one that made the test fail. */
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
 * Returns the errors that handlers threw in deliveries and outbound requests that concern the failure. Each error
 * occurs once.
 * @param told text of the test's failure, to recognize a handler error that made the test fail
 */
export function thrownIn(evidence: MatcherInput, chain: Chain, told = ''): HandlerErrors {
  const errors = sandboxOf(evidence).errors.map((error) => ({ error, text: errorText(error) }))
  const attempts = attemptsThatThrew(evidence, chain)
  // Some test runners put the name of the error before its message.
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

/** Returns the errors of `sandbox.outbound` handlers. The app received such an error as a response with status 500. */
function callsThatThrew(evidence: MatcherInput, chain: Chain, errors: readonly PrintedError[]): Throw[] {
  const texts = new Map<unknown, string>(errors.map(({ text }) => [utf8(text), text]))
  return evidence.ofType('outbound').flatMap((call): Throw[] => {
    const text = call.response?.status === 500 ? texts.get(call.response.body) : undefined
    if (text === undefined || !concerns(chain, call)) return []
    const handler = `The outbound handler for ${plainText(call.method)} ${urlText(call.url, evidence.redaction)}`
    return [{ handler, unit: 'request', text }]
  })
}

/**
 * Returns a key that groups equal errors: handler, first line and location. The rest of the error may differ, for
 * example in the times that a failed matcher prints.
 */
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
  // If the response of an attempt was lost, its note does not contain the error. So count the errors of the sandbox,
  // too. A log without its sandbox has no such errors.
  const known = errors.filter((one) => texts.has(one.text))
  const count = evidence.role === 'traffic' || unit === 'request' ? group.length : Math.max(group.length, known.length)
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
    // The line must not begin with `at`, because Jest would treat all following lines as a stack.
    ...(where === '' ? [] : [`  in ${where}`]),
  ]
  return { lines, isFailure: false }
}

/** Returns the first line of an error, and the lines that show an expected or a received value. */
function marksIn(text: string): string[] {
  const [first = '', ...others] = withoutColors(text).split('\n')
  // The failure of a matcher also contains earlier errors and a timeline. Use only its received values.
  const { received = others } = failureOf({ message: text }) ?? {}
  const marks = received.map((line) => line.trim()).filter((line) => /✗|^(?:Expected|Received)[\w ]*: /.test(line))
  return [first, ...marks.slice(0, maxMarks)]
}

/** Returns the failure of a matcher without its replay command and timeline. */
function verdictIn(text: string): string {
  return withoutTimeline(text, failureOf({ message: text })?.replay)
}

function firstLine(text: string): string {
  return withoutColors(text).split('\n')[0]!
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

/** Returns whether an entry is in the chain of the failure, or goes to a URL of the chain's messages. */
function concerns(chain: Chain, entry: EntryOf<'attempt'> | EntryOf<'outbound'>): boolean {
  return chain.has(entry) || chain.isAt(entry.url)
}
