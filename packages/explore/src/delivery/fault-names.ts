import type { Fault } from '../../../../src/faults/fault.js'
import { literal } from './rule-literal.js'

/**
 * Returns the name of a fault, which is its kind. If other faults have the same kind, the differing fields follow, as
 * in `signature (flaw: 'expired')`.
 */
export function faultName(fault: Fault, among: readonly Fault[]): string {
  const { kind, ...fields } = fault
  const others = among.filter((other) => other !== fault && other.kind === kind)
  const telling = Object.entries(fields).filter(([name, value]) =>
    others.some((other) => literal((other as Record<string, unknown>)[name]) !== literal(value)),
  )
  if (telling.length === 0) return kind
  return `${kind} (${telling.map(([name, value]) => `${name}: ${literal(value)}`).join(', ')})`
}
