import { isAscii } from './bytes.js'

/** How a pattern is read. */
export interface WildcardOptions {
  readonly ignoreCase?: boolean
}

/**
 * The test of a pattern in which `*` stands for any characters and everything else for itself. Each part is looked for
 * once, from where the one before ended: nothing is tried twice, and a test costs pattern × text at most. Every pattern
 * of urls is read here; a regular expression of eight stars would try for hours.
 */
export function wildcard(pattern: string, { ignoreCase = false }: WildcardOptions = {}): (text: string) => boolean {
  const fold = ignoreCase ? folded : same
  const [first = '', ...rest] = fold(pattern).split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => fold(text) === first
  const middle = rest.filter((part) => part !== '')
  return (given) => {
    const text = fold(given)
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    const end = text.length - last.length
    for (const part of middle) {
      const found = text.indexOf(part, at)
      if (found === -1 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

function same(text: string): string {
  return text
}

/** Case as a regular expression with `i` ignores it: char by char, and nothing beyond ASCII becomes ASCII. */
function folded(text: string): string {
  if (isAscii(text)) return text.toUpperCase()
  let out = ''
  for (let index = 0; index < text.length; index++) {
    const char = text[index]!
    const upper = char.toUpperCase()
    out += upper.length !== 1 || (char > '\x7f' && upper <= '\x7f') ? char : upper
  }
  return out
}
