import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { parseJson } from '../values/json-text.js'
import { Float, type Json, type JsonObject } from '../values/json-value.js'
import { conditionsOf, type Reading, unitsPerPart } from './field-operators.js'
import { allOf, anyOf, everything, nothing, type SearchFilter } from './filter.js'
import { refusal, shown, unknownField } from './search-errors.js'

/** Maximum nesting of a filter. [a limit of this package] */
export const deepest = 64

/** Parses a JSON argument that must be an object. */
export function readObject(source: Bytes, what: string): JsonObject {
  let root: Json
  try {
    root = parseJson(source)
  } catch {
    throw refusal(`${what} is not valid JSON`)
  }
  if (!(root instanceof Map)) throw refusal(`${what} must be a JSON object`)
  return root
}

const operators = {
  must: ['$must', '$and'],
  should: '$should',
  or: '$or',
  mustNot: '$mustNot',
  boost: '$boost',
} as const

/** Reads one object, all members of which must match. [search.md 12] */
export function readClause(clause: JsonObject, reading: Reading): SearchFilter {
  const required: SearchFilter[] = []
  const optional: SearchFilter[] = []
  const excluded: SearchFilter[] = []
  let boost = 1
  let hasShould = false
  let hasMustNot = false
  for (const [name, value] of clause) {
    if (!name.startsWith('$')) required.push(readField(name, value, reading))
    else if (name === operators.boost) boost = readBoost(value)
    else if ((operators.must as readonly string[]).includes(name)) {
      const { parts, boost } = readParts(name, value, reading)
      required.push(allOf(parts, boost))
    } else if (name === operators.or) {
      const { parts, boost } = readParts(name, value, reading)
      required.push(anyOf(parts, boost))
    } else if (name === operators.should) {
      const { parts, boost } = readParts(name, value, reading)
      hasShould = true
      optional.push(...(boost === 1 ? parts : [anyOf(parts, boost)]))
    } else if (name === operators.mustNot) {
      hasMustNot = true
      excluded.push(...readParts(name, value, reading).parts)
    } else throw refusal(`Unknown operator: ${shown(name)}`)
  }
  if (required.length === 0 && !hasShould) {
    if (!hasMustNot) return everything
    // Two pages of the documentation disagree about a `$mustNot` without other conditions, so a policy decides.
    if (reading.policy.searchLoneMustNot === 'nothing') return nothing
    required.push(everything)
  }
  if (required.length === 0 && optional.length === 0) return nothing
  if (optional.length === 0 && excluded.length === 0) return allOf(required, boost)
  return { kind: 'group', required, optional, excluded, boost }
}

/**
 * Returns the conditions in the value of a combining operator such as `$mustNot`: the elements of a list, or the
 * members of an object.
 */
function readParts(
  operator: Bytes,
  value: Json,
  reading: Reading,
): { readonly parts: readonly SearchFilter[]; readonly boost: number } {
  if (Array.isArray(value)) {
    reading.work.charge(unitsPerPart * value.length)
    const parts = value.map((element) => {
      if (!(element instanceof Map)) throw refusal(`Operator '${operator}' takes objects`)
      return readClause(element, reading)
    })
    return { parts, boost: 1 }
  }
  if (!(value instanceof Map)) throw refusal(`Operator '${operator}' takes an object or an array of objects`)
  const parts: SearchFilter[] = []
  let boost = 1
  for (const [name, member] of value) {
    if (name === operators.boost) boost = readBoost(member)
    else parts.push(readClause(new Map([[name, member]]), reading))
  }
  return { parts, boost }
}

function readField(path: Bytes, value: Json, reading: Reading): SearchFilter {
  const field = reading.fields.get(path)
  if (field === undefined) throw unknownField(path)
  if (!(value instanceof Map)) return allOf(conditionsOf(field, new Map([[latin1('$smart'), value]]), reading))
  const rest = new Map(value)
  rest.delete(operators.boost as Bytes)
  if (rest.size === 0) throw refusal(`Field '${shown(path)}' has no operator`)
  const boost = value.get(operators.boost as Bytes)
  return allOf(conditionsOf(field, rest, reading), boost === undefined ? 1 : readBoost(boost))
}

function readBoost(value: Json): number {
  const boost = value instanceof Float ? value.value : Number(value)
  if ((value instanceof Float || typeof value === 'number' || typeof value === 'bigint') && Number.isFinite(boost))
    return boost
  throw refusal("Operator '$boost' takes a number")
}
