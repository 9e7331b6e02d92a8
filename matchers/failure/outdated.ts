import { fromBefore, readAgain } from '../../src/kernel/replacement.js'
import { type MatcherInput, partOf } from '../received.js'

/**
 * Returns a hint if the value in `expect()` was read before a reset or load of its sandbox. Such a value does not show
 * what happened since.
 */
export function outdatedHint(evidence: MatcherInput): string | undefined {
  const part = partOf(evidence)
  const by = evidence.context.replacement?.by
  if (by === undefined || part === undefined) return undefined
  const noun = evidence.role === 'traffic' ? 'traffic log' : evidence.role
  return `This ${noun} is ${fromBefore(by)}: ${readAgain(part)}`
}
