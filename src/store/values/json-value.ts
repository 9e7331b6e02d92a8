import type { Bytes } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import type { Container } from './value.js'

/**
 * A JSON value as the store holds it. Whole numbers are `number` while they are safe and `bigint` beyond, up to
 * the range of unsigned 64 bits; every other number is a {@link Float}, so that `1` and `1.0` stay different.
 * Objects are Maps, because plain objects would move integer-like keys to the front. Strings are their UTF-8 bytes.
 */
export type Json = null | boolean | Bytes | number | bigint | Float | JsonArray | JsonObject
export type JsonArray = Json[]
export type JsonObject = Map<Bytes, Json>

export type JsonTypeName = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null'

/** Levels of arrays and objects in one document; RedisJSON's figure. It also bounds every recursion over documents. */
export const maxDepth = 128

/** A number with a fraction or an exponent, or a whole number too large for 64 bits. */
export class Float {
  constructor(
    readonly value: number,
    /** As the document spelled it: `1.50` comes back as `1.50`. Only exponents have one spelling, `1.6e308`. */
    readonly text: Bytes,
  ) {}
}

/** What a key of type `json` holds. */
export class JsonDocument implements Container {
  readonly type = 'json'

  constructor(public root: Json = null) {}

  /** `{}` is a document like any other: its key stays. */
  get isEmpty(): boolean {
    return false
  }

  /** Charges a walk over the document, while it walks. */
  pay(work: Work): void {
    payFor(this.root, work)
  }

  copy(): JsonDocument {
    return new JsonDocument(copyJson(this.root))
  }
}

/** Units for one value in a walk that copies, writes or compares what it passes. */
const unitsPerValue = 4

/** Charges a walk over a value with all that is in it, while it walks. */
export function payFor(value: Json, work: Work): void {
  work.charge(typeof value === 'string' ? unitsPerValue + (value.length >>> 5) : unitsPerValue)
  if (!isContainer(value)) return
  for (const member of value.values()) payFor(member, work)
}

/** The same in one sum, for a value that was given in a command, and so is no larger than that. */
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

/** A deep copy: containers must never be shared between two places, since they change in place. */
export function copyJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyJson)
  if (!(value instanceof Map)) return value
  const copy: JsonObject = new Map()
  for (const [key, member] of value) copy.set(key, copyJson(member))
  return copy
}

/** Levels of containers: 0 for a scalar, 1 for `[]`. */
export function depthOf(value: Json): number {
  if (!isContainer(value)) return 0
  let deepest = 0
  for (const member of value.values()) deepest = Math.max(deepest, depthOf(member))
  return deepest + 1
}

/**
 * Order of two numbers or two strings, `undefined` for anything else. JavaScript compares bigint and number by
 * their exact values; byte strings of UTF-8 order like their code points.
 */
export function compareJson(a: Json, b: Json): -1 | 0 | 1 | undefined {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0
  if (!isNumber(a) || !isNumber(b)) return undefined
  const left = a instanceof Float ? a.value : a
  const right = b instanceof Float ? b.value : b
  return left < right ? -1 : left > right ? 1 : 0
}

/** Equality of values: numbers by size (`1` equals `1.0`), objects whatever the order of their keys. */
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
 * Bytes a value would take in a compact engine: one word per value, the text of strings and keys, two words per
 * container. An estimate; no public source gives the service's own figures. [not public: our choice]
 */
export function memoryOf(value: Json): number {
  if (typeof value === 'string') return 8 + value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, member) => sum + memoryOf(member), 24)
  if (!(value instanceof Map)) return 8
  let sum = 24
  for (const [key, member] of value) sum += 8 + key.length + memoryOf(member)
  return sum
}
