import type { Bytes } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import type { Container } from './value.js'

/**
 * JSON value in the store. Integers are `number` if safe, otherwise `bigint`, up to the range of unsigned 64 bits. All
 * other numbers are a {@link Float}, so that `1` and `1.0` stay different. Objects are Maps, because plain objects
 * would move integer-like keys to the front. Strings are their UTF-8 bytes.
 */
export type Json = null | boolean | Bytes | number | bigint | Float | JsonArray | JsonObject
export type JsonArray = Json[]
export type JsonObject = Map<Bytes, Json>

export type JsonTypeName = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null'

/** Maximum nesting of a document, as in RedisJSON. It also limits every recursion over documents. */
export const maxDepth = 128

/** Number with a fraction or exponent, or an integer too large for 64 bits. */
export class Float {
  constructor(
    readonly value: number,
    /** Spelling in the document: `1.50` is returned as `1.50`. Only exponents are normalized, to `1.6e308`. */
    readonly text: Bytes,
  ) {}
}

/** Value of a key of type `json`. */
export class JsonDocument implements Container {
  readonly type = 'json'

  constructor(public root: Json = null) {}

  /** Always false: `{}` is a valid document, so its key is not deleted. */
  get isEmpty(): boolean {
    return false
  }

  /** Charges the work budget for visiting the whole document. */
  pay(work: Work): void {
    payFor(this.root, work)
  }

  copy(): JsonDocument {
    return new JsonDocument(copyJson(this.root))
  }
}

/** Units of work for one value that is copied, written or compared. */
const unitsPerValue = 4

/** Charges the work budget for visiting a value and all its members. */
export function payFor(value: Json, work: Work): void {
  work.charge(typeof value === 'string' ? unitsPerValue + (value.length >>> 5) : unitsPerValue)
  if (!isContainer(value)) return
  for (const member of value.values()) payFor(member, work)
}

/**
 * Returns the units of work for visiting a value in the arguments of a command. Counting visits the whole value, but
 * the value is at most as large as the command.
 */
export function costOf(value: Json): number {
  if (!isContainer(value)) return typeof value === 'string' ? unitsPerValue + (value.length >>> 5) : unitsPerValue
  let cost = unitsPerValue
  for (const member of value.values()) cost += costOf(member)
  return cost
}

export function isContainer(value: Json): value is JsonArray | JsonObject {
  return Array.isArray(value) || value instanceof Map
}

export function isInteger(value: Json): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

export function isNumber(value: Json): value is number | bigint | Float {
  return isInteger(value) || value instanceof Float
}

export function typeName(value: Json): JsonTypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value instanceof Map) return 'object'
  if (value instanceof Float) return 'number'
  if (typeof value === 'string') return 'string'
  return typeof value === 'boolean' ? 'boolean' : 'integer'
}

/** Returns a deep copy. Containers are changed in place, so two locations must never share a container. */
export function copyJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyJson)
  if (!(value instanceof Map)) return value
  const copy: JsonObject = new Map()
  for (const [key, member] of value) copy.set(key, copyJson(member))
  return copy
}

/** Returns the nesting depth: 0 for a scalar, 1 for `[]`, 2 for `[[]]`. */
export function depthOf(value: Json): number {
  if (!isContainer(value)) return 0
  let deepest = 0
  for (const member of value.values()) deepest = Math.max(deepest, depthOf(member))
  return deepest + 1
}

/**
 * Compares two numbers or two strings. Returns `undefined` for other values. JavaScript compares bigint and number
 * exactly. UTF-8 byte strings have the order of their code points.
 */
export function compareJson(a: Json, b: Json): -1 | 0 | 1 | undefined {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0
  if (!isNumber(a) || !isNumber(b)) return undefined
  const left = a instanceof Float ? a.value : a
  const right = b instanceof Float ? b.value : b
  return left < right ? -1 : left > right ? 1 : 0
}

/** Returns whether values are equal: numbers by value (`1` equals `1.0`), objects in any order of keys. */
export function equalJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((member, index) => equalJson(member, b[index] as Json))
  }
  if (a instanceof Map) return b instanceof Map && equalObjects(a, b)
  return isNumber(a) && compareJson(a, b) === 0
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  if (a.size !== b.size) return false
  for (const [key, member] of a) {
    const other = b.get(key)
    if (other === undefined || !equalJson(member, other)) return false
  }
  return true
}

/**
 * Estimates the bytes that a compact implementation needs for a value: one word per value, the text of strings and
 * keys, two words per container. This package chose the formula, because the sizes in the service are not public.
 */
export function memoryOf(value: Json): number {
  if (typeof value === 'string') return 8 + value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, member) => sum + memoryOf(member), 24)
  if (!(value instanceof Map)) return 8
  let sum = 24
  for (const [key, member] of value) sum += 8 + key.length + memoryOf(member)
  return sum
}
