import { parsedJson } from '../kernel/parsed-json.js'
import type { ReportedFailure } from './failure.js'
import { withoutTimeline } from './failure-text.js'
import { toHtml } from './html.js'

interface FailedTest {
  readonly title: string
  /** Trace of the test as JSON. It may also contain the field `failure`. */
  readonly trace: string
  /** Failure message, with or without terminal colors. */
  readonly message: string | undefined
}

/** Returns the HTML page of a failed test, which opens at the failed assertion. */
export function pageOfFailure({ title, trace, message }: FailedTest): string {
  if (message === undefined) return toHtml(trace, { title })
  const { nearest, replay } = failureIn(trace)
  const failure = {
    message: withoutTimeline(message, replay),
    ...(nearest !== undefined && { nearest }),
  }
  return toHtml(trace, { title, failure })
}

/** Returns the failure that a failed test has stored in its trace. */
export function failureIn(trace: string): ReportedFailure {
  const { failure } = (parsedJson(trace) ?? {}) as { failure?: ReportedFailure }
  return failure ?? {}
}
