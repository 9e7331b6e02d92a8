import type { FaultRule } from '../../../../src/faults/fault.js'

/** Formats fault rules as code for a test. Rules are plain data, so the code needs no imports. */
export function rulesLiteral(rules: readonly FaultRule[]): string {
  return rules.length === 0 ? '[]' : `[\n${rules.map((rule) => `  ${literal(rule)},`).join('\n')}\n]`
}

export function literal(value: unknown): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  const fields = Object.entries(value).map(
    ([name, item]) => `${/^[\w$]+$/.test(name) ? name : literal(name)}: ${literal(item)}`,
  )
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}
