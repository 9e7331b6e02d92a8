/**
 * Parses transcripts: commands whose replies were recorded from a real redis-server, and that the store must reply to
 * equally in every test run. One command per line, with arguments as in a shell:
 *
 *     # a remark
 *     ZADD z 1 a 2 "b c" '\raw' "\xff"
 *     ~unordered SMEMBERS s
 *     @advance 1500
 *     ZRANK z a WITHSCORE
 *       = [0, "1"] because store.md 7.2
 *
 * - `~flags` before a command (comma separated) say how loosely its reply is compared, see `Looseness`.
 * - `@advance ms` lets time pass: virtual for us, a real wait for the live server.
 * - `{now+5}`, `{now-5}` and `{ms+5000}` inside a word are the time in seconds or milliseconds.
 * - `{x*300}` inside a word is `x` 300 times.
 * - `= reply because reason` gives our reply where it differs from the server's on purpose. Replies are written
 *   `12`, `"bulk"`, `+status`, `-ERR text`, `nil`, `nilarray`, `[1, "a", nil]`.
 */
import type { RespReply } from './resp.js'

/**
 * `unordered`: the array is a multiset; `pairs`: a multiset of pairs; `scan`, `scanpairs`: the same for the second element
 * of a scan page; `shape`: only kinds and lengths count, for chance; `near`: integers may differ by 50, for times;
 * `times`: the same for the times within what streams tell about groups; `failure`: what the service adds to the error
 * of a script, its traceback and the column, is left out.
 */
export type Looseness = 'unordered' | 'pairs' | 'scan' | 'scanpairs' | 'shape' | 'near' | 'times' | 'failure'

const knownFlags: ReadonlySet<string> = new Set(['unordered', 'pairs', 'scan', 'scanpairs', 'shape', 'near', 'times'])

export interface Step {
  /** Source line. A transcript must contain the same line. */
  readonly text: string
  readonly argv: readonly string[]
  readonly loose: ReadonlySet<Looseness>
  /** Milliseconds to let pass instead of a command. */
  readonly advance?: number
  /** Reply of the double if it differs from the server's, and the reason. */
  readonly ours?: { readonly reply: RespReply; readonly because: string }
}

/** Rows that begin with an empty store. */
export interface Section {
  readonly title: string
  /** Source of the expected replies if no real server supports these commands. */
  readonly source?: string
  readonly steps: readonly Step[]
}

/** Declares rows that a real server supports. */
export function section(title: string, rows: string): Section {
  return { title, steps: parseRows(title, rows) }
}

/** Rows that redis-server 7.0 does not know: each has its expected reply beneath, from the given source. */
export function newerSection(title: string, source: string, rows: string): Section {
  const steps = parseRows(title, rows)
  const bare = steps.find((step) => step.advance === undefined && step.ours === undefined)
  if (bare) throw new Error(`${title}: "${bare.text}" has no expected reply`)
  return { title, source, steps }
}

function parseRows(title: string, rows: string): Step[] {
  const steps: Step[] = []
  for (const line of rows.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const expectation = /^= ?(.*)$/s.exec(line)
    if (!expectation) {
      steps.push(parseStep(line))
      continue
    }
    const last = steps.pop()
    if (!last) throw new Error(`${title}: an expected reply without a command: ${line}`)
    const [reply = '', because = 'see the source of the section'] = splitOnce(expectation[1]!, ' because ')
    steps.push({ ...last, ours: { reply: parseReply(reply.trim()), because } })
  }
  return steps
}

function splitOnce(line: string, separator: string): string[] {
  const at = line.lastIndexOf(separator)
  return at < 0 ? [line] : [line.slice(0, at), line.slice(at + separator.length)]
}

function parseStep(line: string): Step {
  const wait = /^@advance (\d+)$/.exec(line)
  if (wait) return { text: line, argv: [], loose: new Set(), advance: Number(wait[1]) }
  const flagged = /^~(\S+) (.*)$/s.exec(line)
  const flags = flagged?.[1]?.split(',') ?? []
  for (const flag of flags) if (!knownFlags.has(flag)) throw new Error(`unknown flag ~${flag}: ${line}`)
  return { text: line, argv: splitWords(flagged?.[2] ?? line), loose: new Set(flags as Looseness[]) }
}

/** Splits arguments like a shell: bare, "with \n, \xNN and \" escapes", or 'raw'. Text beyond ASCII becomes UTF-8. */
export function splitWords(line: string): string[] {
  const words: string[] = []
  const word = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|((?!["'])\S+))(?=\s|$)/gsy
  let end = 0
  for (let match = word.exec(line); match; match = word.exec(line)) {
    const [, quoted, raw, bare] = match
    const text = quoted === undefined ? utf8((raw ?? bare)!) : withoutEscapes(quoted)
    words.push(text.replace(/\{(.*?)\*(\d+)\}/gs, (_, part: string, times: string) => part.repeat(Number(times))))
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

function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Returns the arguments with times filled in. */
export function wordsAt(step: Step, nowMs: number): string[] {
  return step.argv.map((word) =>
    word.replace(/\{(now|ms)([+-]\d+)?\}/g, (_, unit: string, offset = '0') =>
      String((unit === 'ms' ? nowMs : Math.floor(nowMs / 1000)) + Number(offset)),
    ),
  )
}

export function parseReply(text: string): RespReply {
  const { reply, rest } = readReply(text)
  if (rest.trim() !== '') throw new Error(`not understood after a reply: ${rest}`)
  return reply
}

function readReply(text: string): { reply: RespReply; rest: string } {
  const item = text.trimStart()
  if (item.startsWith('-ERR') || /^-[A-Z]{4,}\b/.test(item)) return { reply: { error: item.slice(1) }, rest: '' }
  if (item.startsWith('[')) return readItems(item.slice(1))
  const token = /^(?:"((?:[^"\\]|\\.)*)"|([^\s,\]]+))/s.exec(item)
  if (!token) throw new Error(`not a reply: ${text}`)
  const rest = item.slice(token[0].length)
  const [, quoted, bare = ''] = token
  if (quoted !== undefined) return { reply: { bulk: withoutEscapes(quoted) }, rest }
  if (bare === 'nil') return { reply: { nil: 'bulk' }, rest }
  if (bare === 'nilarray') return { reply: { nil: 'array' }, rest }
  if (/^-?\d+$/.test(bare)) return { reply: { integer: bare }, rest }
  if (bare.startsWith('+')) return { reply: { status: item.slice(1).trim() }, rest: '' }
  throw new Error(`not a reply: ${text}`)
}

function readItems(text: string): { reply: RespReply; rest: string } {
  const array: RespReply[] = []
  let rest = text.trimStart()
  while (!rest.startsWith(']')) {
    const item = readReply(rest)
    array.push(item.reply)
    rest = item.rest.trimStart().replace(/^,/, '').trimStart()
    if (rest === '') throw new Error(`an array is not closed: ${text}`)
  }
  return { reply: { array }, rest: rest.slice(1) }
}

/** The notation of `parseReply`, for messages. */
export function showReply(reply: RespReply): string {
  if ('error' in reply) return `-${reply.error}`
  if ('status' in reply) return `+${reply.status}`
  if ('integer' in reply) return reply.integer
  if ('nil' in reply) return reply.nil === 'array' ? 'nilarray' : 'nil'
  if ('array' in reply) return `[${reply.array.map(showReply).join(', ')}]`
  const shown = reply.bulk.replace(/["\\]|[^\x20-\x7e]/g, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return `"${shown}"`
}
