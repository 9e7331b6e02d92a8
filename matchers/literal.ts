import { plainText } from '../src/report/safe-text.js'

const widest = 100
const maxItems = 20
const maxChars = 200

/** A matcher that decides itself whether a value matches, such as `expect.anything()` or `expect.stringMatching(…)`. */
export interface AsymmetricMatcher {
  asymmetricMatch(other: unknown): boolean
}

/** The start of a text that is too long to be searched for secrets as a whole. Only the start is printed. */
export class CutText {
  constructor(
    readonly start: string,
    /** Length of the whole text. */
    readonly length: number,
  ) {}
}

/** Values that are printed instead of further lists and objects of a long value. */
export const omittedList: object = Object.freeze({})
export const omittedObject: object = Object.freeze({})

export function isAsymmetric(value: unknown): value is AsymmetricMatcher {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<AsymmetricMatcher>).asymmetricMatch === 'function'
  )
}

/** Returns a value as source code on one line, safe to print. */
export function literal(value: unknown, depth = 0): string {
  if (typeof value === 'string') return stringLiteral(value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return `[function ${plainText(value.name)}]`
  if (typeof value !== 'object' || value === null) return String(value)
  if (value instanceof CutText) return stringLiteral(value.start, value.length)
  if (value === omittedList) return '[…]'
  if (value === omittedObject) return '{…}'
  if (isAsymmetric(value)) return asymmetricLiteral(value)
  if (value instanceof RegExp) return plainText(String(value))
  if (value instanceof Date) return `new Date('${Number.isNaN(value.getTime()) ? '' : value.toISOString()}')`
  if (value instanceof Uint8Array) return `Uint8Array(${value.length})`
  if (depth > 6) return Array.isArray(value) ? '[…]' : '{…}'
  const inner = (item: unknown): string => literal(item, depth + 1)
  if (Array.isArray(value)) return listed('[', value, inner, ']')
  if (value instanceof Set) return listed('new Set([', [...value], inner, '])')
  const names = Object.keys(value)
  const field = (name: string): string => `${fieldName(name)}: ${inner((value as Record<string, unknown>)[name])}`
  return names.length === 0 ? '{}' : listed('{ ', names, field, ' }')
}

/**
 * Formats the arguments of a call. If there is only one argument and it is a long object, each of its fields gets its
 * own line.
 */
export function argumentList(values: readonly unknown[]): string {
  const line = values.map((value) => literal(value)).join(', ')
  const last = values.at(-1)
  if (line.length <= widest || values.length !== 1 || !isPlainObject(last)) return line
  const fields = Object.entries(last).map(([name, item]) => `  ${fieldName(name)}: ${literal(item)},`)
  return `{\n${fields.join('\n')}\n}`
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || isAsymmetric(value)) return false
  const prototype = Object.getPrototypeOf(value)
  // In another realm, plain objects have another `Object.prototype`, so do not compare with that object. Jest, for
  // example, runs tests in their own realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function listed<T>(open: string, items: readonly T[], write: (item: T) => string, close: string): string {
  const shown = items.slice(0, maxItems).map(write)
  if (items.length > shown.length) shown.push(`… ${items.length - shown.length} more`)
  return open + shown.join(', ') + close
}

function stringLiteral(value: string, length: number = value.length): string {
  const shown = value.length > maxChars ? value.slice(0, maxChars) : value
  const quoted = `'${plainText(shown.replaceAll('\\', '\\\\').replaceAll("'", "\\'"))}'`
  return length > maxChars ? `${quoted.slice(0, -1)}…' (${length} chars)` : quoted
}

function fieldName(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : stringLiteral(name)
}

/**
 * Returns the text of an asymmetric matcher. Test runners provide different texts, such as `Anything` and
 * `StringMatching</x/>`.
 */
function asymmetricLiteral(value: AsymmetricMatcher): string {
  const { toAsymmetricMatcher } = value as { toAsymmetricMatcher?: () => string }
  if (typeof toAsymmetricMatcher === 'function') return plainText(toAsymmetricMatcher.call(value))
  const text = String(value)
  return text.startsWith('[object') ? 'an asymmetric matcher' : plainText(text)
}
