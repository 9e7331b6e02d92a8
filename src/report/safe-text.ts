import { type Bytes, isUtf8, text, utf8 } from '../kernel/bytes.js'

// Everything captured is untrusted: it may hold terminal escapes, line breaks that forge lines of a report, marks that
// reverse the reading direction, or the syntax of the format it is printed in.

/** C0 and C1 controls, line and paragraph separators, direction marks, invisible joiners, tags, lone surrogates. */
const unsafe =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A text that can be printed on one line: whatever a terminal would obey is spelled out (`\n`, `\x1b`, `\u202e`). */
export function plainText(given: string): string {
  return given.replace(unsafe, spelled)
}

/** A text that can be printed on several lines: line breaks and tabs stay. */
export function multiLine(given: string): string {
  return given.replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : spelled(char)))
}

/**
 * A text for a terminal or the log of a CI: as `multiLine`, and no line of it is a command to the CI. GitHub obeys `::` at
 * the beginning of a line and `##[` anywhere, Azure `##vso[`, TeamCity `##teamcity[`.
 */
export function consoleText(given: string): string {
  return multiLine(given)
    .replace(/^([^\S\n]*):(?=:)/gm, '$1\\x3a')
    .replace(/#(?=#(?:vso|teamcity)?\[)/gi, '\\x23')
}

/** A value as JSON that can be printed: what a terminal would obey is escaped as JSON has it. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(unsafe, (char) =>
    char === '\n'
      ? char
      : char
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
  )
}

/** A text without the colours of a terminal, as runners and assertions write them. */
export function withoutColours(given: string): string {
  return given.replace(/\x1b\[[\d;]*m/g, '')
}

function spelled(char: string): string {
  const code = char.codePointAt(0)!
  if (named[char] !== undefined) return named[char]
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16)}` : `\\u{${code.toString(16)}}`
}

/** At most this many characters of a text, printable; a longer one ends in `…` and its full length. */
export function excerpt(given: string, most: number): string {
  if (given.length <= most) return plainText(given)
  return `${plainText(cut(given, most))}… (${given.length} chars)`
}

/** Characters searched for secrets beyond those shown: a secret is not cut in two. */
const margin = 8192

/** At most this many bytes, as text if they are text; a longer value ends in `…` and its full length. */
export function excerptBytes(bytes: Bytes, most: number, redact: (given: string) => string = same): string {
  if (!readable(bytes)) return `${bytes.length} bytes that are not text`
  if (bytes.length <= most) return plainText(redact(text(bytes)))
  const start = redact(text(bytes.slice(0, most + margin) as Bytes))
  // The hidden part may have been all that was too long.
  if (bytes.length <= most + margin && start.length <= most) return plainText(start)
  return `${plainText(cut(start, most))}… (${bytes.length} bytes)`
}

function same(given: string): string {
  return given
}

/** Whether bytes are worth showing as text: valid UTF-8 without a zero byte. */
function readable(bytes: Bytes): boolean {
  return isUtf8(bytes) && !bytes.includes('\0')
}

/** A word as a person would type it: bare when that is unambiguous, else in the quotes that need less escaping. */
export function quoted(given: string, most: number, redact: (given: string) => string = same): string {
  const isLong = given.length > most
  const safe = redact(given.length > most + margin ? given.slice(0, most + margin) : given)
  if (safe !== '' && !isLong && /^[^\s"'\\]+$/.test(safe) && plainText(safe) === safe) return safe
  const shown = isLong ? cut(safe, most) : safe
  const mark = shown.includes('"') && !shown.includes("'") ? "'" : '"'
  const body = plainText(shown.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`))
  return isLong ? `${mark}${body}…${mark} (${utf8(given).length} bytes)` : mark + body + mark
}

/** The first chars of a text, never half of a surrogate pair. */
function cut(given: string, most: number): string {
  if (given.length <= most) return given
  const code = given.charCodeAt(most - 1)
  return given.slice(0, code >= 0xd800 && code < 0xdc00 ? most - 1 : most)
}
