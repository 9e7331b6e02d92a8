import { carriedFailure } from '../src/report/failure.js'
import { literal } from './literal.js'
import { type Verdict, verdict } from './verdict.js'

/** What `exploreFaults()` and `exploreInterleavings()` return, as far as the matcher looks at it. */
interface Tried {
  readonly holds: boolean
  /** All outcomes, a line each. */
  table(): string
  /** What fails, with its timeline. */
  report(): string
}

/** Whatever was tried holds. */
export function holdsEverywhere(received: unknown): Verdict {
  const tried = received as Partial<Tried> | null | undefined
  if (typeof tried?.holds !== 'boolean' || typeof tried.table !== 'function' || typeof tried.report !== 'function') {
    const isPromise = typeof (received as { then?: unknown } | undefined)?.then === 'function'
    throw new TypeError(
      `toHold() takes what exploreFaults() or exploreInterleavings() of stuntdouble/checks returned, got ${isPromise ? 'a promise; await it first' : literal(received)}.`,
    )
  }
  const { holds, table, report } = tried as Tried
  return verdict(holds, (not) =>
    not
      ? {
          call: ['expect(tried).not.toHold()'],
          expected: 'Expected something that does not hold, but:',
          received: table().split('\n'),
        }
      : { call: ['expect(tried).toHold()'], ...(carriedFailure(tried) ?? { received: report().split('\n') }) },
  )
}
