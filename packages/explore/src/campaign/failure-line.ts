import { standardRedaction } from '../../../../src/report/redaction.js'
import { excerpt } from '../../../../src/report/safe-text.js'

const longest = 300

/** Returns why a run fails, in one line without secrets. */
export function lineOf(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error).trim()
  const [line = ''] = standardRedaction.text(text).split('\n')
  return excerpt(line, longest)
}
