import { editDistance } from '../src/kernel/nearest-name.js'
import type { Redaction } from '../src/report/redaction.js'
import { nameAt, withoutSecrets } from './failure/hidden-values.js'
import { isAsymmetric, isPlainObject, literal } from './literal.js'
import { differingLines } from './text-diff.js'

/** Texts for a difference that plain literals do not explain. */
export interface DifferenceWording {
  readonly expected?: string
  readonly received?: string | ((redaction: Redaction) => string)
  readonly distance?: number
}

/** Text of a difference in a failure. */
export interface ComparisonText {
  readonly expected: string
  readonly received: string
  /** Both sides line by line, if they are too long for one line; `-` is expected, `+` is received. */
  readonly lines: readonly string[] | undefined
}

/** One difference between a received and an expected value. Its texts are created when a failure is printed. */
export class ValueDifference {
  readonly #received: unknown
  readonly #expected: unknown
  readonly #wording: DifferenceWording

  constructor(
    received: unknown,
    expected: unknown,
    /** Path within the compared value: `.id`, `[0].name`, empty for the value itself. */
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

  /** Returns the same difference at another path. */
  at(path: string): ValueDifference {
    return new ValueDifference(this.#received, this.#expected, path, this.#wording)
  }

  /** Distance of the two values, more than 0 and at most 1. */
  get distance(): number {
    return this.#wording.distance ?? distance(this.#received, this.#expected)
  }
}

/**
 * Compares a value with a partial pattern and returns the differences. Objects may have more fields than the pattern,
 * lists must have the same length, and asymmetric matchers and regular expressions decide themselves.
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
  return expected.flatMap((item, index) => compare(received[index], item, `${path}[${index}]`))
}

function compareFields(received: unknown, expected: Record<string, unknown>, path: string): ValueDifference[] {
  if (typeof received !== 'object' || received === null || Array.isArray(received)) {
    return [new ValueDifference(received, expected, path)]
  }
  return Object.entries(expected).flatMap(([name, item]) => {
    const field = Object.hasOwn(received, name) ? (received as Record<string, unknown>)[name] : undefined
    return compare(field, item, `${path}${/^[\w$]+$/.test(name) ? `.${name}` : `[${literal(name)}]`}`)
  })
}

/** Tests a text without the `g` and `y` flags, with which the result would depend on the previous call. */
export function fits(text: string, pattern: RegExp): boolean {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(text)
}

function distance(received: unknown, expected: unknown): number {
  if (typeof received === 'string' && typeof expected === 'string') return textsApart(received, expected)
  if (typeof received === 'number' && typeof expected === 'number') return numbersApart(received, expected)
  // The same value with another type is nearer than a missing value.
  if (received === undefined || received === null) return 1
  // Objects are not converted to text: they may have their own toString, or be too deep for it.
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
 * Returns an approximate distance, which is rarely less than `ValueDifference.distance` and takes a hundredth of its
 * work. Long lists are sorted by it before any value is compared in full.
 */
export function roughDistance(received: unknown, expected: unknown): number {
  if (typeof received !== 'string' || typeof expected !== 'string') {
    return distance(received, expected)
  }
  const most = Math.max(received.length, expected.length)
  const [start, end] = commonEnds(received, expected)
  return Math.max(0.01, (most - start - end) / most)
}

/** Returns the lengths of the common start and the common end of two texts. The two parts do not overlap. */
export function commonEnds(one: string, other: string): [start: number, end: number] {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start++
  const left = shorter - start
  let end = 0
  while (end < left && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end)) end++
  return [start, end]
}
