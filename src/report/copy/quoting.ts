import { utf8 } from '../../kernel/bytes.js'

// A captured text as a literal of the language that it is pasted into. What is not plainly printable is written as the
// codes of its characters, so that neither a terminal, an editor nor a page obeys it either.

/** C0 and C1 controls, separators of lines, direction marks, invisible characters, tags, surrogates without a partner. */
const odd =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu

/** Words of bash that need no quotes. */
const bare = /^[A-Za-z0-9_./:,@%+][A-Za-z0-9_./:,@%+=-]*$/

/**
 * A text as one word of bash; what is no text, as the bytes that it is.
 * @param given a text, or bytes with `isBytes`
 */
export function bashWord(given: string, isBytes = false): string {
  if (!isBytes && bare.test(given)) return given
  const plain = !given.includes("'") && (isBytes ? /^[\x20-\x7e]*$/.test(given) : given.search(odd) < 0)
  if (plain) return `'${given}'`
  const marks = given.replace(/[\\'!]/g, (char) => `\\x${hex(char.charCodeAt(0), 2)}`)
  if (isBytes) return `$'${marks.replace(/[^\x20-\x7e]/g, asBytes)}'`
  return `$'${marks.replace(odd, (char) => asBytes(utf8(char)))}'`
}

function asBytes(bytes: string): string {
  return [...bytes].map((byte) => `\\x${hex(byte.charCodeAt(0), 2)}`).join('')
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

/** A value as JSON that is a literal of JavaScript, YAML and a page as well: no character in it means anything to them. */
export function jsonLiteral(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent)
    .replace(odd, escaped)
    .replace(/<(?=[/!])/g, '\\u003c')
}

/** Breaks of lines are those of the indentation: the ones of texts are escaped already. */
function escaped(char: string): string {
  if (char === '\n') return char
  return char
    .split('')
    .map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
    .join('')
}

/** An expression of JavaScript, to stand in a literal as it is. */
export class CodeExpression {
  constructor(readonly text: string) {}
}

/**
 * A value as JavaScript: names bare where they can be, on one line where it is short. `__proto__` is a name like any other.
 * @param indent spaces in front of the line that it begins on
 */
export function jsLiteral(value: unknown, indent = 0): string {
  if (value instanceof CodeExpression) return value.text
  if (typeof value === 'string') return jsText(value)
  if (typeof value !== 'object' || value === null) return value === undefined ? 'undefined' : jsonLiteral(value)
  const inner = indent + 2
  const items = Array.isArray(value)
    ? value.map((item) => jsLiteral(item, inner))
    : Object.entries(value)
        .filter(([, field]) => field !== undefined)
        .map(([name, field]) => `${fieldName(name)}: ${jsLiteral(field, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }']
  if (items.length === 0) return open.trim() + close.trim()
  const line = open + items.join(', ') + close
  if (line.length + indent <= 110 && !line.includes('\n')) return line
  const pad = ' '.repeat(inner)
  return `${open.trim()}\n${items.map((item) => `${pad}${item},\n`).join('')}${' '.repeat(indent)}${close.trim()}`
}

/** In the quotes that need less escaping. */
function jsText(text: string): string {
  const literal = jsonLiteral(text)
  return /['\\]/.test(text) ? literal : `'${literal.slice(1, -1).replaceAll('\\"', '"')}'`
}

function fieldName(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : jsText(name)
}
