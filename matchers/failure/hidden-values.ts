import type { RedactedFields } from '../../src/kernel/traffic-log.js'
import type { Redaction } from '../../src/report/redaction.js'
import { CutText, isAsymmetric, omittedList, omittedObject } from '../literal.js'

/** Maximum nesting depth at which secrets are hidden. */
const deepest = 8

/**
 * Numbers that bound the work for a long value. A failure prints a few hundred characters of it.
 * Longer texts are searched for secrets up to this character, and the rest is not printed.
 */
const maxChars = 250_000
/** Items of a list, and fields of an object, that a failure can print. The others are only counted. */
const maxItems = 200
/** Values within a value. Lists and objects after this number are printed as `[…]` and `{…}`. */
const maxValues = 20_000

/**
 * Returns a value without its secrets, to be printed. Secrets are tokens of the sandbox, text that looks like a secret,
 * and values of fields whose name indicates a secret. Of a long value, it contains only what a failure can print.
 * @param name name of the field or header that holds the value
 */
export function withoutSecrets(value: unknown, redaction: Redaction, name?: string): unknown {
  let left = maxValues
  const copyOf = (value: unknown, name: string | undefined, depth: number): unknown => {
    if (typeof value === 'string') return textWithout(value, redaction, name)
    if (typeof value !== 'object' || value === null || depth > deepest || isAsymmetric(value)) return value
    if (value instanceof RegExp || value instanceof Date || value instanceof Uint8Array) return value
    if (left-- <= 0) return Array.isArray(value) ? omittedList : omittedObject
    const inner = (item: unknown, of?: string): unknown => copyOf(item, of, depth + 1)
    if (Array.isArray(value)) {
      const [first, second] = value
      // In a captured request, a header is a list of its name and its value.
      if (value.length === 2 && typeof first === 'string' && typeof second === 'string')
        return [first, inner(second, first)]
      return value.map((item, index) => (index < maxItems ? inner(item, name) : item))
    }
    if (value instanceof Set) return new Set([...value].map((item) => inner(item, name)))
    // An entry or view contains a reference to the engine. Its `toJSON()` omits this reference.
    const { toJSON } = value as { toJSON?: () => unknown }
    if (typeof toJSON === 'function') return inner(toJSON.call(value), name)
    const names = Object.keys(value)
    const shown = names.slice(0, maxItems).map((field) => [field, inner(value[field as never], field)] as const)
    return names.length > maxItems ? { ...value, ...Object.fromEntries(shown) } : Object.fromEntries(shown)
  }
  return copyOf(value, name, 0)
}

function textWithout(value: string, redaction: Redaction, name: string | undefined): string | CutText {
  const hide = (text: string): string =>
    name !== undefined && redaction.isSecretName(name) ? redaction.header(name, text) : redaction.text(text)
  return value.length > maxChars ? new CutText(hide(value.slice(0, maxChars)), value.length) : hide(value)
}

/** Returns the last name in a path. For `.user.password` and for `['password'][0]`, the name is `password`. */
export function nameAt(path: string): string | undefined {
  const [, plain, quoted] = /(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])(?:\[\d+\])*$/.exec(path) ?? []
  return plain ?? quoted
}

/**
 * Returns the fields that the publisher of a message hid with `Redact-Fields`. The argument is an entry, or the
 * lifecycle of the message.
 */
export function redactOf(thing: unknown): RedactedFields | undefined {
  const { redact, published, last } = thing as { redact?: RedactedFields; published?: unknown; last?: unknown }
  return (
    redact ??
    (published === undefined ? undefined : redactOf(published)) ??
    (last === undefined ? undefined : redactOf(last))
  )
}

/** Returns whether the publisher hid a value. `path` is the path of the value within the field. */
export function isHidden(field: string, path: string, redact: RedactedFields | undefined): boolean {
  if (redact === undefined) return false
  if (field === 'body' || field === 'sourceBody') return redact.body
  if (field !== 'headers' && field !== 'sourceHeaders') return false
  return (
    redact.allHeaders ||
    redact.headers.has(nameAt(path)?.toLowerCase() ?? '') ||
    (path === '' && redact.headers.size > 0)
  )
}
