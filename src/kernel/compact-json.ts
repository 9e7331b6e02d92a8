/**
 * `JSON.stringify` for values of any depth: it calls itself for each level, and a client may send more levels than the
 * stack has room for.
 */
export function compactJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return deepJson(value)
    throw error
  }
}

/** Something left to write: a value, or text as it is. */
type Rest = { readonly value: unknown } | string

/** For what `JSON.parse` returned: plain values without cycles. */
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
      // In reverse: what is pushed last is written next.
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
