import { parsedJson } from '../kernel/parsed-json.js'
import { withoutTimeline } from './failure-text.js'
import { toHtml } from './html.js'

interface FailedTest {
  readonly title: string
  /** What the test left: its trace as JSON, perhaps with the `nearest` entry and what it takes to `replay`. */
  readonly trace: string
  /** What it failed with, in colours or without. */
  readonly message: string | undefined
}

/** The page of a failed test, which opens on its assertion. */
export function pageOfFailure({ title, trace, message }: FailedTest): string {
  if (message === undefined) return toHtml(trace, { title })
  const { nearest, replay } = (parsedJson(trace) ?? {}) as { nearest?: unknown; replay?: unknown }
  const failure = {
    message: withoutTimeline(message, typeof replay === 'string' ? replay : undefined),
    ...(typeof nearest === 'number' && { nearest }),
  }
  return toHtml(trace, { title, failure })
}
