import { type Bytes, text, utf8 } from '../src/kernel/bytes.js'
import { type Duration, formatDuration } from '../src/kernel/duration.js'
import { nearestName } from '../src/kernel/nearest-name.js'
import type { Entry, EntryOf } from '../src/kernel/traffic-log.js'
import type { Redaction } from '../src/report/redaction.js'
import { quoted } from '../src/report/safe-text.js'
import { compare, ValueDifference } from './compare-values.js'
import { span } from './comparison-kinds.js'
import { composeFailure, type MatcherFinding } from './failure/compose-failure.js'
import { expiryHint } from './failure/key-expiry.js'
import { removedHint } from './failure/removed-key.js'
import { withoutTtl } from './failure/without-ttl.js'
import { literal } from './literal.js'
import { type ComparedField, missLines } from './near-misses.js'
import { anyField, checkPattern, type FieldsOf, spanField, wordField } from './pattern-fields.js'
import type { Or } from './patterns.js'
import { inDatabase, type MatcherInput, storeEvidenceOf, storeInternals } from './received.js'
import { type KeyReader, keyReaderOf, type StoredValue } from './stored.js'
import { callLine, type Verdict, verdict } from './verdict.js'

/** Expected properties of a key. All properties in the pattern must match. */
export interface KeyPattern {
  /**
   * Value of the key: a text for strings (an object or list is compared with the parsed JSON), an object for hashes, a
   * list for lists, a `Set` or list for sets, an object of scores for sorted sets, a list of entries for streams. For
   * arrays, a list with `null` for empty slots, or an object of values by index. For vector indexes, an object of
   * vectors by ID, whose elements are compared as 32-bit floats. A search index has no value.
   */
  readonly value?: unknown
  /** Remaining time: `'1h'`, milliseconds, or `null` for a key that does not expire. */
  readonly ttl?: Or<Duration | null>
  /** Type of the key, as the command `TYPE` replies. */
  readonly type?: Or<KeyType>
}

/** Possible replies of the command `TYPE`. */
export type KeyType = 'string' | 'hash' | 'list' | 'set' | 'zset' | 'stream' | 'array' | 'json' | 'vector' | 'search'

const keyTypes: readonly KeyType[] = [
  'string',
  'hash',
  'list',
  'set',
  'zset',
  'stream',
  'array',
  'json',
  'vector',
  'search',
]

const spanOfTtl = spanField<StoredValue>(({ ttl }) => ttl)
/** Names and allowed values of the pattern's fields. The values themselves are compared by the type of the key. */
const keyFields: FieldsOf<KeyPattern, StoredValue> = {
  value: anyField(() => undefined),
  ttl: { ...spanOfTtl, takes: { ...spanOfTtl.takes, check: (ttl) => ttl === null || spanOfTtl.takes.check(ttl) } },
  type: wordField(keyTypes, ({ type }) => type),
}

/** Checks that a key exists now and has the expected properties. */
export function hasKey(received: unknown, key: string, pattern: KeyPattern = {}): Verdict {
  const matcher = 'toHaveKey'
  const evidence = storeEvidenceOf(matcher, received)
  if (typeof key !== 'string')
    throw new TypeError(`${matcher}(): the key must be a string (got ${literal(key)}). Pass the key first.`)
  checkPattern(matcher, pattern, keyFields)
  const reader = keyReaderOf(matcher, received)
  const stored = reader.read(utf8(key))
  const compared = stored === undefined ? [] : compareStored(stored, pattern)
  return verdict(stored !== undefined && compared.every((one) => one.differences.length === 0), (not, place) => {
    const entries = evidence.entries.filter((entry) => concerns(entry, utf8(key)))
    return composeFailure({
      evidence,
      place,
      call: callLine(evidence, not, matcher, Object.keys(pattern).length === 0 ? [key] : [key, pattern]),
      ...(stored === undefined
        ? missingKey(key, reader, evidence)
        : presentKey(key, stored, compared, not, pattern, evidence)),
      // If a value is too small, an element may be missing.
      isMissing: !not,
      // A repeated attempt does not explain why a key is missing. If the key exists, an attempt that changed it again
      // may explain the value.
      mayRepeat: (entry) => stored !== undefined && entry.type === 'keyspace' && entry.key === utf8(key),
      isUnwanted: not,
      focus: entries.map(({ seq }) => seq).reverse(),
      shown: () => entries.length === 0,
      ...(entries.length === 0 && { lead: `No command named the key ${literal(key)}.` }),
    })
  })
}

/** Returns a hint that names the added database in which a key exists that the first database does not have. */
function databaseWith(key: string, { received }: MatcherInput): string | undefined {
  const { stores = [] } = received as { readonly stores?: readonly object[] }
  const found = stores.slice(1).find((store) => storeInternals.find(store)?.engine.db.isLive(utf8(key)) === true)
  const database = found && storeInternals.of(found).engine.options.database
  return database && `Database ${database} has this key. Write expect(sandbox.storeIn(${literal(database)})).`
}

type KeyFailure = Pick<MatcherFinding, 'expected' | 'parts' | 'hints'>

function compareStored(stored: StoredValue, pattern: KeyPattern): ComparedField[] {
  const compared: ComparedField[] = []
  if ('value' in pattern) compared.push({ name: 'value', differences: stored.compare(pattern.value) })
  if ('ttl' in pattern) compared.push({ name: 'ttl', differences: compareTtl(stored.ttl, pattern.ttl) })
  if ('type' in pattern) compared.push({ name: 'type', differences: compare(stored.type, pattern.type) })
  return compared
}

function compareTtl(remaining: number | undefined, expected: unknown): readonly ValueDifference[] {
  if (expected === null || expected === undefined) {
    return remaining === undefined
      ? []
      : [new ValueDifference(remaining, expected, '', { expected: 'none', received: `'${formatDuration(remaining)}'` })]
  }
  return span(expected).differences(remaining)
}

function missingKey(key: string, reader: KeyReader, evidence: MatcherInput): KeyFailure {
  const { redaction } = evidence
  const keys = reader.keys().map((one) => text(one))
  const expected = `Expected a key ${literal(key)}${inDatabase(evidence)}. ${keys.length === 0 ? 'The store is empty.' : 'It does not exist.'}`
  const removed = removedHint(utf8(key), reader.expiredAt(utf8(key)), evidence)
  const elsewhere = databaseWith(key, evidence)
  const hints = [removed, elsewhere].filter((hint) => hint !== undefined)
  if (keys.length === 0) return { expected, parts: [], hints }
  // A key that was removed is no misspelled one.
  const near = hints.length === 0 ? nearestName(key, keys) : undefined
  const shown = keys.slice(0, 10).map((one) => quoted(one, 60, (given) => redaction.text(given)))
  const rest = keys.length - shown.length
  return {
    expected,
    parts: [[`  Keys: ${shown.join('  ')}${rest > 0 ? `  … and ${rest} more` : ''}`]],
    hints: near === undefined ? hints : [`Did you mean the key ${literal(near)}?`],
  }
}

function presentKey(
  key: string,
  stored: StoredValue,
  compared: readonly ComparedField[],
  not: boolean,
  pattern: KeyPattern,
  evidence: MatcherInput,
): KeyFailure {
  const { redaction } = evidence
  const life = stored.ttl === undefined ? 'does not expire' : `expires in ${formatDuration(stored.ttl)}`
  const line = `  ${quoted(key, 60)}   ${stored.type}, ${life}: ${stored.shown(redaction)}`
  if (not) {
    const name = quoted(key, 60, (given) => redaction.text(given))
    const hint = stored.ttl === undefined ? undefined : expiryHint(name, stored.ttl, evidence)
    const like = Object.keys(pattern).length > 0 ? ' like this' : ''
    return {
      expected: `Expected no key ${literal(key)}${inDatabase(evidence)}${like}, but it exists:`,
      parts: [[line]],
      ...(hint !== undefined && { hints: [hint] }),
    }
  }
  const { ttl } = pattern
  const isInSeconds = typeof ttl === 'number' && stored.ttl !== undefined && stored.ttl === ttl * 1000
  const isEndless = stored.ttl === undefined && compared.some((one) => one.name === 'ttl' && one.differences.length > 0)
  const hints = [
    ...(isEndless ? [endlessHint(key, evidence)] : []),
    ...(stored.type === 'search' && 'value' in pattern ? [indexHint(key, redaction)] : []),
    ...(isInSeconds ? [`A number as TTL is in milliseconds. For seconds, write '${ttl}s'.`] : []),
  ]
  return {
    expected: `Expected a key ${literal(key)}${inDatabase(evidence)} like this. It exists, but differs:`,
    parts: [[line, ...missLines(compared, redaction)]],
    hints,
  }
}

/** Returns a hint about a value that is expected of a search index. */
function indexHint(key: string, redaction: Redaction): string {
  return `${quoted(key, 60, (given) => redaction.text(given))} is a search index, which has no value. Compare its type, the keys that it indexes, or the reply of SEARCH.QUERY.`
}

/**
 * Returns a hint about a key without a TTL. It names the command that set no TTL, or the command that removed an
 * earlier TTL.
 */
function endlessHint(key: string, { entries, redaction }: MatcherInput): string {
  const name = quoted(key, 60, (given) => redaction.text(given))
  const { since, ended } = withoutTtl(entries, utf8(key)) ?? {}
  if (since === undefined) return `${name} has no TTL. Set one, for example with EXPIRE.`
  return ended === undefined
    ? `${name} has no TTL, because #${since.seq} set none. ${takesTtl(since) ? 'Set one in that command, or with EXPIRE.' : 'Set one with EXPIRE.'}`
    : `${name} has no TTL, because #${since.seq} removed the TTL that #${ended.seq} had set. Set the TTL again, or keep it with KEEPTTL.`
}

/** Returns whether a command can set the TTL of the key that it writes. */
function takesTtl({ argv: [name] }: EntryOf<'command'>): boolean {
  return /^(?:SET|MSETEX)$/i.test(name ?? '')
}

/**
 * Returns whether an entry belongs to the key: a command with the key as an argument, or the expiration or eviction of
 * the key.
 */
function concerns(entry: Entry, key: Bytes): boolean {
  // Other keyspace events repeat what the commands already show.
  if (entry.type === 'keyspace') return entry.key === key && /^(?:expired|evicted)$/.test(entry.event)
  return entry.type === 'command' && entry.argv.indexOf(key, 1) > 0
}
