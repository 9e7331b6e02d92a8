// A small validator for the JSON Schema keywords that this repository uses. An unknown keyword is an error.

type Schema = Readonly<Record<string, unknown>>

const read = new Set([
  '$schema',
  'title',
  'description',
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  'additionalItems',
  'minItems',
  'maxItems',
  'anyOf',
  'oneOf',
  'const',
  'enum',
  'pattern',
  'minimum',
])

/** Returns the errors of a value as `path: error`; empty when it is valid. */
export function schemaErrors(schema: Schema, value: unknown, path: string = '$'): string[] {
  const unknown = Object.keys(schema).filter((word) => !read.has(word))
  if (unknown.length > 0) throw new Error(`The validator does not know ${unknown.join(', ')}.`)
  const errors: string[] = []
  const complain = (text: string): void => void errors.push(`${path}: ${text}`)
  if (
    schema.type !== undefined &&
    ![schema.type].flat().includes(typeOf(value)) &&
    !(schema.type === 'number' && typeOf(value) === 'integer')
  ) {
    complain(`is ${typeOf(value)}, not ${String(schema.type)}`)
    return errors
  }
  if ('const' in schema && value !== schema.const) complain(`is not ${JSON.stringify(schema.const)}`)
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) complain(`is none of ${schema.enum.join(', ')}`)
  if (typeof value === 'string' && typeof schema.pattern === 'string' && !new RegExp(schema.pattern).test(value))
    complain('does not fit the pattern')
  if (typeof value === 'number' && typeof schema.minimum === 'number' && value < schema.minimum)
    complain('is too small')
  for (const word of ['anyOf', 'oneOf']) {
    const choices = schema[word] as Schema[] | undefined
    if (choices === undefined) continue
    const tries = choices.map((choice) => schemaErrors(choice, value, path))
    if (!tries.some((errors) => errors.length === 0)) errors.push(...tries.sort((a, b) => a.length - b.length)[0]!)
  }
  if (Array.isArray(value)) errors.push(...listErrors(schema, value, path))
  else if (typeof value === 'object' && value !== null)
    errors.push(...objectErrors(schema, value as Record<string, unknown>, path))
  return errors
}

function listErrors(schema: Schema, list: readonly unknown[], path: string): string[] {
  if (typeof schema.minItems === 'number' && list.length < schema.minItems) return [`${path}: is too short`]
  if (typeof schema.maxItems === 'number' && list.length > schema.maxItems) return [`${path}: is too long`]
  const first = (schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : [])) as Schema[]
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
  return list.flatMap((item, index) => {
    const of = first[index] ?? rest
    if (of === false) return [`${path}[${index}]: is one too many`]
    return typeof of === 'object' ? schemaErrors(of as Schema, item, `${path}[${index}]`) : []
  })
}

function objectErrors(schema: Schema, object: Record<string, unknown>, path: string): string[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const errors = ((schema.required ?? []) as string[])
    .filter((name) => !Object.hasOwn(object, name))
    .map((name) => `${path}.${name}: is missing`)
  for (const [name, value] of Object.entries(object)) {
    if (Object.hasOwn(properties, name)) errors.push(...schemaErrors(properties[name]!, value, `${path}.${name}`))
    else if (schema.additionalProperties === false) errors.push(`${path}.${name}: is one too many`)
    else if (typeof schema.additionalProperties === 'object')
      errors.push(...schemaErrors(schema.additionalProperties as Schema, value, `${path}.${name}`))
  }
  return errors
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
