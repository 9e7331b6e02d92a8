import { standardRedaction } from '../../../../src/report/redaction.js'
import { excerpt } from '../../../../src/report/safe-text.js'

const longest = 300

/** Returns the reason of a failure in one line, with secrets redacted. */
export function lineOf(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error).trim()
  const [line = ''] = standardRedaction.text(text).split('\n')
  return excerpt(line, longest)
}
