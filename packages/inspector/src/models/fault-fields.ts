/** A kind of fault, as the catalog tells it. */
export interface FaultKindInfo {
  readonly kind: string
  readonly summary: string
  readonly points: readonly string[]
  readonly fields: readonly FaultField[]
  /** One of its kind. */
  readonly example?: Readonly<Record<string, unknown>>
}

export interface FaultField {
  readonly name: string
  /** `number`, `string`, `boolean`, or anything else, which is given as JSON. */
  readonly type: string
  /** May be left out. */
  readonly optional?: boolean
  /** The only values that it may have. */
  readonly values?: readonly (string | number)[]
}

/** What stands in the fields of a fault before anything is typed: what its example has. */
export function typedOf({ fields, example = {} }: FaultKindInfo): Readonly<Record<string, string>> {
  const typed = fields.flatMap(({ name }) => {
    const given = example[name]
    return given === undefined ? [] : [[name, typeof given === 'string' ? given : JSON.stringify(given)] as const]
  })
  return Object.fromEntries(typed)
}

/**
 * What was typed into the fields of a fault, as the fault has it.
 * @throws Error that names the field, where its text is no such value
 */
export function faultOf(kind: FaultKindInfo, typed: Readonly<Record<string, string>>): Record<string, unknown> {
  const fault: Record<string, unknown> = { kind: kind.kind }
  for (const { name, type, optional, values } of kind.fields) {
    const text = typed[name] ?? ''
    if (text === '') {
      if (optional !== true) throw new Error(`${name}: give a value.`)
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
    throw new Error(`${name}: ${JSON.stringify(text)} is not a number.`)
  }
  try {
    return JSON.parse(text)
  } catch {
    if (type === 'boolean') throw new Error(`${name}: give true or false.`)
    // A text may be one of several things that a field takes.
    if (/^[[{"]/.test(text.trim())) throw new Error(`${name}: this is not JSON.`)
    return text
  }
}
