import { type Bytes, latin1, utf8 } from '../../../src/kernel/bytes.js'

// Parses the commands of the contract. Arguments are written as in a shell. Each side replaces the placeholders with
// its own values.

/** Values of the placeholders. */
export interface Filling {
  readonly prefix: string
  /** Current time, in milliseconds since the epoch. */
  readonly now: number
  /** Replies that earlier rows kept, by name. */
  readonly kept: ReadonlyMap<string, string>
}

const word = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|((?!["'])\S+))(?=\s|$)/gsy

/**
 * Parses a command. An argument is bare, quoted or raw: `bare`, `"with \n, \r, \t, \0, \xNN and \" escapes"`, or
 * `'raw'`. A bare argument that begins with `@` is a name of the case: the prefix of the run replaces the `@`. In every
 * argument `{p}` is the prefix, `{now+5}` is a time in seconds, `{ms-5000}` is a time in milliseconds, `{x*300}` is `x`
 * 300 times, and any other `{name}` is the reply of an earlier row.
 */
export function wordsOf(line: string, filling: Filling): Bytes[] {
  const words: Bytes[] = []
  let end = 0
  word.lastIndex = 0
  for (let match = word.exec(line); match !== null; match = word.exec(line)) {
    const [, quoted, raw, bare] = match
    const named = bare?.startsWith('@') ? `{p}${bare.slice(1)}` : (raw ?? bare)
    words.push(latin1(filled(quoted === undefined ? utf8(named!) : withoutEscapes(quoted), filling)))
    end = word.lastIndex
  }
  if (line.slice(end).trim() !== '') throw new Error(`cannot split: ${line.slice(end)}`)
  return words
}

function withoutEscapes(quoted: string): string {
  return utf8(quoted).replace(/\\(?:x([0-9a-fA-F]{2})|(.))/gs, (_, hex: string | undefined, char: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    return { n: '\n', r: '\r', t: '\t', 0: '\0' }[char] ?? char
  })
}

/** Replaces all placeholders in a text. Other braces stay unchanged, for example in JSON and in scripts. */
export function filled(text: string, { prefix, now, kept }: Filling): string {
  return text
    .replaceAll('{p}', prefix)
    .replace(/\{([^{}]+)\*(\d+)\}/g, (_, part: string, times: string) => part.repeat(Number(times)))
    .replace(/\{(now|ms)([+-]\d+)?\}/g, (_, unit: string, offset = '0') =>
      String((unit === 'ms' ? now : Math.floor(now / 1000)) + Number(offset)),
    )
    .replace(/\{([a-z]+)\}/g, (whole, name: string) => kept.get(name) ?? whole)
}
