import { wildcard } from '../src/kernel/address-pattern.js'
import { type Bytes, fromArray, text, toBase64, utf8 } from '../src/kernel/bytes.js'
import { type Duration, formatDuration, milliseconds } from '../src/kernel/duration.js'
import type { HeaderList } from '../src/kernel/http.js'
import { instant, iso } from '../src/kernel/instant.js'
import { parsedJson } from '../src/kernel/parsed-json.js'
import type { Redaction } from '../src/report/redaction.js'
import { compare, type DifferenceWording, ValueDifference } from './compare-values.js'
import { withoutSecrets } from './failure/hidden-values.js'
import { isAsymmetric, isPlainObject, literal } from './literal.js'
import { boundsOf, boundsText, within } from './range.js'

/** An expected value with the functions that compare received values with it. */
export interface ValueComparison {
  /** The expected value. Distances are measured from it. */
  readonly expected: unknown
  fits(received: unknown): boolean
  differences(received: unknown): readonly ValueDifference[]
}

/**
 * Function that creates the comparison with an expected value. Each kind of value, such as URLs, has its own function.
 */
export type Kind = (expected: unknown) => ValueComparison

/** Creates a comparison. Set `fits` if testing a value takes less work than computing its differences. */
function comparison<T>(
  expected: unknown,
  differences: (received: T) => readonly ValueDifference[],
  fits: (received: T) => boolean = (received) => differences(received).length === 0,
): ValueComparison {
  return { expected, fits, differences } as ValueComparison
}

export const plain: Kind = (expected) => {
  const differences = (received: unknown): ValueDifference[] => compare(received, expected)
  return typeof expected === 'object' && expected !== null
    ? comparison(expected, differences)
    : comparison(expected, differences, (received) => Object.is(received, expected))
}

/** Compares URLs. A `*` in the expected URL matches any characters. */
export const address: Kind = (expected) => {
  if (typeof expected !== 'string' || !expected.includes('*')) return plain(expected)
  const isWanted = wildcard(expected)
  const fits = (received: string | undefined): boolean => received !== undefined && isWanted(received)
  return comparison<string | undefined>(
    expected,
    (received) => (fits(received) ? [] : [new ValueDifference(received, expected)]),
    fits,
  )
}

/** Compares an amount with a number or a range such as `'<=3'`. */
export const amount: Kind = (expected) => {
  const bounds = boundsOf(expected)
  if (bounds === undefined) return plain(expected)
  return comparison<number>(
    expected,
    (received) =>
      within(received, bounds) ? [] : [new ValueDifference(received, expected, '', { expected: boundsText(bounds) })],
    (received) => within(received, bounds),
  )
}

/**
 * Compares the steps of a workflow run. An expected step is a name, or an object with some fields of the step. A number
 * or a range is compared with the number of finished steps.
 */
export const runSteps: Kind = (expected) => {
  if (boundsOf(expected) !== undefined) {
    const finished = amount(expected)
    return comparison<readonly { readonly state: string }[]>(expected, (received) =>
      finished.differences(received.filter(({ state }) => state === 'done').length),
    )
  }
  if (!Array.isArray(expected)) return plain(expected)
  const named = expected.every((item) => typeof item === 'string')
  const wanted = named ? expected : expected.map((item) => (typeof item === 'string' ? { name: item } : item))
  return comparison<readonly { readonly name: string }[]>(expected, (received) =>
    compare(named ? received.map(({ name }) => name) : received, wanted),
  )
}

/**
 * Compares a captured body: a string with its text, an object or list with its JSON, and a `Uint8Array` with its bytes.
 */
export const body: Kind = (expected) => {
  if (expected instanceof Uint8Array) return bytes(expected, fromArray(expected))
  if (typeof expected === 'string') {
    const wanted = utf8(expected)
    return comparison<Bytes | undefined>(
      expected,
      (received) => (received === wanted ? [] : compare(received === undefined ? undefined : text(received), expected)),
      // The expected text contains U+FFFD, which replaces invalid bytes. So compare it with the decoded text and not
      // with the bytes.
      expected.includes('\ufffd') ? undefined : (received) => received === wanted,
    )
  }
  const known = new Map<Bytes, readonly ValueDifference[]>()
  return comparison<Bytes | undefined>(expected, (received) => {
    if (received === undefined) return expected === undefined ? [] : [new ValueDifference(undefined, expected)]
    if (received.length <= longBody) return jsonDifferences(received, expected)
    let differences = known.get(received)
    if (differences === undefined) {
      differences = jsonDifferences(received, expected)
      known.set(received, differences)
    }
    return differences
  })
}

/** Length of a body from which on it is parsed once for a matcher, and not once for each comparison. */
const longBody = 100_000

function jsonDifferences(received: Bytes, expected: unknown): readonly ValueDifference[] {
  const json = text(received)
  return compareText(json, expected, {
    received: (redaction) => `no JSON: ${literal(withoutSecrets(json, redaction))}`,
  })
}

function bytes(expected: Uint8Array, wanted: Bytes): ValueComparison {
  return comparison<Bytes | undefined>(
    expected,
    (received) => {
      if (received === wanted) return []
      const texts = {
        expected: bytesText(wanted),
        received: (redaction: Redaction) => (received === undefined ? 'none' : bytesText(redaction.body(received))),
      }
      return [new ValueDifference(received, expected, '', texts)]
    },
    (received) => received === wanted,
  )
}

function bytesText(given: Bytes): string {
  return `${given.length} bytes, base64 ${literal(toBase64(given.slice(0, 300) as Bytes))}`
}

/**
 * Compares a text with an expected value. A regular expression tests the text, an asymmetric matcher tests the text or
 * its JSON, and any other value is compared with the JSON.
 */
export function compareText(
  received: string,
  expected: unknown,
  wording: DifferenceWording = {},
): readonly ValueDifference[] {
  if (expected instanceof RegExp) return compare(received, expected)
  const parsed = parsedJson(received)
  if (isAsymmetric(expected)) {
    const found = compare(received, expected)
    return found.length === 0 || parsed === undefined ? found : compare(parsed, expected)
  }
  return parsed === undefined ? [new ValueDifference(received, expected, '', wording)] : compare(parsed, expected)
}

/** Compares headers. Names are case-insensitive, and the values of a repeated header are joined with `, `. */
export const headers: Kind = (expected) =>
  comparison<HeaderList>(expected, (received) => {
    const byName = headerMap(received)
    if (!isPlainObject(expected)) return compare(Object.fromEntries(byName), expected)
    return Object.entries(expected).flatMap(([name, value]) =>
      compare(byName.get(name.toLowerCase()), typeof value === 'number' ? String(value) : value, `[${literal(name)}]`),
    )
  })

export function headerMap(list: HeaderList): ReadonlyMap<string, string> {
  const byName = new Map<string, string>()
  for (const [name, value] of list) {
    const lower = name.toLowerCase()
    const before = byName.get(lower)
    byName.set(lower, before === undefined ? value : `${before}, ${value}`)
  }
  return byName
}

/** Compares the filters of a bulk action. One expected value is compared with a list of one value. */
export const filters: Kind = (expected) => {
  if (isAsymmetric(expected) || !isPlainObject(expected)) return plain(expected)
  const lists = Object.entries(expected).map(([name, value]) => [name, Array.isArray(value) ? value : [value]])
  return plain(Object.fromEntries(lists))
}

/**
 * Compares a duration in milliseconds. The expected value is `'1h'`, a number of milliseconds, or an asymmetric matcher
 * for this number.
 */
export const span: Kind = (expected) => {
  if (expected === undefined || expected === null || isAsymmetric(expected)) return plain(expected)
  const wanted = milliseconds(expected as Duration)
  return comparison<number | undefined>(
    wanted,
    (received) => {
      if (received === wanted) return []
      const texts = {
        expected: typeof expected === 'number' ? `${expected} (${formatDuration(wanted)})` : literal(expected),
        received: received === undefined ? 'none' : `'${formatDuration(received)}'`,
        distance: received === undefined ? 1 : Math.abs(received - wanted) / Math.max(received, wanted),
      }
      return [new ValueDifference(received, expected, '', texts)]
    },
    (received) => received === wanted,
  )
}

/**
 * Compares an instant in milliseconds. The expected value is an ISO text, a `Date`, a number of milliseconds, or an
 * asymmetric matcher for this number.
 */
export const moment: Kind = (expected) => {
  if (expected === undefined || isAsymmetric(expected)) return plain(expected)
  const wanted = instant(expected as string)
  return comparison<number | undefined>(
    wanted,
    (received) => {
      if (received === wanted) return []
      const texts = { received: received === undefined ? 'none' : literal(iso(received)) }
      return [new ValueDifference(received, expected, '', texts)]
    },
    (received) => received === wanted,
  )
}

/** Compares one expected label with all labels of a message. At least one of them must match. */
export const label: Kind = (expected) => {
  const one = plain(expected)
  return comparison<readonly string[] | undefined>(expected, (received) => {
    if (received === undefined || received.length === 0) return one.differences(undefined)
    return received.some((each) => one.fits(each)) ? [] : one.differences(received.join(', '))
  })
}

export const labels: Kind = (expected) =>
  comparison<readonly string[] | undefined>(expected, (received) => compare(received && [...received], expected))
