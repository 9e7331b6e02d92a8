import { parsedJson } from '../kernel/parsed-json.js'
import { toHtml } from './html.js'

interface FailedTest {
  readonly title: string
  /** What the test left: its trace as JSON, perhaps with the `nearest` entry. */
  readonly trace: string
  /** What it failed with, in colours or without. */
  readonly message: string | undefined
}

const colours = /\x1b\[[\d;]*m/g

/** The page of a failed test, which opens on its assertion. */
export function pageOfFailure({ title, trace, message }: FailedTest): string {
  if (message === undefined) return toHtml(trace, { title })
  const { nearest } = (parsedJson(trace) ?? {}) as { nearest?: unknown }
  // The story that follows is what the page shows.
  const [told = ''] = message.replace(colours, '').split(/^Replay: /m)
  const failure = { message: told.trim(), ...(typeof nearest === 'number' && { nearest }) }
  return toHtml(trace, { title, failure })
}
