import type { FaultRule } from '../../../../src/faults/fault.js'

/** Rules as one would write them in a test. They are plain data, so nothing has to be imported for them. */
export function rulesLiteral(rules: readonly FaultRule[]): string {
  return rules.length === 0 ? '[]' : `[\n${rules.map((rule) => `  ${literal(rule)},`).join('\n')}\n]`
}

/** A plain value as one would write it in a test. */
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
