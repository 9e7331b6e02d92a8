import { type Bytes, isUtf8, text, toBase64, utf8 } from '../../../../src/kernel/bytes.js'
import type { PortableString } from '../../../../src/kernel/portable.js'
import type { ControlReply } from './control-values.js'

// Console of the store. It parses typed commands, and formats replies like redis-cli.

/** Description of a command in the command reference. */
export interface CommandHelp {
  readonly name: string
  readonly usage: string
  readonly summary?: string
  readonly group: string
  readonly flags: readonly string[]
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\u0007' }
const inDouble = /\\x([\da-f]{2})|\\(.)|([^"\\]+)/giy
const inSingle = /\\'|[^']/gy

/**
 * Splits a line into arguments, which can be quoted. Escapes in quotes are those of redis-cli: `"\xff\n"` and
 * `'it\'s'`.
 * @returns `undefined` if a closing quote is missing, or if other text directly follows it
 */
export function wordsOf(line: string): readonly PortableString[] | undefined {
  const words: Bytes[] = []
  let at = 0
  for (;;) {
    while (/\s/.test(line[at] ?? '')) at++
    if (at >= line.length) return words.map(portable)
    let word = ''
    while (at < line.length && !/\s/.test(line[at]!)) {
      const quote = line[at]!
      if (quote !== '"' && quote !== "'") {
        const char = String.fromCodePoint(line.codePointAt(at)!)
        word += utf8(char)
        at += char.length
        continue
      }
      const quoted = quote === '"' ? doubleQuoted(line, at + 1) : singleQuoted(line, at + 1)
      if (quoted === undefined || !/^(?:\s|$)/.test(line.slice(quoted.end))) return undefined
      word += quoted.bytes
      at = quoted.end
    }
    words.push(word as Bytes)
  }
}

interface Quoted {
  readonly bytes: string
  /** Index after the closing quote. */
  readonly end: number
}

function doubleQuoted(line: string, start: number): Quoted | undefined {
  let bytes = ''
  inDouble.lastIndex = start
  let end = start
  for (let match = inDouble.exec(line); match !== null; match = inDouble.exec(line)) {
    const [, hex, escaped, plain] = match
    if (hex !== undefined) bytes += String.fromCharCode(Number.parseInt(hex, 16))
    else bytes += utf8(plain ?? escapes[escaped!] ?? escaped!)
    end = inDouble.lastIndex
  }
  return line[end] === '"' ? { bytes, end: end + 1 } : undefined
}

function singleQuoted(line: string, start: number): Quoted | undefined {
  let plain = ''
  inSingle.lastIndex = start
  let end = start
  for (let match = inSingle.exec(line); match !== null; match = inSingle.exec(line)) {
    plain += match[0] === "\\'" ? "'" : match[0]
    end = inSingle.lastIndex
  }
  return line[end] === "'" ? { bytes: utf8(plain), end: end + 1 } : undefined
}

function portable(bytes: Bytes): PortableString {
  return isUtf8(bytes) ? text(bytes) : { base64: toBase64(bytes) }
}

/** Commands whose reply is a text without quotes, and the pattern of that reply. */
const bareAnswers: Readonly<Record<string, RegExp>> = { TYPE: /./s, PING: /^PONG$/ }

/** Returns whether a reply is a status, such as `OK`, and not a value. In the wire format both are texts. */
export function isStatus(
  reply: ControlReply,
  [name = '', ...rest]: readonly PortableString[],
  row?: CommandHelp,
): boolean {
  if (typeof reply !== 'string') return false
  const bare = bareAnswers[String(name).toUpperCase()]
  if (bare !== undefined) return rest.length === (bare === bareAnswers.PING ? 0 : 1) && bare.test(reply)
  return reply === 'OK' && !(row?.flags.includes('read') ?? false)
}

export function replyText(reply: ControlReply, isBare = false, indent = ''): string {
  if (reply === null) return '(nil)'
  if (typeof reply === 'number') return `(integer) ${reply}`
  if (typeof reply === 'string') return isBare ? reply : quoted(utf8(reply))
  if (!Array.isArray(reply)) return `(integer) ${(reply as { integer: string }).integer}`
  if (reply.length === 0) return '(empty array)'
  const width = String(reply.length).length
  const deeper = indent + ' '.repeat(width + 2)
  const rows = (reply as readonly ControlReply[]).map(
    (item, at) => `${String(at + 1).padStart(width)}) ${replyText(item, false, deeper)}`,
  )
  return rows.join(`\n${indent}`)
}

const shownBytes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\u0007': '\\a',
}

function quoted(bytes: string): string {
  const shown = bytes.replace(/["\\]|[^ -~]/g, (byte) => {
    return shownBytes[byte] ?? `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return `"${shown}"`
}

/**
 * Returns the description of the command at the beginning of a line. Some names have two parts, so the longest matching
 * name is used.
 */
export function rowOf(rows: readonly CommandHelp[], line: string): CommandHelp | undefined {
  const upper = `${line.trim().toUpperCase().replace(/\s+/g, ' ')} `
  let found: CommandHelp | undefined
  for (const row of rows)
    if (upper.startsWith(`${row.name} `) && row.name.length > (found?.name.length ?? 0)) found = row
  return found
}

/** Returns commands whose name begins with the typed line. @param most maximum number of commands */
export function completions(rows: readonly CommandHelp[], line: string, most = 8): readonly CommandHelp[] {
  const upper = line.trimStart().toUpperCase().replace(/\s+/g, ' ')
  if (upper === '') return []
  return rows.filter(({ name }) => name.startsWith(upper) && name !== upper).slice(0, most)
}
