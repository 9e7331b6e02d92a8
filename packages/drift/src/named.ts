import { type ComparedSystem, type KnownDifference, namedDifference } from '../../../src/store/differences.js'
import type { Observation } from './case.js'

/** The row of the reference that names what differs between two answers, if one does. */
export function nameOf(double: Observation, real: Observation, other: ComparedSystem): KnownDifference | undefined {
  return namedDifference({ argv: double.argv ?? [], double: replyOf(double), other: replyOf(real) }, other)
}

/** The reply within an answer: its result, or its error. */
function replyOf({ value }: Observation): unknown {
  const { result } = (value ?? {}) as { result?: unknown }
  return result === undefined ? value : result
}
