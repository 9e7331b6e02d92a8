import { editDistance } from '../src/kernel/nearest-name.js'
import type { Redaction } from '../src/report/redaction.js'
import { nameAt, withoutSecrets } from './failure/hidden-values.js'
import { isAsymmetric, isPlainObject, literal } from './literal.js'
import { commonEnds, differingLines } from './text-diff.js'

/**
 * Texts that a failure prints instead of the expected and the received literal, if the literals would not explain the
 * difference.
 */
export interface DifferenceWording {
  readonly expected?: string
  readonly received?: string | ((redaction: Redaction) => string)
  readonly distance?: number
}

/** A difference as text, for a failure. */
export interface ComparisonText {
  readonly expected: string
  readonly received: string
  /** Diff of both values, if they do not fit on one line. Lines with `-` are expected, lines with `+` are received. */
  readonly lines: readonly string[] | undefined
}

/** One difference between a received and an expected value. Its text is created only if a failure is printed. */
export class ValueDifference {
  readonly #received: unknown
  readonly #expected: unknown
  readonly #wording: DifferenceWording

  constructor(
    received: unknown,
    expected: unknown,
    /** Path of the difference within the compared value: `.id`, `[0].name`, or empty for the whole value. */
    readonly path: string = '',
    wording: DifferenceWording = {},
  ) {
    this.#received = received
    this.#expected = expected
    this.#wording = wording
  }

  told(redaction: Redaction): ComparisonText {
    const wording = this.#wording
    const name = nameAt(this.path)
    const expected = withoutSecrets(this.#expected, redaction, name)
    const received = withoutSecrets(this.#received, redaction, name)
    const isWorded = wording.expected !== undefined || wording.received !== undefined
    const worded = typeof wording.received === 'function' ? wording.received(redaction) : wording.received
    return {
      expected: wording.expected ?? literal(expected),
      received: worded ?? literal(received),
      lines: isWorded ? undefined : differingLines(expected, received),
    }
  }

  /** Returns a copy of the difference with another path. */
  at(path: string): ValueDifference {
    return new ValueDifference(this.#received, this.#expected, path, this.#wording)
  }

  /** Distance between the two values. It is greater than 0 and at most 1. */
  get distance(): number {
    return this.#wording.distance ?? distance(this.#received, this.#expected)
  }
}

/**
 * Compares a value with a partial pattern and returns the differences. An object may have more fields than its pattern,
 * but a list must have the same length. An asymmetric matcher or a regular expression decides by itself whether its
 * value matches.
 */
export function compare(received: unknown, expected: unknown, path = ''): ValueDifference[] {
  if (isAsymmetric(expected))
    return expected.asymmetricMatch(received) ? [] : [new ValueDifference(received, expected, path)]
  if (expected instanceof RegExp) {
    return typeof received === 'string' && fits(received, expected)
      ? []
      : [new ValueDifference(received, expected, path)]
  }
  if (Array.isArray(expected)) return compareLists(received, expected, path)
  if (isPlainObject(expected)) return compareFields(received, expected, path)
  if (expected instanceof Date && received instanceof Date && expected.getTime() === received.getTime()) return []
  return Object.is(received, expected) ? [] : [new ValueDifference(received, expected, path)]
}

function compareLists(received: unknown, expected: readonly unknown[], path: string): ValueDifference[] {
  if (!Array.isArray(received) || received.length !== expected.length)
    return [new ValueDifference(received, expected, path)]
  const differences: ValueDifference[] = []
  for (let index = 0; index < expected.length; index++) {
    if (isSame(received[index], expected[index])) continue
    for (const one of compare(received[index], expected[index], `${path}[${index}]`)) differences.push(one)
  }
  return differences
}

function compareFields(received: unknown, expected: Record<string, unknown>, path: string): ValueDifference[] {
  if (typeof received !== 'object' || received === null || Array.isArray(received)) {
    return [new ValueDifference(received, expected, path)]
  }
  const differences: ValueDifference[] = []
  for (const [name, item] of Object.entries(expected)) {
    const field = Object.hasOwn(received, name) ? (received as Record<string, unknown>)[name] : undefined
    if (isSame(field, item)) continue
    const at = `${path}${/^[\w$]+$/.test(name) ? `.${name}` : `[${literal(name)}]`}`
    for (const one of compare(field, item, at)) differences.push(one)
  }
  return differences
}

/** Returns whether two values are the same primitive value. Then their path, and a comparison, are not needed. */
function isSame(one: unknown, other: unknown): boolean {
  return typeof one !== 'object' && Object.is(one, other)
}

/**
 * Tests a text with a regular expression, but without its flags `g` and `y`. With these flags, the result would depend
 * on earlier calls.
 */
export function fits(text: string, pattern: RegExp): boolean {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(text)
}

function distance(received: unknown, expected: unknown): number {
  if (typeof received === 'string' && typeof expected === 'string') return textsApart(received, expected)
  if (typeof received === 'number' && typeof expected === 'number') return numbersApart(received, expected)
  // A missing value has the greatest distance. An equal value of another type has a small distance.
  if (received === undefined || received === null) return 1
  // Do not convert objects to text: an object may have its own `toString()`, or be nested too deeply.
  if (typeof received === 'object' || typeof expected === 'object') return 0.9
  return String(received) === String(expected) ? 0.1 : 0.9
}

function textsApart(one: string, other: string): number {
  const [start, end] = commonEnds(one, other)
  const apart = editDistance(one.slice(start, one.length - end), other.slice(start, other.length - end))
  return Math.min(1, Math.max(0.01, apart / Math.max(one.length, other.length)))
}

function numbersApart(one: number, other: number): number {
  const apart = Math.abs(one - other) / Math.max(Math.abs(one), Math.abs(other), 1)
  return Number.isNaN(apart) ? 0.9 : Math.min(0.9, Math.max(0.01, apart))
}

/**
 * Returns an approximate distance. It takes about a hundredth of the work of `ValueDifference.distance`, and is rarely
 * less than that distance. Long lists of candidates are first sorted by the approximate distance.
 */
export function roughDistance(received: unknown, expected: unknown): number {
  if (typeof received !== 'string' || typeof expected !== 'string') {
    return distance(received, expected)
  }
  const most = Math.max(received.length, expected.length)
  const [start, end] = commonEnds(received, expected)
  return Math.max(0.01, (most - start - end) / most)
}
