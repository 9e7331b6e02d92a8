/**
 * Rewrites runs of characters, each of which begins after a head and ends before the first one that cannot belong to it.
 * Searching for that char costs no stack, as a repeated class does in a pattern, and every char is looked at once.
 * @param head global, bounded
 * @param behind global, one char
 * @param rewrite returns the replacement of the run, `undefined` to keep it
 * @param wanted whether a run is looked at; without it, reading continues after the head
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
    // Set again: the rewriter may have used the same patterns.
    head.lastIndex = Math.max(to, found.index + 1)
  }
  head.lastIndex = 0
  return copied === 0 ? given : out + given.slice(copied)
}

/** Position of the first character that does not belong to a run. */
export function endOfRun(given: string, from: number, behind: RegExp): number {
  behind.lastIndex = from
  return behind.exec(given)?.index ?? given.length
}
