import { type Bytes, text, utf8 } from '../src/kernel/bytes.js'
import { type Duration, formatDuration } from '../src/kernel/duration.js'
import { nearestName } from '../src/kernel/nearest-name.js'
import type { Entry, EntryOf } from '../src/kernel/traffic.js'
import { commandLine, outcomeOfCommand } from '../src/report/describe.js'
import { plainText, quoted } from '../src/report/safe-text.js'
import { compare, Difference } from './compare.js'
import { parseJson, span } from './fields.js'
import { type AsymmetricMatcher, argumentList, isAsymmetric, isPlainObject, literal } from './literal.js'
import { type Candidate, type Compared, checkPattern, missLines } from './near-misses.js'
import { entriesOf, evidenceOf } from './received.js'
import { type KeyReader, keyReaderOf, type StoredValue } from './stored.js'
import { type MatchOptions, replayLine, search, storyText, type Verdict } from './verdict.js'

/** A word of a command: a text, a number, a pattern; an object or a list is compared with the parsed JSON. */
export type Word =
  | string
  | number
  | bigint
  | RegExp
  | AsymmetricMatcher
  | Readonly<Record<string, unknown>>
  | readonly unknown[]

/**
 * Commands that the code under test sent and the store ran, whichever way they came. The pattern may be shorter than
 * the command. Commands of the test itself and those that were answered with an error do not count.
 */
export function executed(received: unknown, ...given: readonly (Word | MatchOptions)[]): Verdict {
  const matcher = 'toHaveExecuted'
  const { words, options } = splitOptions(given)
  const evidence = evidenceOf(matcher, received, 'store')
  if (words.length === 0) {
    throw new TypeError(
      `${matcher}() needs the words of a command, for example ${matcher}('SET', 'key', expect.anything()).`,
    )
  }
  const commands = entriesOf(evidence, 'command')
  return search({
    matcher,
    call: argumentList(given),
    evidence,
    candidates: commands.filter((entry) => entry.via !== 'direct').map((entry) => candidateOf(entry, words)),
    times: options.times,
    noun: ['executed command', 'commands'],
    hints: () => executedHints(commands, words),
    shown: (entry) => entry.type === 'command' || (entry.type === 'request' && entry.service === 'store'),
  })
}

/** A last argument `{ times: n }` is no word. */
function splitOptions(given: readonly (Word | MatchOptions)[]): { words: readonly Word[]; options: MatchOptions } {
  const last = given.at(-1)
  if (isPlainObject(last) && Object.keys(last).length === 1 && typeof last.times === 'number') {
    return { words: given.slice(0, -1) as Word[], options: last as MatchOptions }
  }
  return { words: given as Word[], options: {} }
}

function candidateOf(entry: EntryOf<'command'>, words: readonly Word[]): Candidate {
  const compared: Compared[] = words.map((word, index) => ({
    name: index === 0 ? 'command' : index === 1 ? 'key' : `word ${index + 1}`,
    differences: compareWord(entry.argv[index], word, index),
    // Which command and which key it was can be read off the title.
    inTitle: index < 2 && typeof word === 'string',
  }))
  if (entry.error !== undefined) {
    compared.push({ name: 'reply', differences: [new Difference(undefined, undefined, '', failed(entry.error))] })
  }
  return {
    seq: entry.seq,
    at: entry.at,
    title: () => `${commandLine(entry.argv)} → ${outcomeOfCommand(entry)}`,
    compared,
  }
}

function failed(error: string): { expected: string; received: string; distance: number } {
  return { expected: 'success', received: plainText(error), distance: 0.2 }
}

export function compareWord(word: Bytes | undefined, expected: Word, index: number): readonly Difference[] {
  if (word === undefined) return [new Difference(undefined, expected)]
  const received = text(word)
  if (isAsymmetric(expected)) {
    if (expected.asymmetricMatch(received)) return []
    const parsed = parseJson(received)
    const found = parsed === undefined ? undefined : compare(parsed.value, expected)
    return found?.length === 0 ? [] : [new Difference(received, expected)]
  }
  if (expected instanceof RegExp) return compare(received, expected)
  if (typeof expected === 'object') {
    const parsed = parseJson(received)
    return parsed === undefined ? [new Difference(received, expected)] : compare(parsed.value, expected)
  }
  const wanted = String(expected)
  if (received === wanted) return []
  const sameWord = (index === 0 || isOption(wanted)) && received.toLowerCase() === wanted.toLowerCase()
  return sameWord ? [] : [new Difference(received, wanted)]
}

/**
 * Words of the command language, which clients write in either case. Compared without regard to case wherever they
 * stand behind the command.
 */
const optionWords = new Set(
  `EX PX EXAT PXAT NX XX GT LT CH INCR KEEPTTL GET PERSIST WITHSCORES WITHSCORE WITHVALUES WITHVALUES WITHCOORD
  WITHDIST WITHHASH LIMIT COUNT MATCH TYPE ASC DESC ALPHA BY STORE STOREDIST REV BYSCORE BYLEX BYRADIUS BYBOX
  FROMMEMBER FROMLONLAT LEFT RIGHT BEFORE AFTER WEIGHTS AGGREGATE SUM MIN MAX MAXLEN MINID NOMKSTREAM STREAMS GROUP
  NOACK JUSTID IDLE TIME RETRYCOUNT FORCE CREATE DESTROY MKSTREAM ENTRIESREAD REPLACE ABSTTL FIELDS FNX FXX RANK LEN
  IDX MINMATCHLEN WITHMATCHLEN BIT BYTE AND OR XOR NOT OVERFLOW WRAP SAT FAIL SET INCRBY SYNC ASYNC KM M FT MI`.split(
    /\s+/,
  ),
)

function isOption(word: string): boolean {
  return optionWords.has(word.toUpperCase())
}

function executedHints(commands: readonly EntryOf<'command'>[], words: readonly Word[]): string[] {
  const hints: string[] = []
  const fitting = (entry: EntryOf<'command'>): boolean =>
    words.every((word, index) => compareWord(entry.argv[index], word, index).length === 0)
  const direct = commands.find((entry) => entry.via === 'direct' && fitting(entry))
  if (direct !== undefined) {
    hints.push(
      `#${direct.seq} was run by the test itself, with sandbox.store.run(); only commands of the code under test count.`,
    )
  }
  const [first] = words
  if (words.length === 1 && typeof first === 'string' && first.includes(' ')) {
    const parts = first.split(' ').map((part) => literal(part))
    hints.push(`each word is an argument of its own: toHaveExecuted(${parts.join(', ')}).`)
  }
  return hints
}

/** What a key must hold; all that is given must fit. */
export interface KeyPattern {
  /**
   * A text for strings (an object or list is compared with the parsed JSON); an object for hashes; a list for lists;
   * a `Set` or list for sets; an object of scores for sorted sets; a list of entries for streams.
   */
  readonly value?: unknown
  /** Remaining time: `'1h'`, milliseconds, or `null` for a key that does not expire. */
  readonly ttl?: Duration | null | AsymmetricMatcher
  readonly type?: string | AsymmetricMatcher
}

/** A key that is there now. */
export function hasKey(received: unknown, key: string, pattern: KeyPattern = {}): Verdict {
  const matcher = 'toHaveKey'
  const evidence = evidenceOf(matcher, received, 'store')
  if (typeof key !== 'string') throw new TypeError(`${matcher}() needs the key as a text, got ${literal(key)}.`)
  checkPattern(matcher, pattern, ['value', 'ttl', 'type'], { ttl: 'span' })
  const reader = keyReaderOf(matcher, received)
  const stored = reader.read(utf8(key))
  const compared = stored === undefined ? [] : compareStored(stored, pattern)
  const call = argumentList(Object.keys(pattern).length === 0 ? [key] : [key, pattern])
  return {
    pass: stored !== undefined && compared.every((one) => one.differences.length === 0),
    found: [],
    explain: (not) => {
      const head = `expect(${evidence.role})${not ? '.not' : ''}.${matcher}(${call})`
      const body = stored === undefined ? missingKey(key, reader) : presentKey(key, stored, compared, not, pattern)
      const entries = evidence.entries.filter((entry) => concerns(entry, utf8(key)))
      return [head, '', ...body, replayLine(evidence, entries.at(-1)?.seq), '', keyStory(key, entries)].join('\n')
    },
  }
}

function compareStored(stored: StoredValue, pattern: KeyPattern): Compared[] {
  const compared: Compared[] = []
  if ('value' in pattern) compared.push({ name: 'value', differences: stored.compare(pattern.value) })
  if ('ttl' in pattern) compared.push({ name: 'ttl', differences: compareTtl(stored.ttl, pattern.ttl) })
  if ('type' in pattern) compared.push({ name: 'type', differences: compare(stored.type, pattern.type) })
  return compared
}

function compareTtl(remaining: number | undefined, expected: unknown): readonly Difference[] {
  if (expected === null || expected === undefined) {
    return remaining === undefined
      ? []
      : [new Difference(remaining, expected, '', { expected: 'none', received: `'${formatDuration(remaining)}'` })]
  }
  return span(remaining)(expected)
}

function missingKey(key: string, reader: KeyReader): string[] {
  const keys = reader.keys().map((one) => text(one))
  const lines = [`Expected a key ${literal(key)}. ${keys.length === 0 ? 'The store is empty.' : 'There is none.'}`]
  if (keys.length > 0) {
    const near = nearestName(key, keys)
    const shown = keys.slice(0, 10).map((one) => quoted(one, 60))
    const rest = keys.length - shown.length
    lines.push(`  Keys: ${shown.join('  ')}${rest > 0 ? `  … and ${rest} more` : ''}`)
    if (near !== undefined) lines.push('', `Hint: there is a key ${literal(near)}.`)
  }
  return lines
}

function presentKey(
  key: string,
  stored: StoredValue,
  compared: readonly Compared[],
  not: boolean,
  pattern: KeyPattern,
): string[] {
  const life = stored.ttl === undefined ? 'does not expire' : `expires in ${formatDuration(stored.ttl)}`
  const line = `  ${quoted(key, 60)}   ${stored.type}, ${life}: ${stored.shown}`
  if (not)
    return [
      `Expected no key ${literal(key)}${Object.keys(pattern).length > 0 ? ' like this' : ''}, but it is there:`,
      line,
    ]
  const misses = compared.filter((one) => one.differences.length > 0)
  const candidate: Candidate = { seq: 0, at: 0, title: () => '', compared }
  const lines = [`Expected a key ${literal(key)} like this. It is there, but different:`, line]
  lines.push(...missLines({ candidate, misses }))
  const { ttl } = pattern
  if (typeof ttl === 'number' && stored.ttl !== undefined && stored.ttl === ttl * 1000) {
    lines.push('', `Hint: numbers are milliseconds; for seconds write '${ttl}s'.`)
  }
  return lines
}

/** Commands and events that name the key. */
function concerns(entry: Entry, key: Bytes): boolean {
  // Other events repeat what the commands tell.
  if (entry.type === 'keyspace') return entry.key === key && entry.event === 'expired'
  return entry.type === 'command' && entry.argv.indexOf(key, 1) > 0
}

function keyStory(key: string, entries: readonly Entry[]): string {
  return entries.length === 0 ? `No command named ${literal(key)}.` : storyText(entries, entries.at(-1)!.seq)
}
