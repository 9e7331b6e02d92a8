import { type Bytes, fromArray, text, toBase64 } from '../src/kernel/bytes.js'
import { instant, iso } from '../src/kernel/clock.js'
import { type Duration, formatDuration, milliseconds } from '../src/kernel/duration.js'
import { compare, Difference } from './compare.js'
import { isAsymmetric, isPlainObject, literal } from './literal.js'

/** One field of something captured: knows what it is compared with. */
export type Field = (expected: unknown) => readonly Difference[]

type HeaderList = readonly (readonly [string, string])[]

export function plain(received: unknown): Field {
  return (expected) => compare(received, expected)
}

/** An address; `*` in the expected text stands for any chars. */
export function address(received: string | undefined): Field {
  return (expected) => {
    if (typeof expected !== 'string' || !expected.includes('*')) return compare(received, expected)
    return received !== undefined && wildcard(expected).test(received) ? [] : [new Difference(received, expected)]
  }
}

function wildcard(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's')
}

/** Captured bytes: a text is compared as text, an object or list with the parsed JSON, bytes with bytes. */
export function body(received: Bytes | undefined): Field {
  return (expected) => {
    if (received === undefined) return expected === undefined ? [] : [new Difference(undefined, expected)]
    if (expected instanceof Uint8Array) {
      return fromArray(expected) === received ? [] : [bytesDifference(received, fromArray(expected))]
    }
    const plainBody = text(received)
    if (typeof expected === 'string' || expected instanceof RegExp) return compare(plainBody, expected)
    const parsed = parseJson(plainBody)
    if (isAsymmetric(expected)) {
      const found = compare(plainBody, expected)
      return found.length === 0 || parsed === undefined ? found : compare(parsed.value, expected)
    }
    if (parsed === undefined)
      return [new Difference(plainBody, expected, '', { received: `no JSON: ${literal(plainBody)}` })]
    return compare(parsed.value, expected)
  }
}

function bytesDifference(received: Bytes, expected: Bytes): Difference {
  return new Difference(received, expected, '', {
    expected: `${expected.length} bytes, base64 ${literal(toBase64(expected))}`,
    received: `${received.length} bytes, base64 ${literal(toBase64(received))}`,
  })
}

export function parseJson(given: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(given) }
  } catch {
    return undefined
  }
}

/**
 * Headers by name, in any case; one that comes twice is joined with `, `.
 * @param read called when the field is compared: an attempt is only signed when somebody reads its headers
 */
export function headers(read: () => HeaderList): Field {
  return (expected) => {
    const byName = headerMap(read())
    if (!isPlainObject(expected)) return compare(Object.fromEntries(byName), expected)
    return Object.entries(expected).flatMap(([name, value]) =>
      compare(byName.get(name.toLowerCase()), typeof value === 'number' ? String(value) : value, `[${literal(name)}]`),
    )
  }
}

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
export function span(received: number | undefined): Field {
  return (expected) => {
    if (expected === undefined || expected === null || isAsymmetric(expected)) return compare(received, expected)
    const wanted = milliseconds(expected as Duration)
    if (received === wanted) return []
    return [
      new Difference(received, expected, '', {
        expected: typeof expected === 'number' ? `${expected} (${formatDuration(wanted)})` : literal(expected),
        received: received === undefined ? 'none' : `'${formatDuration(received)}'`,
        distance: received === undefined ? 1 : Math.abs(received - wanted) / Math.max(received, wanted),
      }),
    ]
  }
}

/** A point in time; expected as ISO text, `Date` or milliseconds, or asymmetric over the milliseconds. */
export function moment(received: number | undefined): Field {
  return (expected) => {
    if (expected === undefined || isAsymmetric(expected)) return compare(received, expected)
    const wanted = instant(expected as string)
    if (received === wanted) return []
    return [
      new Difference(received, expected, '', { received: received === undefined ? 'none' : literal(iso(received)) }),
    ]
  }
}
