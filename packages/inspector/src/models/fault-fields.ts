/** A kind of fault in the catalog. */
export interface FaultKindInfo {
  readonly kind: string
  readonly summary: string
  readonly points: readonly string[]
  readonly fields: readonly FaultField[]
  /** A fault of this kind. */
  readonly example?: Readonly<Record<string, unknown>>
}

export interface FaultField {
  readonly name: string
  /** `number`, `string`, `boolean`, or another type, whose value is typed as JSON. */
  readonly type: string
  /** Whether it may be omitted. */
  readonly optional?: boolean
  /** The only allowed values. */
  readonly values?: readonly (string | number)[]
}

/** Returns the initial texts of a fault's fields, from its example. */
export function typedOf({ fields, example = {} }: FaultKindInfo): Readonly<Record<string, string>> {
  const typed = fields.flatMap(({ name }) => {
    const given = example[name]
    return given === undefined ? [] : [[name, typeof given === 'string' ? given : JSON.stringify(given)] as const]
  })
  return Object.fromEntries(typed)
}

/**
 * Converts the typed fields to a fault.
 * @throws Error that names the field if its text is invalid
 */
export function faultOf(kind: FaultKindInfo, typed: Readonly<Record<string, string>>): Record<string, unknown> {
  const fault: Record<string, unknown> = { kind: kind.kind }
  for (const { name, type, optional, values } of kind.fields) {
    const text = typed[name] ?? ''
    if (text === '') {
      if (optional !== true) throw new Error(`${name} must not be empty.`)
      continue
    }
    const chosen = values?.find((value) => String(value) === text)
    fault[name] = chosen ?? fieldOf(name, type, text)
  }
  return fault
}

function fieldOf(name: string, type: string, text: string): unknown {
  if (type === 'string') return text
  if (type === 'number' || type === 'integer') {
    if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
    throw new Error(`${name} must be a number (got ${JSON.stringify(text)}).`)
  }
  try {
    return JSON.parse(text)
  } catch {
    if (type === 'boolean') throw new Error(`${name} must be true or false.`)
    // A field may accept values of several types, including a text.
    if (/^[[{"]/.test(text.trim())) throw new Error(`${name} must be valid JSON.`)
    return text
  }
}
