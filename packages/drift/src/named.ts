import { type ComparedSystem, type KnownDifference, namedDifference } from '../../../src/store/differences.js'
import type { Observation } from './case.js'

/** Returns the row of the reference that names the difference between two responses, if there is one. */
export function nameOf(double: Observation, real: Observation, other: ComparedSystem): KnownDifference | undefined {
  return namedDifference({ argv: double.argv ?? [], double: replyOf(double), other: replyOf(real) }, other)
}

/** Returns the reply in a response: its result, or its error. */
function replyOf({ value }: Observation): unknown {
  const { result } = (value ?? {}) as { result?: unknown }
  return result === undefined ? value : result
}
