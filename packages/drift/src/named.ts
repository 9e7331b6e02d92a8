import { type ComparedSystem, type KnownDifference, namedDifference } from '../../../src/store/differences.js'
import type { Observation } from './case.js'

/** Returns the known difference that explains why two responses differ, or `undefined`. */
export function nameOf(double: Observation, real: Observation, other: ComparedSystem): KnownDifference | undefined {
  return namedDifference({ argv: double.argv ?? [], double: replyOf(double), other: replyOf(real) }, other)
}

/** Returns the reply of a command from a response: its result or its error. */
function replyOf({ value }: Observation): unknown {
  const { result } = (value ?? {}) as { result?: unknown }
  return result === undefined ? value : result
}
