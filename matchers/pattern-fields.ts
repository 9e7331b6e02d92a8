import { type Duration, milliseconds } from '../src/kernel/duration.js'
import { instant } from '../src/kernel/instant.js'
import { didYouMean, nearestName } from '../src/kernel/nearest-name.js'
import {
  address,
  amount,
  body,
  filters,
  headers,
  type Kind,
  label,
  labels,
  moment,
  plain,
  runSteps,
  span,
} from './comparison-kinds.js'
import { isAsymmetric, isPlainObject, literal } from './literal.js'
import { boundsOf } from './range.js'

/**
 * Values that a pattern may contain for a field. Other values are rejected: they can never match, so `.not` would
 * always pass.
 */
interface Takes {
  readonly what: string
  /** Returns whether the value is allowed. For a value that is not allowed, it can also return advice. */
  check(value: unknown): boolean | string
}

/**
 * One field of a pattern: how it is read from a candidate, how it is compared, and which expected values are allowed.
 */
export interface PatternField<T> {
  readonly read: (thing: T) => unknown
  readonly kind: Kind
  readonly takes: Takes
  /** Whether a candidate may lack the field. Then a pattern may expect `undefined`. */
  readonly optional: boolean
  /**
   * Returns whether the field may contain a secret, such as the password in a command. If so, neither the expected nor
   * the received value is printed.
   */
  readonly isSecret?: (thing: never) => boolean
}

export type PatternFields<T> = Readonly<Record<string, PatternField<T>>>

/** One field description per field of a pattern. The compiler reports a missing description. */
export type FieldsOf<Pattern, T> = { readonly [Name in keyof Pattern]-?: PatternField<T> }

const textTaken: Takes = {
  what: 'a text or a regular expression',
  check: (value) => typeof value === 'string' || value instanceof RegExp,
}
const addressTaken: Takes = {
  what: 'a URL or a regular expression',
  check: (value) => {
    const [, method, rest] = (typeof value === 'string' && /^([A-Z]+) +(\/.*|https?:.*)$/s.exec(value)) || []
    return method === undefined ? textTaken.check(value) : `Write the URL without ${method}: '${rest}'.`
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
  what: "a duration such as '1h', or a number of milliseconds",
  // If the unit is wrong, `milliseconds()` throws an error that explains it.
  check: (value) => typeof value !== 'object' && milliseconds(value as Duration) >= 0,
}
const momentTaken: Takes = {
  what: 'ISO text, a Date or milliseconds',
  check: (value) => Number.isFinite(instant(value as string)),
}
const headersTaken: Takes = {
  what: "an object of names and values, such as { 'x-tag': 'a' }",
  check: isPlainObject,
}
const filterTaken: Takes = {
  what: "an object of filters and their values, such as { label: 'a' }",
  check: isPlainObject,
}
const methodTaken: Takes = {
  what: 'an HTTP method or a regular expression',
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

/** Returns an error text if an expected attempt has an unknown field, and otherwise `false`. */
function unknownAttempt(value: unknown): string | false {
  if (!Array.isArray(value)) return false
  const names = value.flatMap((item) => (isPlainObject(item) && !isAsymmetric(item) ? Object.keys(item) : []))
  const unknown = names.find((name) => !attemptNames.includes(name))
  if (unknown === undefined) return false
  return `Attempts have no field '${unknown}'.${didYouMean(unknown, attemptNames)} Their fields are ${attemptNames.join(', ')}.`
}

function knownAttempt(item: unknown): boolean {
  return isAsymmetric(item) || Object.keys(item as object).every((name) => attemptNames.includes(name))
}

const amountTaken: Takes = {
  what: "a whole number or a range, '<=3', '>=2' or '2..4'",
  check: (value) => boundsOf(value) !== undefined,
}
const stepsTaken: Takes = {
  what: "a list of the names of steps, ['reserve', 'charge'], of partial steps [{ name: 'charge', attempts: 2 }], or the number of finished steps, 2 or '<=3'",
  check: (value) =>
    boundsOf(value) !== undefined ||
    (Array.isArray(value) &&
      (value.map((item) => unknownStepField(item)).find((text) => text !== undefined) ??
        value.every((item) => typeof item === 'string' || isPlainObject(item) || isAsymmetric(item)))),
}
const flowControlTaken: Takes = {
  what: "an object with some of key, parallelism, rate and period, such as { key: 'cards', parallelism: 2 }",
  check: (value) => unknownField('Flow control has', value, flowControlNames) ?? isPlainObject(value),
}

/** Returns an error text if an expected step has an unknown field. */
function unknownStepField(item: unknown): string | undefined {
  return (
    unknownField('Steps have', item, stepNames) ??
    unknownField('Flow control has', (item as { flowControl?: unknown } | null)?.flowControl, flowControlNames)
  )
}

/** Returns an error text if an object has an unknown field. */
function unknownField(subject: string, value: unknown, known: readonly string[]): string | undefined {
  if (!isPlainObject(value) || isAsymmetric(value)) return undefined
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  return `${subject} no field '${unknown}'.${didYouMean(unknown, known)} The fields are ${known.join(', ')}.`
}

const flowControlNames: readonly string[] = ['key', 'parallelism', 'rate', 'period']

const stepNames: readonly string[] = [
  'name',
  'type',
  'state',
  'attempts',
  'result',
  'retries',
  'retryDelay',
  'flowControl',
]

type Read<T> = (thing: T) => unknown

function field<T>(read: Read<T>, kind: Kind, takes: Takes): PatternField<T> {
  return { read, kind, takes, optional: false }
}

/** Returns a copy of a field, marked as a field that a candidate may lack. */
export function optional<T>(given: PatternField<T>): PatternField<T> {
  return { ...given, optional: true }
}

export const textField = <T>(read: Read<T>): PatternField<T> => field(read, plain, textTaken)
export const numberField = <T>(read: Read<T>): PatternField<T> => field(read, plain, numberTaken)
export const amountField = <T>(read: Read<T>): PatternField<T> => field(read, amount, amountTaken)
export const flowControlField = <T>(read: Read<T>): PatternField<T> => optional(field(read, plain, flowControlTaken))
export const booleanField = <T>(read: Read<T>): PatternField<T> => field(read, plain, booleanTaken)
export const anyField = <T>(read: Read<T>): PatternField<T> => optional(field(read, plain, anythingTaken))
export const urlField = <T>(read: Read<T>): PatternField<T> => field(read, address, addressTaken)
export const methodField = <T>(read: Read<T>): PatternField<T> => field(read, plain, methodTaken)
export const headersField = <T>(read: Read<T>): PatternField<T> => field(read, headers, headersTaken)
export const filterField = <T>(read: Read<T>): PatternField<T> => field(read, filters, filterTaken)
export const bodyField = <T>(read: Read<T>): PatternField<T> => field(read, body, anythingTaken)
export const spanField = <T>(read: Read<T>): PatternField<T> => field(read, span, spanTaken)
export const instantField = <T>(read: Read<T>): PatternField<T> => field(read, moment, momentTaken)
export const labelField = <T>(read: Read<T>): PatternField<T> => optional(field(read, label, textTaken))
export const labelsField = <T>(read: Read<T>): PatternField<T> => optional(field(read, labels, labelsTaken))
export const attemptsField = <T>(read: Read<T>, kind: Kind): PatternField<T> => field(read, kind, attemptsTaken)

export const stepsField = <T>(read: Read<T>): PatternField<T> => field(read, runSteps, stepsTaken)

/** Creates a field whose value is one of a fixed list of words. */
export function wordField<T>(words: readonly string[], read: Read<T>): PatternField<T> {
  const check = (value: unknown): boolean | string => {
    if (typeof value !== 'string' || words.includes(value)) return typeof value === 'string'
    const near = nearestName(value, words) ?? nearestName(value.replaceAll('_', '-'), words)
    return near === undefined ? false : `Did you mean '${near}'?`
  }
  return field(read, plain, { what: `one of ${words.map((word) => `'${word}'`).join(', ')}`, check })
}

/**
 * Checks the fields of a pattern. Without this check, `.not` would always pass for a pattern that can never match.
 * @throws TypeError when a field is unknown or its value can never match
 */
export function checkPattern(
  matcher: string,
  pattern: unknown,
  fields: PatternFields<never>,
): asserts pattern is Record<string, unknown> {
  if (!isPlainObject(pattern)) {
    throw new TypeError(
      `${matcher}(): the pattern must be an object of fields (got ${literal(pattern)}). Write for example { ${Object.keys(fields)[0]}: … }.`,
    )
  }
  const unknown = Object.keys(pattern).filter((name) => !Object.hasOwn(fields, name))
  if (unknown.length > 0) throw unknownFields(matcher, unknown, pattern, Object.keys(fields))
  for (const [name, value] of Object.entries(pattern)) checkValue(matcher, name, value, fields[name]!)
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
        ? ' Omit the field, or check the variable whose value is undefined.'
        : ''
  throw new TypeError(`${matcher}(): ${name} must be ${takes.what} (got ${literal(value)}).${advice}`)
}

/** Returns an error that lists all unknown fields of a pattern and suggests known fields. */
function unknownFields(
  matcher: string,
  names: readonly string[],
  pattern: Record<string, unknown>,
  known: readonly string[],
): TypeError {
  if (names.includes('times')) {
    return new TypeError(
      `${matcher}(): times is not a field of the pattern. Pass it as the last argument: ${matcher}({ … }, { times: ${literal(pattern.times)} }).`,
    )
  }
  const meant = names.flatMap((name) => {
    const near =
      Object.hasOwn(synonyms, name) && known.includes(synonyms[name]!) ? synonyms[name] : nearestName(name, known)
    return near === undefined ? [] : `\`${near}\``
  })
  const advice = meant.length === 0 ? '' : ` Did you mean ${meant.join(' and ')}?`
  const listed = names.map((name) => literal(name)).join(' and ')
  return new TypeError(
    `${matcher}(): unknown ${names.length === 1 ? 'field' : 'fields'} ${listed}.${advice} The fields are ${known.join(', ')}.`,
  )
}

/** Names that users often write by mistake, with the correct field. */
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
