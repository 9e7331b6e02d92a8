/**
 * Serializes a value of any depth. `JSON.stringify` is recursive, and a client can send a value that is nested deeper
 * than the stack allows.
 */
export function compactJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return deepJson(value)
    throw error
  }
}

/** A part of the output that is not written yet: a value, or text such as `]`. */
type Rest = { readonly value: unknown } | string

/** Serializes plain data without cycles, such as a result of `JSON.parse`. */
function deepJson(whole: unknown): string {
  let out = ''
  const rest: Rest[] = [{ value: whole }]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next === 'string') {
      out += next
      continue
    }
    const { value } = next
    if (typeof value !== 'object' || value === null) out += JSON.stringify(value) ?? 'null'
    else if (Array.isArray(value)) {
      out += '['
      rest.push(']')
      // Items are pushed in reverse order, because the last pushed item is written first.
      for (let at = value.length - 1; at >= 0; at--) {
        rest.push({ value: value[at] })
        if (at > 0) rest.push(',')
      }
    } else {
      out += '{'
      rest.push('}')
      const fields = Object.entries(value).filter(([, field]) => field !== undefined)
      for (let at = fields.length - 1; at >= 0; at--) {
        const [name, field] = fields[at]!
        rest.push({ value: field }, `${at > 0 ? ',' : ''}${JSON.stringify(name)}:`)
      }
    }
  }
  return out
}
