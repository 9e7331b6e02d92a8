import { utf8 } from '../../kernel/bytes.js'

// Converts captured text to a literal of the language into which it is pasted. Unprintable characters are escaped,
// because a terminal, editor or page could interpret them.

/**
 * Matches C0 and C1 controls, line separators, direction marks, invisible characters, tags, and unpaired surrogates.
 */
const odd =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu

/** Matches texts that need no quotes in bash. */
const bare = /^[A-Za-z0-9_./:,@%+][A-Za-z0-9_./:,@%+=-]*$/

/**
 * Returns a text as one argument of bash. Bytes that are not valid text are escaped.
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

/**
 * Returns a value as JSON that is also valid JavaScript, YAML and HTML. Characters that have a meaning in one of these
 * languages are escaped.
 */
export function jsonLiteral(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent)
    .replace(odd, escaped)
    .replace(/<(?=[/!])/g, '\\u003c')
}

/**
 * Escapes one character. A line break is kept, because it comes from the indentation. Line breaks inside texts are
 * already escaped.
 */
function escaped(char: string): string {
  if (char === '\n') return char
  return char
    .split('')
    .map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
    .join('')
}

/** A JavaScript expression. It becomes part of a literal without quotes. */
export class CodeExpression {
  constructor(readonly text: string) {}
}

/**
 * Returns a value as a JavaScript literal. Field names have quotes only if necessary, and a short value is on one line.
 * The name `__proto__` is written so that it creates an ordinary field.
 * @param indent number of spaces before the line on which the literal begins
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

/** Returns a JavaScript string literal in single or double quotes, whichever needs fewer escapes. */
function jsText(text: string): string {
  const literal = jsonLiteral(text)
  return /['\\]/.test(text) ? literal : `'${literal.slice(1, -1).replaceAll('\\"', '"')}'`
}

function fieldName(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : jsText(name)
}
