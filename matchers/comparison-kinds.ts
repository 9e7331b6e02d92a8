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

/** An expected value, ready to be compared with thousands of received ones. */
export interface ValueComparison {
  /** What a received value is the nearer to, the less is wrong with it. */
  readonly expected: unknown
  fits(received: unknown): boolean
  differences(received: unknown): readonly ValueDifference[]
}

/** How values of one kind are compared. */
export type Kind = (expected: unknown) => ValueComparison

/** `fits` may be given apart, when it can be told with less work than the differences. */
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

/** An address; `*` in the expected text stands for any chars. */
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

/** Steps of a run: by their names, or by some fields of each. */
export const runSteps: Kind = (expected) => {
  if (!Array.isArray(expected)) return plain(expected)
  const named = expected.every((item) => typeof item === 'string')
  const wanted = named ? expected : expected.map((item) => (typeof item === 'string' ? { name: item } : item))
  return comparison<readonly { readonly name: string }[]>(expected, (received) =>
    compare(named ? received.map(({ name }) => name) : received, wanted),
  )
}

/** Captured bytes: a text is compared as text, an object or list with the parsed JSON, bytes with bytes. */
export const body: Kind = (expected) => {
  if (expected instanceof Uint8Array) return bytes(expected, fromArray(expected))
  if (typeof expected === 'string') {
    const wanted = utf8(expected)
    return comparison<Bytes | undefined>(
      expected,
      (received) => (received === wanted ? [] : compare(received === undefined ? undefined : text(received), expected)),
      // What is no UTF-8 is compared as it would be printed.
      expected.includes('\ufffd') ? undefined : (received) => received === wanted,
    )
  }
  return comparison<Bytes | undefined>(expected, (received) => {
    if (received === undefined) return expected === undefined ? [] : [new ValueDifference(undefined, expected)]
    const json = text(received)
    return compareText(json, expected, {
      received: (redaction) => `no JSON: ${literal(withoutSecrets(json, redaction))}`,
    })
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

/** A text that is compared with what it may be the JSON of. */
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

/** Headers by name, in any case; one that comes twice is joined with `, `. */
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

/** A span in milliseconds; expected as `'1h'`, as milliseconds, or asymmetric over the milliseconds. */
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

/** A point in time; expected as ISO text, `Date` or milliseconds, or asymmetric over the milliseconds. */
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

/** One of the labels fits. */
export const label: Kind = (expected) => {
  const one = plain(expected)
  return comparison<readonly string[] | undefined>(expected, (received) => {
    if (received === undefined || received.length === 0) return one.differences(undefined)
    return received.some((each) => one.fits(each)) ? [] : one.differences(received.join(', '))
  })
}

export const labels: Kind = (expected) =>
  comparison<readonly string[] | undefined>(expected, (received) => compare(received && [...received], expected))
