import { plainText } from '../src/report/safe-text.js'
import { CutText, isPlainObject, literal } from './literal.js'

/** Maximum length of two literals that are printed on the same line. */
const short = 60
/** Maximum number of lines of each text for which a diff is computed. */
const maxCompared = 400
/** Maximum number of characters of a text for which a diff of lines is computed. */
const maxChars = 100_000
const maxItems = 200
const context = 2
const maxLines = 30
const widest = 120

/**
 * Returns a diff of two long texts, lists or objects, line by line. Lines with `-` are expected, lines with `+` are
 * received. Returns `undefined` if both values fit on one line or cannot be split into lines.
 */
export function differingLines(expected: unknown, received: unknown): readonly string[] | undefined {
  if (isLong(expected) || isLong(received)) return differingPart(expected, received)
  const [wanted, found] = [linesOf(expected), linesOf(received)]
  if (wanted === undefined || found === undefined) return undefined
  if (wanted.length <= 1 && found.length <= 1) return differingPart(expected, received)
  const lines = diffLines(wanted, found)
  const marks = new Set(lines.map(([mark]) => mark))
  // A diff is useful only if some lines are equal and some differ.
  return marks.size > 1 && marks.has(' ') ? shownLines(lines) : undefined
}

function isLong(value: unknown): boolean {
  return value instanceof CutText || (typeof value === 'string' && value.length > maxChars)
}

function linesOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.length <= short && !value.includes('\n') ? [value] : value.split('\n')
  if (!Array.isArray(value) && !isPlainObject(value)) return undefined
  return literal(value).length <= short ? [literal(value)] : layout(value, '')
}

/** Formats a list or an object with one item per line. */
function layout(value: unknown, indent: string, lead = '', depth = 0): string[] {
  const isList = Array.isArray(value)
  if ((!isList && !isPlainObject(value)) || depth > 6 || literal(value).length <= short - indent.length) {
    return [`${indent}${lead}${literal(value)}`]
  }
  const inner = isList
    ? value.slice(0, maxItems).flatMap((item) => layout(item, `${indent}  `, '', depth + 1))
    : Object.entries(value)
        .slice(0, maxItems)
        .flatMap(([name, item]) => layout(item, `${indent}  `, fieldLead(name), depth + 1))
  return [`${indent}${lead}${isList ? '[' : '{'}`, ...inner, `${indent}${isList ? ']' : '}'}`]
}

function fieldLead(name: string): string {
  return `${/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : literal(name)}: `
}

/** Returns the first difference between two long lines, with the characters around it. */
function differingPart(expected: unknown, received: unknown): readonly string[] | undefined {
  if (!isText(expected) || !isText(received)) return undefined
  if (expected.length <= short && received.length <= short) return undefined
  const [wanted, found] = [startOf(expected), startOf(received)]
  const [start] = commonEnds(wanted, found)
  const lengths = `of ${expected.length} expected and ${received.length} received characters`
  const isCut = expected instanceof CutText || received instanceof CutText
  if (isCut && start === Math.min(wanted.length, found.length))
    return [`  after the first ${start} characters, ${lengths}`]
  const from = Math.max(0, start - 20)
  const part = (side: string, length: number): string =>
    `${from > 0 ? '…' : ''}${side.slice(from, from + short)}${length > from + short ? '…' : ''}`
  return [
    `  at character ${start}, ${lengths}:`,
    `- ${plainText(part(wanted, expected.length))}`,
    `+ ${plainText(part(found, received.length))}`,
  ]
}

function isText(value: unknown): value is string | CutText {
  return typeof value === 'string' || value instanceof CutText
}

function startOf(text: string | CutText): string {
  return typeof text === 'string' ? text : text.start
}

/**
 * Returns how many characters two texts have in common at their start and at their end. The two parts do not overlap.
 */
export function commonEnds(one: string, other: string): [start: number, end: number] {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start++
  const left = shorter - start
  let end = 0
  while (end < left && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end)) end++
  return [start, end]
}

type Line = readonly [mark: ' ' | '-' | '+', text: string]

/**
 * Returns the shortest diff. Equal lines at both ends are kept, and the lines between them are compared by their
 * longest common subsequence.
 */
export function diffLines(wanted: readonly string[], found: readonly string[]): Line[] {
  let start = 0
  while (start < wanted.length && start < found.length && wanted[start] === found[start]) start++
  let end = 0
  while (
    end < wanted.length - start &&
    end < found.length - start &&
    wanted[wanted.length - 1 - end] === found[found.length - 1 - end]
  ) {
    end++
  }
  return [
    ...wanted.slice(0, start).map((line): Line => [' ', line]),
    ...between(wanted.slice(start, wanted.length - end), found.slice(start, found.length - end)),
    ...wanted.slice(wanted.length - end).map((line): Line => [' ', line]),
  ]
}

function between(wanted: readonly string[], found: readonly string[]): Line[] {
  // Comparing very many lines takes too long. Then list all expected lines first, and all received lines after them.
  if (wanted.length > maxCompared || found.length > maxCompared) {
    return [...wanted.map((line): Line => ['-', line]), ...found.map((line): Line => ['+', line])]
  }
  const common = commonLengths(wanted, found)
  const lines: Line[] = []
  let [at, to] = [0, 0]
  while (at < wanted.length || to < found.length) {
    if (at < wanted.length && to < found.length && wanted[at] === found[to]) {
      lines.push([' ', wanted[at++]!])
      to++
    } else if (to === found.length || (at < wanted.length && common[at + 1]![to]! >= common[at]![to + 1]!)) {
      lines.push(['-', wanted[at++]!])
    } else lines.push(['+', found[to++]!])
  }
  return lines
}

/**
 * Returns a table for the diff. For each pair of positions, it has the length of the longest common subsequence of the
 * lines after these positions.
 */
function commonLengths(wanted: readonly string[], found: readonly string[]): Uint16Array[] {
  const lengths = Array.from({ length: wanted.length + 1 }, () => new Uint16Array(found.length + 1))
  for (let at = wanted.length - 1; at >= 0; at--) {
    for (let to = found.length - 1; to >= 0; to--) {
      lengths[at]![to] =
        wanted[at] === found[to]
          ? lengths[at + 1]![to + 1]! + 1
          : Math.max(lengths[at + 1]![to]!, lengths[at]![to + 1]!)
    }
  }
  return lengths
}

/** Returns the changed lines, with two unchanged lines around them. Each line is shortened to the maximum width. */
function shownLines(lines: readonly Line[]): string[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(([mark]) => mark !== ' '),
  )
  const shown: string[] = []
  lines.forEach(([mark, text], index) => {
    if (near[index])
      shown.push(`${mark} ${plainText(text.length > widest ? `${text.slice(0, widest)}…` : text)}`.trimEnd())
    else if (index === 0 || near[index - 1]) shown.push('  …')
  })
  if (shown.length <= maxLines) return shown
  return [...shown.slice(0, maxLines), `  … ${shown.length - maxLines} more lines`]
}
