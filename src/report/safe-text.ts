import { type Bytes, isUtf8, text, utf8 } from '../kernel/bytes.js'

// Captured text is untrusted. It may contain terminal escapes, line breaks that imitate lines of a report,
// characters that reverse the reading direction, or syntax of the output format.

/**
 * C0 and C1 controls, line and paragraph separators, direction marks, invisible joiners, tags, and lone surrogates.
 */
const unsafe =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Escapes a text so that it is safe to print on one line. Characters with an effect in a terminal are written as `\n`,
 * `\x1b` or `\u202e`.
 */
export function plainText(given: string): string {
  return given.replace(unsafe, spelled)
}

/** Escapes a text like `plainText()`, but keeps line breaks and tabs. It is safe to print on several lines. */
export function multiLine(given: string): string {
  return given.replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : spelled(char)))
}

/**
 * Escapes a text like `multiLine()`, and also escapes commands that CI systems would run when they print the text.
 * GitHub runs commands with `::` at the start of a line or `##[` anywhere, Azure with `##vso[`, and TeamCity with
 * `##teamcity[`.
 */
export function consoleText(given: string): string {
  return multiLine(given)
    .replace(/^([^\S\n]*):(?=:)/gm, '$1\\x3a')
    .replace(/#(?=#(?:vso|teamcity)?\[)/gi, '\\x23')
}

/** Returns a value as printable JSON: characters with an effect in a terminal are escaped as in JSON. */
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

/** Removes terminal colors, which test runners and assertions add. */
export function withoutColors(given: string): string {
  return given.replace(/\x1b\[[\d;]*m/g, '')
}

function spelled(char: string): string {
  const code = char.codePointAt(0)!
  if (named[char] !== undefined) return named[char]
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16)}` : `\\u{${code.toString(16)}}`
}

/**
 * Escapes the first `most` characters of a text. If the text is longer, `…` and its full length follow.
 * @param length length of the full text, if only its start is given
 */
export function excerpt(given: string, most: number, length: number = given.length): string {
  if (length <= most) return plainText(given)
  return `${plainText(cut(given, most))}… (${length} chars)`
}

/**
 * Number of characters after the limit that are also searched for secrets. Otherwise, a secret at the limit would be
 * split and not recognized.
 */
const margin = 8192

/**
 * Returns the first `most` bytes as text. If there are more bytes, `…` and their number follow. For bytes that are not
 * text, returns only their number.
 */
export function excerptBytes(bytes: Bytes, most: number, redact: (given: string) => string = same): string {
  if (!readable(bytes)) return `${bytes.length} bytes that are not text`
  if (bytes.length <= most) return plainText(redact(text(bytes)))
  const start = redact(text(bytes.slice(0, most + margin) as Bytes))
  // After redaction, the text can be shorter and fit completely. Then return it without `…`.
  if (bytes.length <= most + margin && start.length <= most) return plainText(start)
  return `${plainText(cut(start, most))}… (${bytes.length} bytes)`
}

function same(given: string): string {
  return given
}

/** Returns whether bytes can be shown as text: they are valid UTF-8 and contain no zero byte. */
function readable(bytes: Bytes): boolean {
  return isUtf8(bytes) && !bytes.includes('\0')
}

/**
 * Formats an argument as a user would type it: without quotes if possible, and otherwise in the quotes that need fewer
 * escapes.
 * @param bytes number of bytes of the full argument, if only its start is given
 */
export function quoted(
  given: string,
  most: number,
  redact: (given: string) => string = same,
  bytes: number | undefined = undefined,
): string {
  const isLong = given.length > most
  const safe = redact(given.length > most + margin ? given.slice(0, most + margin) : given)
  if (safe !== '' && !isLong && /^[^\s"'\\]+$/.test(safe) && plainText(safe) === safe) return safe
  const shown = isLong ? cut(safe, most) : safe
  const mark = shown.includes('"') && !shown.includes("'") ? "'" : '"'
  const body = plainText(shown.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`))
  return isLong ? `${mark}${body}…${mark} (${bytes ?? utf8(given).length} bytes)` : mark + body + mark
}

/** Cuts a text at a number of characters, but never inside a surrogate pair. */
function cut(given: string, most: number): string {
  if (given.length <= most) return given
  const code = given.charCodeAt(most - 1)
  return given.slice(0, code >= 0xd800 && code < 0xdc00 ? most - 1 : most)
}
