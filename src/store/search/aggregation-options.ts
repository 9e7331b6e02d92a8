import { type Bytes, text } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { Float, type Json, type JsonObject } from '../values/json-value.js'
import type { FieldDefinition } from '../values/search-definition.js'
import type { BucketCount } from './bucket-count.js'
import type { Content } from './content.js'

import { scalarOf } from './field-values.js'
import { refusal, shown } from './search-errors.js'
import type { Scalar } from './sorted-values.js'

export interface Aggregating {
  readonly content: Content
  readonly ids: readonly number[]
  readonly work: Work
  readonly buckets: BucketCount
  isFast(field: FieldDefinition): boolean
}

/** Reads the options of one operator in one aggregation, and rejects unknown ones. */
export class AggregationOptions {
  constructor(
    readonly name: Bytes,
    readonly operator: string,
    private readonly given: JsonObject,
    private readonly over: Aggregating,
  ) {}

  /**
   * Returns the field of the aggregation. It must have one of these types, and be FAST unless it is a facet. [search.md
   * 13]
   */
  field(types: readonly FieldDefinition['type'][]): FieldDefinition {
    const path = this.given.get('field' as Bytes)
    // [search.md 13: the texts of this error and of the error about FAST]
    if (typeof path !== 'string') throw this.#refusal("is missing required 'field' property")
    const field = this.over.content.definition.fields.find((one) => one.path === path)
    if (field === undefined) throw this.#refusal(`has an unknown field '${shown(path)}'`)
    const isFast = field.type === 'FACET' ? types.includes('FACET') : this.over.isFast(field)
    if (!isFast) throw this.#refusal(`operator '${this.operator}' requires field '${shown(path)}' to be FAST`)
    if (!types.includes(field.type))
      throw this.#refusal(`operator '${this.operator}' does not support field '${shown(path)}' of type ${field.type}`)
    return field
  }

  /**
   * Checks that the operator has no other options.
   * @throws ReplyError for an unknown option
   */
  only(...known: readonly string[]): void {
    for (const name of this.given.keys())
      if (!known.includes(name)) throw this.#refusal(`operator '${this.operator}' has no option '${shown(name)}'`)
  }

  get(name: string): Json | undefined {
    return this.given.get(name as Bytes)
  }

  number(name: string, otherwise: number): number
  number(name: string, otherwise?: number): number | undefined
  number(name: string, otherwise?: number): number | undefined {
    const value = this.get(name)
    if (value === undefined) return otherwise
    const number = numberIn(value)
    if (number === undefined) throw this.refused(name, 'a number')
    return number
  }

  whole(name: string, otherwise: number, least: number): number {
    const value = this.number(name, otherwise)
    if (!Number.isSafeInteger(value) || value < least) throw this.refused(name, `an integer of at least ${least}`)
    return value
  }

  boolean(name: string, otherwise: boolean): boolean {
    const value = this.get(name) ?? otherwise
    if (typeof value !== 'boolean') throw this.refused(name, 'true or false')
    return value
  }

  /** Returns the option `missing`: the value that counts for documents without a value. */
  missing(field: FieldDefinition): Scalar | undefined {
    const value = this.get('missing')
    if (value === undefined) return undefined
    const scalar = scalarOf(field.type, value) ?? (field.type === 'KEYWORD' ? undefined : numberIn(value))
    if (scalar === undefined) throw this.refused('missing', 'a value that has the type of the field')
    return scalar
  }

  /** Returns a bound of a range as a number. Dates are converted to milliseconds. */
  bound(name: string, value: Json): number {
    const number = numberIn(value) ?? scalarOf('DATE', value)
    if (typeof number !== 'number') throw this.refused(name, 'numbers or dates')
    return number
  }

  bounds(name: string): { readonly min: number; readonly max: number } | undefined {
    const value = this.get(name)
    if (value === undefined) return undefined
    const [min, max] = value instanceof Map ? [value.get('min' as Bytes), value.get('max' as Bytes)] : []
    if (min === undefined || max === undefined) throw this.refused(name, 'an object with min and max')
    return { min: this.bound(name, min), max: this.bound(name, max) }
  }

  order(): { readonly by: Bytes; readonly descending: boolean } | undefined {
    const value = this.get('order')
    if (value === undefined) return undefined
    const pairs = value instanceof Map ? [...value] : []
    const [by, direction] = pairs[0] ?? []
    if (pairs.length !== 1 || (direction !== 'asc' && direction !== 'desc'))
      throw this.refused('order', 'an object such as { "count": "desc" }')
    return { by: by!, descending: direction === 'desc' }
  }

  /** Returns an option that is one of several words. The first word is the default. */
  oneOf<T extends string>(name: string, words: readonly [T, ...T[]]): T {
    const value = this.get(name) ?? words[0]
    const found = words.find((one) => one === value)
    if (found === undefined) throw this.refused(name, words.join(', '))
    return found
  }

  text(name: string): string | undefined {
    const value = this.get(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string') throw this.refused(name, 'a string')
    return text(value)
  }

  refused(option: string, wanted: string): Error {
    return this.#refusal(`operator '${this.operator}' takes ${wanted} for '${option}'`)
  }

  #refusal(what: string): Error {
    return aggregationRefusal(this.name, what)
  }
}

export function aggregationRefusal(name: Bytes, what: string): Error {
  return refusal(`Aggregation '${shown(name)}' ${what}`)
}

function numberIn(value: Json): number | undefined {
  if (value instanceof Float) return value.value
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}
