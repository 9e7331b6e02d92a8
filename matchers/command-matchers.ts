import { type Bytes, text, utf8 } from '../src/kernel/bytes.js'
import { checkOptionNames } from '../src/kernel/nearest-name.js'
import { parsedJson } from '../src/kernel/parsed-json.js'
import type { EntryOf } from '../src/kernel/traffic-log.js'
import { commandLine, outcomeOfCommand } from '../src/report/describe.js'
import { standardRedaction } from '../src/report/redaction.js'
import { plainText } from '../src/report/safe-text.js'
import { compare, roughDistance, ValueDifference } from './compare-values.js'
import { type AsymmetricMatcher, isAsymmetric, isPlainObject, literal } from './literal.js'
import { type ComparedField, type PatternTest, weightOf } from './near-misses.js'
import { boundsOf } from './range.js'
import { evidenceOf, type MatcherInput } from './received.js'
import { type MatchOptions, search, timesOf, type Verdict } from './verdict.js'

/** An argument of a command: a text, number or pattern. An object or list is compared with the parsed JSON. */
export type CommandArgPattern =
  | string
  | number
  | bigint
  | RegExp
  | AsymmetricMatcher
  | Readonly<Record<string, unknown>>
  | readonly unknown[]

/**
 * Searches the commands of the app that the store ran. The pattern may have fewer arguments than the command. Commands
 * of the test itself, and commands with an error reply, do not count.
 */
export function executed(received: unknown, ...given: readonly (CommandArgPattern | MatchOptions)[]): Verdict {
  const matcher = 'toHaveExecuted'
  const { words, options } = splitOptions(given)
  const evidence = evidenceOf(matcher, received, 'store')
  checkArguments(matcher, words)
  return search({
    matcher,
    call: given,
    evidence,
    things: () => evidence.ofType('command').filter((entry) => entry.via !== 'direct'),
    test: commandTest(words),
    candidate: (entry) => ({
      seq: entry.seq,
      at: entry.at,
      title: `${commandLine(entry.argv, evidence.redaction)} → ${outcomeOfCommand(entry, evidence.redaction)}${databaseOf(entry, evidence)}`,
    }),
    times: timesOf(matcher, options),
    noun: ['executed command', 'commands'],
    hints: () => executedHints(evidence.ofType('command'), words),
    shown: (entry) => entry.type === 'command' || (entry.type === 'request' && entry.service === 'store'),
  })
}

/** Returns the added database of a command in parentheses, as in a timeline, if `expect()` got several databases. */
function databaseOf({ database }: EntryOf<'command'>, evidence: MatcherInput): string {
  return database === undefined || evidence.database !== undefined ? '' : ` (${plainText(database)})`
}

/**
 * Splits the arguments of the matcher. A last argument such as `{ times: n }` contains the options. All other arguments
 * are those of the command.
 */
function splitOptions(given: readonly (CommandArgPattern | MatchOptions)[]): {
  words: readonly CommandArgPattern[]
  options: MatchOptions | undefined
} {
  const last = given.at(-1)
  // Without this check, `{ times: { mni: 2 } }` would count as an argument of the command.
  if (
    isPlainObject(last) &&
    Object.keys(last).length === 1 &&
    isPlainObject(last.times) &&
    ('min' in last.times || 'max' in last.times)
  )
    checkOptionNames('times of toHaveExecuted()', last.times, ['min', 'max'])
  if (isPlainObject(last) && Object.keys(last).length === 1 && boundsOf(last.times) !== undefined) {
    return { words: given.slice(0, -1) as CommandArgPattern[], options: last as MatchOptions }
  }
  return { words: given as CommandArgPattern[], options: undefined }
}

export function checkArguments(matcher: string, words: unknown): asserts words is readonly CommandArgPattern[] {
  if (!Array.isArray(words) || words.length === 0) {
    throw new TypeError(
      `${matcher}(): the command is missing (got ${literal(words)}). Pass its arguments, for example ${matcher}('SET', 'key', expect.anything()).`,
    )
  }
  const wrong = words.findIndex((word) => word === undefined || word === null || typeof word === 'boolean')
  if (wrong !== -1) {
    throw new TypeError(
      `${matcher}(): argument ${wrong + 1} of the command can never match (got ${literal(words[wrong])}). Omit it, or use expect.anything().`,
    )
  }
}

/** Returns a function that tests whether a command begins with these arguments. */
export function argumentsFit(words: readonly CommandArgPattern[]): (argv: readonly Bytes[]) => boolean {
  const fits = words.map(wordFits)
  return (argv) => {
    if (argv.length < fits.length) return false
    for (let index = 0; index < fits.length; index++) if (!fits[index]!(argv[index]!)) return false
    return true
  }
}

function commandTest(words: readonly CommandArgPattern[]): PatternTest<EntryOf<'command'>> {
  const fits = words.map(wordFits)
  const all = argumentsFit(words)
  const cheap = words.map((word) => typeof word !== 'object' || word instanceof RegExp)
  return {
    fits: (entry) => entry.error === undefined && all(entry.argv),
    rough: ({ argv, error }) => {
      let distance = error === undefined ? 0 : 0.6
      for (let index = 0; index < words.length; index++) {
        const word = argv[index]
        if (word !== undefined && (!cheap[index] || fits[index]!(word))) continue
        const apart = word === undefined ? 1 : roughDistance(word, String(words[index]))
        distance += weightOf(nameOfWord(index)) * (0.5 + apart / 2)
      }
      return distance
    },
    compare: (entry) => compareWords(entry, words),
    work: ({ argv }) => {
      let work = 4
      for (const word of argv) work += word.length / 100
      return work
    },
  }
}

function nameOfWord(index: number): string {
  return index === 0 ? 'command' : index === 1 ? 'key' : `argv[${index}]`
}

function compareWords(entry: EntryOf<'command'>, words: readonly CommandArgPattern[]): ComparedField[] {
  const argv = entry.argv.map((word) => text(word))
  const shown = standardRedaction.isSecretCommand(argv) ? standardRedaction.words(argv) : argv
  const compared: ComparedField[] = words.map((word, index) => ({
    name: nameOfWord(index),
    differences: compareWord(entry.argv[index], word, index),
    isSecret: shown[index] !== argv[index],
  }))
  const { error } = entry
  if (error !== undefined) {
    const wording = {
      expected: 'success',
      received: plainText(standardRedaction.errorOf(argv, error).slice(0, 300)),
      distance: 0.2,
    }
    compared.push({ name: 'reply', differences: [new ValueDifference(undefined, undefined, '', wording)] })
  }
  return compared
}

/** Returns a function that tests one argument. The function compares bytes without decoding them where possible. */
function wordFits(expected: CommandArgPattern, index: number): (word: Bytes) => boolean {
  if (typeof expected === 'object') return (word) => compareWord(word, expected, index).length === 0
  const wanted = utf8(String(expected))
  if (index > 0 && !isOption(wanted)) return (word) => word === wanted
  const lower = wanted.toLowerCase()
  return (word) => word === wanted || (word.length === wanted.length && word.toLowerCase() === lower)
}

export function compareWord(
  word: Bytes | undefined,
  expected: CommandArgPattern,
  index: number,
): readonly ValueDifference[] {
  if (word === undefined) return [new ValueDifference(undefined, expected)]
  const received = text(word)
  if (isAsymmetric(expected)) {
    if (expected.asymmetricMatch(received)) return []
    const parsed = parsedJson(received)
    const fits = parsed !== undefined && compare(parsed, expected).length === 0
    return fits ? [] : [new ValueDifference(received, expected)]
  }
  if (expected instanceof RegExp) return compare(received, expected)
  if (typeof expected === 'object') {
    const parsed = parsedJson(received)
    return parsed === undefined ? [new ValueDifference(received, expected)] : compare(parsed, expected)
  }
  return wordFits(expected, index)(word) ? [] : [new ValueDifference(received, String(expected))]
}

/**
 * Option names of commands. Clients write them in upper or lower case, so they are compared without regard to case at
 * any position after the command's name.
 */
const optionWords = new Set(
  `EX PX EXAT PXAT NX XX GT LT CH INCR KEEPTTL GET PERSIST WITHSCORES WITHSCORE WITHVALUES WITHCOORD WITHDIST WITHHASH
  LIMIT COUNT MATCH TYPE ASC DESC ALPHA BY STORE STOREDIST REV BYSCORE BYLEX BYRADIUS BYBOX FROMMEMBER FROMLONLAT LEFT
  RIGHT BEFORE AFTER WEIGHTS AGGREGATE SUM MIN MAX MAXLEN MINID NOMKSTREAM STREAMS GROUP NOACK JUSTID IDLE TIME
  RETRYCOUNT FORCE CREATE DESTROY MKSTREAM ENTRIESREAD REPLACE ABSTTL FIELDS FNX FXX RANK LEN IDX MINMATCHLEN
  WITHMATCHLEN BIT BYTE AND OR XOR NOT OVERFLOW WRAP SAT FAIL SET INCRBY SYNC ASYNC KM M FT MI`.split(/\s+/),
)

function isOption(word: string): boolean {
  return optionWords.has(word.toUpperCase())
}

function executedHints(commands: readonly EntryOf<'command'>[], words: readonly CommandArgPattern[]): string[] {
  const hints: string[] = []
  const { fits } = commandTest(words)
  const direct = commands.find((entry) => entry.via === 'direct' && fits(entry))
  if (direct !== undefined) {
    hints.push(
      `#${direct.seq} matches, but the test itself ran this command with sandbox.store.run(), and only commands of the app count. Check stored values with toHaveKey().`,
    )
  }
  const [first] = words
  if (words.length === 1 && typeof first === 'string' && first.includes(' ')) {
    const parts = first.split(' ').map((part) => literal(part))
    hints.push(`Pass each argument of the command separately: toHaveExecuted(${parts.join(', ')}).`)
  }
  return hints
}
