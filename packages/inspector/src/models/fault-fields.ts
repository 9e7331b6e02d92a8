/** Description of a fault kind in the catalog. */
export interface FaultKindInfo {
  readonly kind: string
  readonly summary: string
  readonly points: readonly string[]
  readonly fields: readonly FaultField[]
  readonly example?: Readonly<Record<string, unknown>>
}

export interface FaultField {
  readonly name: string
  /** `number`, `string`, `boolean`, or another type. A value of another type is typed as JSON. */
  readonly type: string
  /** Whether the field may be empty. */
  readonly optional?: boolean
  /** The only allowed values. */
  readonly values?: readonly (string | number)[]
}

/** Returns the texts that the input fields first contain, from the example of the fault kind. */
export function typedOf({ fields, example = {} }: FaultKindInfo): Readonly<Record<string, string>> {
  const typed = fields.flatMap(({ name }) => {
    const given = example[name]
    return given === undefined ? [] : [[name, typeof given === 'string' ? given : JSON.stringify(given)] as const]
  })
  return Object.fromEntries(typed)
}

/** Converts the texts of the input fields to a fault. @throws Error that names the field, if a text is invalid */
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
    // Some fields accept a text or a value of another type. Only a text that begins like JSON must be valid JSON.
    if (/^[[{"]/.test(text.trim())) throw new Error(`${name} must be valid JSON.`)
    return text
  }
}
