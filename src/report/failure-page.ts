import { parsedJson } from '../kernel/parsed-json.js'
import { withoutTimeline } from './failure-text.js'
import { toHtml } from './html.js'

interface FailedTest {
  readonly title: string
  /** Trace of the test as JSON. It may also contain the fields `nearest` and `replay`. */
  readonly trace: string
  /** Failure message, with or without terminal colors. */
  readonly message: string | undefined
}

/** Returns the HTML page of a failed test, which opens at the failed assertion. */
export function pageOfFailure({ title, trace, message }: FailedTest): string {
  if (message === undefined) return toHtml(trace, { title })
  const { nearest, replay } = (parsedJson(trace) ?? {}) as { nearest?: unknown; replay?: unknown }
  const failure = {
    message: withoutTimeline(message, typeof replay === 'string' ? replay : undefined),
    ...(typeof nearest === 'number' && { nearest }),
  }
  return toHtml(trace, { title, failure })
}
