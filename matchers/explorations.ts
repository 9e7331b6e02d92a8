import { carriedFailure } from '../src/report/failure.js'
import { literal } from './literal.js'
import { type Verdict, verdict } from './verdict.js'

/** The part of a result of `exploreFaults()` or `exploreInterleavings()` that the matcher reads. */
interface Tried {
  readonly holds: boolean
  /** Returns all outcomes, one per line. */
  table(): string
  /** Returns the failure with its timeline. */
  report(): string
}

/** Checks that the property holds in every explored run. */
export function holdsEverywhere(received: unknown): Verdict {
  const tried = received as Partial<Tried> | null | undefined
  if (typeof tried?.holds !== 'boolean' || typeof tried.table !== 'function' || typeof tried.report !== 'function') {
    const isPromise = typeof (received as { then?: unknown } | undefined)?.then === 'function'
    throw new TypeError(
      `toHold(): expect() must get the result of exploreFaults() or exploreInterleavings() (got ${isPromise ? 'a promise' : literal(received)}). ${isPromise ? 'Await it first.' : 'Import them from stuntdouble/checks.'}`,
    )
  }
  const { holds, table, report } = tried as Tried
  return verdict(holds, (not) =>
    not
      ? {
          call: ['expect(tried).not.toHold()'],
          expected: 'Expected a run in which the property does not hold, but it holds in every run:',
          received: table().split('\n'),
        }
      : { call: ['expect(tried).toHold()'], ...(carriedFailure(tried) ?? { received: report().split('\n') }) },
  )
}
