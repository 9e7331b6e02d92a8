/** Whether a text has more brackets open at a time than that, be they in quotes: whoever walks such JSON needs the stack. */
export function isDeeper(json: string, levels: number): boolean {
  const brackets = /[[\]{}]/g
  let depth = 0
  for (let found = brackets.exec(json); found !== null; found = brackets.exec(json)) {
    depth += found[0] === '[' || found[0] === '{' ? 1 : -1
    if (depth > levels) return true
  }
  return false
}
