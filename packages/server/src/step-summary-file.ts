import { appendFileSync, statSync } from 'node:fs'
import { consoleText } from '../../../src/report/safe-text.js'

/**
 * Maximum number of bytes that GitHub accepts from all summaries of one step. It rejects a larger file as a whole, so
 * some bytes are left for other tools that append later.
 */
const maxBytes = 1024 * 1024
const left = 16 * 1024

/** Returns whether this process runs in GitHub Actions. */
export function isInGitHubActions(): boolean {
  return process.env.GITHUB_ACTIONS === 'true'
}

/**
 * Appends a summary to the file of the current step. Outside of GitHub Actions, writes nothing. If the file cannot be
 * written, prints one line, because the result of the tests must not depend on their summary.
 * @param render returns a summary of at most `room` bytes in UTF-8; `undefined` if the room is too small
 */
export function appendStepSummary(render: (room: number) => string | undefined): void {
  if (!isInGitHubActions()) return
  const { GITHUB_STEP_SUMMARY: file } = process.env
  try {
    if (file === undefined || file === '') throw new Error('GITHUB_STEP_SUMMARY is not set')
    const summary = render(maxBytes - left - bytesOf(file))
    if (summary === undefined) throw new Error(`${file} has no room for it`)
    appendFileSync(file, summary)
  } catch (error) {
    console.error(consoleText(`stuntdouble wrote no step summary: ${error instanceof Error ? error.message : error}.`))
  }
}

/** Returns the size of the file, which may not exist yet. @throws Error if writing to it could block */
function bytesOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return 0
  if (!found.isFile()) throw new Error(`${file} is not a file`)
  return found.size
}
