/**
 * Rewrites runs of characters. A run begins after a match of `head` and ends before the next match of `behind`.
 * Searching for the end of a run uses no stack and reads each character once. A repeated character class in a pattern
 * would use stack.
 * @param head the global pattern of bounded length, matches the text before a run
 * @param behind the global pattern, matches one character that cannot belong to a run
 * @param rewrite returns the replacement of the run, or `undefined` to keep it
 * @param wanted returns whether to examine a run. If not, reading continues after the head.
 */
export function rewriteRuns(
  given: string,
  head: RegExp,
  behind: RegExp,
  rewrite: (run: string, head: RegExpExecArray) => string | undefined,
  wanted: (head: RegExpExecArray) => boolean = () => true,
): string {
  let out = ''
  let copied = 0
  head.lastIndex = 0
  for (let found = head.exec(given); found !== null; found = head.exec(given)) {
    if (!wanted(found)) continue
    const from = found.index + found[0].length
    const to = endOfRun(given, from, behind)
    const rewritten = rewrite(given.slice(from, to), found)
    if (rewritten !== undefined) {
      out += given.slice(copied, from) + rewritten
      copied = to
    }
    // `rewrite()` may have used the same pattern and changed its `lastIndex`.
    head.lastIndex = Math.max(to, found.index + 1)
  }
  head.lastIndex = 0
  return copied === 0 ? given : out + given.slice(copied)
}

/** Returns the position of the first character that does not belong to a run. */
export function endOfRun(given: string, from: number, behind: RegExp): number {
  behind.lastIndex = from
  return behind.exec(given)?.index ?? given.length
}
