import { fromBefore, readAgain } from '../../src/kernel/replacement.js'
import type { Queue } from '../../src/queue/direct-queue.js'
import { literal } from '../literal.js'
import type { MatcherInput, Perhaps } from '../received.js'

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

/**
 * Warns once if the value in `expect()` is outdated. An assertion with `.not` may pass only for this reason, and then no
 * failure says so.
 */
export function warnIfOutdated(evidence: MatcherInput): void {
  const part = partOf(evidence)
  if (part !== undefined) evidence.context.replacement?.warnAbout(part, `expect(${part}) got`)
}

/**
 * Returns how a test reads the value in `expect()` from its sandbox, such as `storeIn('us')`. Returns `undefined` for a
 * sandbox, which is never outdated.
 */
function partOf({ role, received, context }: MatcherInput): string | undefined {
  const { database, homeRegion } = context
  if (role === 'sandbox') return undefined
  if (role === 'queue') {
    const { region } = received as Perhaps<Queue, 'region'>
    return region === homeRegion ? role : `queueIn(${literal(region)})`
  }
  if (database === undefined) return role
  return `storeIn(${literal(database)})${role === 'traffic' ? '.traffic' : ''}`
}
