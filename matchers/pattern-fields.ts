import { type Duration, milliseconds } from '../src/kernel/duration.js'
import { instant } from '../src/kernel/instant.js'
import { didYouMean, nearestName } from '../src/kernel/nearest-name.js'
import { address, body, headers, type Kind, label, labels, moment, plain, runSteps, span } from './comparison-kinds.js'
import { isAsymmetric, isPlainObject, literal } from './literal.js'

/** What a test may expect of a field; anything else could never match, and `.not` would always pass. */
interface Takes {
  readonly what: string
  /** Whether the value can be right; a sentence tells what else is wrong with it. */
  check(value: unknown): boolean | string
}

/** One field of something captured: how it is read, how it is compared, and what may be expected of it. */
export interface PatternField<T> {
  readonly read: (thing: T) => unknown
  readonly kind: Kind
  readonly takes: Takes
  /** The field may be missing, so `undefined` can be expected. */
  readonly optional: boolean
  /** Whether a command's password may be in it: then neither side is printed. */
  readonly isSecret?: (thing: never) => boolean
}

export type PatternFields<T> = Readonly<Record<string, PatternField<T>>>

/** A field for every name of a pattern: the compiler keeps both complete. */
export type FieldsOf<Pattern, T> = { readonly [Name in keyof Pattern]-?: PatternField<T> }

const textTaken: Takes = {
  what: 'a text or an expression',
  check: (value) => typeof value === 'string' || value instanceof RegExp,
}
const addressTaken: Takes = {
  what: textTaken.what,
  check: (value) => {
    const [, method, rest] = (typeof value === 'string' && /^([A-Z]+) +(\/.*|https?:.*)$/s.exec(value)) || []
    return method === undefined ? textTaken.check(value) : `The address stands alone, without ${method}: '${rest}'.`
  },
}
const numberTaken: Takes = {
  what: 'a number',
  check: (value) =>
    typeof value === 'number' ||
    (typeof value === 'string' && value !== '' && !Number.isNaN(Number(value)) && `Write ${Number(value)}.`),
}
const booleanTaken: Takes = { what: 'true or false', check: (value) => typeof value === 'boolean' }
const anythingTaken: Takes = { what: 'anything', check: () => true }
const spanTaken: Takes = {
  what: "a duration like '1h' or milliseconds",
  // Throws a sentence of its own about the unit.
  check: (value) => typeof value !== 'object' && milliseconds(value as Duration) >= 0,
}
const momentTaken: Takes = {
  what: 'ISO text, a Date or milliseconds',
  check: (value) => Number.isFinite(instant(value as string)),
}
const headersTaken: Takes = {
  what: "an object of names and values, { 'x-tag': 'a' }",
  check: isPlainObject,
}
const methodTaken: Takes = {
  what: 'a method or an expression',
  check: (value) => {
    if (typeof value !== 'string' || value === value.toUpperCase()) return textTaken.check(value)
    return `Write '${value.toUpperCase()}'.`
  },
}
const labelsTaken: Takes = { what: 'a list of texts', check: (value) => Array.isArray(value) }
const attemptsTaken: Takes = {
  what: 'a number, a list of statuses [500, 200] or a list of partial attempts [{ status: 500 }]',
  check: (value) =>
    typeof value === 'number' ||
    unknownAttempt(value) ||
    (Array.isArray(value) &&
      (value.every((item) => typeof item === 'number') ||
        value.every((item) => (isPlainObject(item) || isAsymmetric(item)) && knownAttempt(item)))),
}

export const attemptNames: readonly string[] = ['status', 'error', 'state', 'retried', 'at', 'note', 'delayMs']

/** What is wrong with the first field that attempts do not have, as a sentence. */
function unknownAttempt(value: unknown): string | false {
  if (!Array.isArray(value)) return false
  const names = value.flatMap((item) => (isPlainObject(item) && !isAsymmetric(item) ? Object.keys(item) : []))
  const unknown = names.find((name) => !attemptNames.includes(name))
  if (unknown === undefined) return false
  return `An attempt has no field '${unknown}'.${didYouMean(unknown, attemptNames)} Its fields are ${attemptNames.join(', ')}.`
}

function knownAttempt(item: unknown): boolean {
  return isAsymmetric(item) || Object.keys(item as object).every((name) => attemptNames.includes(name))
}

const stepsTaken: Takes = {
  what: "a list of the names of steps, ['reserve', 'charge'], or of partial steps [{ name: 'charge', attempts: 2 }]",
  check: (value) =>
    Array.isArray(value) &&
    value.every((item) => typeof item === 'string' || isAsymmetric(item) || (isPlainObject(item) && knownStep(item))),
}

const stepNames: readonly string[] = ['name', 'type', 'state', 'attempts', 'result']

function knownStep(item: object): boolean {
  return Object.keys(item).every((name) => stepNames.includes(name))
}

type Read<T> = (thing: T) => unknown

function field<T>(read: Read<T>, kind: Kind, takes: Takes): PatternField<T> {
  return { read, kind, takes, optional: false }
}

/** The field may be missing. */
export function optional<T>(given: PatternField<T>): PatternField<T> {
  return { ...given, optional: true }
}

export const textField = <T>(read: Read<T>): PatternField<T> => field(read, plain, textTaken)
export const numberField = <T>(read: Read<T>): PatternField<T> => field(read, plain, numberTaken)
export const booleanField = <T>(read: Read<T>): PatternField<T> => field(read, plain, booleanTaken)
export const anyField = <T>(read: Read<T>): PatternField<T> => optional(field(read, plain, anythingTaken))
export const urlField = <T>(read: Read<T>): PatternField<T> => field(read, address, addressTaken)
export const methodField = <T>(read: Read<T>): PatternField<T> => field(read, plain, methodTaken)
export const headersField = <T>(read: Read<T>): PatternField<T> => field(read, headers, headersTaken)
export const bodyField = <T>(read: Read<T>): PatternField<T> => field(read, body, anythingTaken)
export const spanField = <T>(read: Read<T>): PatternField<T> => field(read, span, spanTaken)
export const instantField = <T>(read: Read<T>): PatternField<T> => field(read, moment, momentTaken)
export const labelField = <T>(read: Read<T>): PatternField<T> => optional(field(read, label, textTaken))
export const labelsField = <T>(read: Read<T>): PatternField<T> => optional(field(read, labels, labelsTaken))
export const attemptsField = <T>(read: Read<T>, kind: Kind): PatternField<T> => field(read, kind, attemptsTaken)

export const stepsField = <T>(read: Read<T>): PatternField<T> => field(read, runSteps, stepsTaken)

/** A field that only knows certain words. */
export function wordField<T>(words: readonly string[], read: Read<T>): PatternField<T> {
  const check = (value: unknown): boolean | string => {
    if (typeof value !== 'string' || words.includes(value)) return typeof value === 'string'
    const near = nearestName(value, words) ?? nearestName(value.replaceAll('_', '-'), words)
    return near === undefined ? false : `Did you mean '${near}'?`
  }
  return field(read, plain, { what: words.map((word) => `'${word}'`).join(', '), check })
}

/** A pattern that can never match would make `.not` always pass: it is refused at once, whatever was captured. */
export function checkPattern(
  matcher: string,
  pattern: unknown,
  fields: PatternFields<never>,
): asserts pattern is Record<string, unknown> {
  if (!isPlainObject(pattern)) {
    throw new TypeError(
      `${matcher}() needs an object with the fields to look for, for example { ${Object.keys(fields)[0]}: … }; got ${literal(pattern)}.`,
    )
  }
  for (const [name, value] of Object.entries(pattern)) {
    const known = Object.hasOwn(fields, name) ? fields[name]! : undefined
    if (known === undefined) throw unknownField(matcher, name, value, Object.keys(fields))
    checkValue(matcher, name, value, known)
  }
}

function checkValue(matcher: string, name: string, value: unknown, { takes, optional }: PatternField<never>): void {
  if (isAsymmetric(value)) return
  if (value === undefined && optional) return
  const answer = value === undefined ? false : takes.check(value)
  if (answer === true) return
  const advice =
    typeof answer === 'string'
      ? ` ${answer}`
      : value === undefined
        ? ' Leave it out, or check the variable that should have a value.'
        : ''
  throw new TypeError(`${matcher}() takes ${takes.what} as ${name}, got ${literal(value)}.${advice}`)
}

function unknownField(matcher: string, name: string, value: unknown, known: readonly string[]): TypeError {
  if (name === 'times') {
    return new TypeError(
      `${matcher}() takes times as its last argument: ${matcher}({ … }, { times: ${literal(value)} }).`,
    )
  }
  const slip =
    Object.hasOwn(synonyms, name) && known.includes(synonyms[name]!) ? synonyms[name] : nearestName(name, known)
  const advice = slip === undefined ? '' : ` Did you mean ${slip}?`
  return new TypeError(`${matcher}() knows no field ${literal(name)}.${advice} The fields are ${known.join(', ')}.`)
}

/** What people write instead of our names. */
const synonyms: Readonly<Record<string, string>> = {
  url: 'to',
  to: 'url',
  destination: 'to',
  maxRetries: 'retries',
  id: 'messageId',
  topic: 'urlGroup',
  group: 'urlGroup',
  data: 'body',
  payload: 'body',
  queueName: 'queue',
  tries: 'attempts',
  code: 'status',
  statusCode: 'status',
  answer: 'response',
  path: 'url',
  schedule: 'scheduleId',
  flowControl: 'flowControlKey',
  deduplicated: 'deduplicationId',
}
