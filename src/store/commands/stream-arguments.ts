import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { type Arg, type ArgReader, toInt, toWaitTime } from '../command/arguments.js'
import { replyError } from '../command/errors.js'
import { NilArray, type Reply } from '../command/reply.js'
import type { IdEntry } from '../values/id-table.js'
import {
  formatId,
  type Half,
  lastId,
  nextId,
  parseId,
  parseOpenId,
  previousId,
  type StreamId,
} from '../values/stream-id.js'
import type { References, StreamFields, Trim } from '../values/stream-value.js'

// Common arguments of stream commands. Rules and the order of checks are those of redis 7.0.15.

/** Parses a literal ID; rejects `-` and `+`. */
export function toId(word: Bytes): StreamId {
  const id = parseId(word)
  if (id === undefined) throw replyError('invalidStreamId')
  return id
}

/** Parses an ID. `-` means the smallest possible ID, `+` the largest one. */
export function toAnyId(word: Bytes, missingSeq: Half = 0): StreamId {
  if (word === '-') return { ms: 0, seq: 0 }
  if (word === '+') return lastId
  const id = parseId(word, missingSeq)
  if (id === undefined) throw replyError('invalidStreamId')
  return id
}

/** Parses the start of a range: `-`, `5`, `5-1`, or `(5-1` for the ID after it. */
export function toRangeStart(word: Bytes): StreamId {
  if (word[0] !== '(' || word.length === 1) return toAnyId(word)
  const id = nextId(toId(word.slice(1) as Bytes))
  if (id === undefined) throw replyError('invalidRangeStart')
  return id
}

/** Parses the end of a range: `+`, `5` for the whole millisecond, `5-1`, or `(5-1` for the ID before it. */
export function toRangeEnd(word: Bytes): StreamId {
  if (word[0] !== '(' || word.length === 1) return toAnyId(word, lastId.seq)
  const id = parseId(word.slice(1) as Bytes, lastId.seq)
  if (id === undefined) throw replyError('invalidStreamId')
  const before = previousId(id)
  if (before === undefined) throw replyError('invalidRangeEnd')
  return before
}

export const rangeStart: Arg<StreamId> = { usage: 'start', min: 1, max: 1, read: (from) => toRangeStart(from.next()) }

export const rangeEnd: Arg<StreamId> = { usage: 'end', min: 1, max: 1, read: (from) => toRangeEnd(from.next()) }

/** Parser for a reversed range: the end is the first argument. As in redis, the start is checked before the end. */
export const rangeBackwards: Arg<readonly [start: StreamId, end: StreamId]> = {
  usage: 'end start',
  min: 2,
  max: 2,
  read(from) {
    const end = from.next()
    return [toRangeStart(from.next()), toRangeEnd(end)]
  },
}

/** Units of work for an entry that is looked up, returned or delivered. */
export const unitsPerEntry = 32

/** Returns at most `count` entries as clients get them: `[id, [field, value, …]]`. */
export function take(entries: Iterable<IdEntry<StreamFields>>, count: number, work: Work): Reply[] {
  const replies: Reply[] = []
  for (const entry of entries) {
    work.charge(unitsPerEntry)
    replies.push(entryReply(entry))
    if (replies.length >= count) break
  }
  return replies
}

export function entryReply({ id, value }: IdEntry<StreamFields>): Reply {
  return [formatId(id), value]
}

const referenceWords: Record<string, References> = { KEEPREF: 'keep', DELREF: 'drop', ACKED: 'protect' }

/** Parser for `[KEEPREF | DELREF | ACKED] IDS numids id [id …]`, in any order. [redis 8.2] */
export const markedIds: Arg<{ references: References; ids: StreamId[] }> = {
  usage: '[KEEPREF | DELREF | ACKED] IDS numids id [id …]',
  min: 3,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    let references: References | undefined
    let ids: StreamId[] | undefined
    while (from.left > 0) {
      const word = from.next().toUpperCase()
      if (word === 'IDS' && ids === undefined && from.left > 0) ids = readIds(from)
      else if (word in referenceWords && references === undefined) references = referenceWords[word]
      else throw replyError('syntax')
    }
    if (ids === undefined) throw replyError('syntax')
    return { references: references ?? 'keep', ids }
  },
}

function readIds(from: ArgReader): StreamId[] {
  const count = Number(from.next())
  if (!(Number.isInteger(count) && count > 0)) throw replyError('idsCount')
  if (count > from.left) throw replyError('idsMismatch')
  return Array.from({ length: count }, () => toId(from.next()))
}

interface TrimWords {
  to: Trim['to'] | undefined
  approximate: boolean
  limit: number | undefined
  references: References | undefined
}

/** Parses the next argument if it is a trim option. Returns whether it is one. */
function takesTrimOption(from: ArgReader, trim: TrimWords): boolean {
  const option = from.peek()!.toUpperCase()
  if (option in referenceWords) {
    if (trim.references !== undefined) throw replyError('syntax')
    trim.references = referenceWords[option]
    from.next()
    return true
  }
  if (from.left < 2) return false
  if (option === 'MAXLEN' || option === 'MINID') {
    from.next()
    if (trim.to !== undefined) throw replyError('twoTrims')
    trim.approximate = from.left > 1 && from.peek() === '~'
    if (trim.approximate || (from.left > 1 && from.peek() === '=')) from.next()
    trim.to = option === 'MAXLEN' ? { length: readLength(from) } : { id: toId(from.next()) }
    return true
  }
  if (option === 'LIMIT') {
    from.next()
    trim.limit = toInt(from.next())
    if (trim.limit < 0) throw replyError('negativeTrimLimit')
    return true
  }
  return false
}

function readLength(from: ArgReader): number {
  const length = toInt(from.next())
  if (length < 0) throw replyError('negativeMaxlenArgument')
  return length
}

/**
 * Checks the trim options. With `~`, nothing is deleted until a stream has a hundred surplus entries. Then all surplus
 * entries are deleted. The service keeps 120 entries for a limit of 30, but trims 1,000 entries to 30, plus or minus
 * one. redis-server deletes only whole nodes. [store.md 7.2]
 */
function checkedTrim(words: TrimWords, required = false): Trim | undefined {
  if (words.to === undefined && words.limit) throw replyError('limitWithoutTrim')
  if (words.to === undefined && required) throw replyError('trimMissing')
  if (words.limit !== undefined && !words.approximate) throw replyError('limitWithoutTilde')
  if (words.to === undefined) return undefined
  return {
    to: words.to,
    approximate: words.approximate,
    limit: words.limit || Number.POSITIVE_INFINITY,
    references: words.references ?? 'keep',
  }
}

function noTrim(): TrimWords {
  return { to: undefined, approximate: false, limit: undefined, references: undefined }
}

const trimUsage = '<MAXLEN | MINID> [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]'

export const trimOptions: Arg<Trim> = {
  usage: trimUsage,
  min: 2,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    const words = noTrim()
    while (from.left > 0) if (!takesTrimOption(from, words)) throw replyError('syntax')
    return checkedTrim(words, true)!
  },
}

export interface Addition {
  readonly create: boolean
  readonly trim: Trim | undefined
  /**
   * ID of the entry. For `*`, the stream chooses the whole ID. For `5-*`, `seq` is `undefined`, and the stream chooses
   * the sequence number.
   */
  readonly id: '*' | { readonly ms: Half; readonly seq: Half | undefined }
  readonly fields: Bytes[]
}

/** Parser for all arguments of XADD after the key. */
export const addition: Arg<Addition> = {
  usage: `[NOMKSTREAM] [KEEPREF | DELREF | ACKED] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value …]`,
  min: 3,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    let words: TrimWords | undefined
    let create = true
    while (mayBeOption(from.peek())) {
      words ??= noTrim()
      if (from.takes('NOMKSTREAM')) create = false
      else if (!takesTrimOption(from, words)) break
    }
    const id = readNewId(from.next())
    const trim = words && checkedTrim(words)
    if (from.left < 2 || from.left % 2 === 1) throw from.uneven()
    if (id !== '*' && id.ms === 0 && id.seq === 0) throw replyError('zeroStreamId')
    return { create, trim, id, fields: from.rest() }
  },
}

/**
 * Returns whether an argument can be an option. An ID nearly always begins with a digit, which avoids the lookup of
 * options.
 */
function mayBeOption(word: Bytes | undefined): boolean {
  return word !== undefined && !(word.charCodeAt(0) <= digitNine) && word !== '*'
}

const digitNine = 57

function readNewId(word: Bytes): Addition['id'] {
  if (word === '*') return '*'
  const ms = parseOpenId(word)
  return ms === undefined ? toId(word) : { ms, seq: undefined }
}

export interface GroupReadArguments {
  readonly count: number
  readonly group: Bytes
  readonly consumer: Bytes
  readonly acknowledge: boolean
  /** Milliseconds to wait, 0 for unlimited; `undefined` if the command does not wait. */
  readonly block: number | undefined
  readonly streams: readonly (readonly [key: Bytes, id: Bytes])[]
}

/**
 * Returns a parser for `[COUNT count] [BLOCK milliseconds] STREAMS key [key …] id [id …]`. For XREADGROUP, the options
 * of consumer groups are parsed too.
 */
export function reading(command: 'XREAD' | 'XREADGROUP'): Arg<GroupReadArguments> {
  const inGroup = command === 'XREADGROUP'
  const groupUsage = inGroup ? 'GROUP group consumer ' : ''
  const ackUsage = inGroup ? ' [NOACK]' : ''
  return {
    usage: `${groupUsage}[COUNT count] [BLOCK milliseconds]${ackUsage} STREAMS key [key …] id [id …]`,
    min: inGroup ? 6 : 3,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      let count = Number.POSITIVE_INFINITY
      let group: readonly [Bytes, Bytes] | undefined
      let acknowledge = true
      let block: number | undefined
      while (from.left > 0) {
        const option = from.next().toUpperCase()
        // Only connections wait. Over REST, the time is checked and then ignored. [store.md 7.4]
        if (option === 'BLOCK' && from.left > 0) block = toWaitTime(from.next())
        else if (option === 'COUNT' && from.left > 0) count = toCount(from.next())
        else if (option === 'STREAMS' && from.left > 0) {
          const streams = readStreams(from)
          if (inGroup && group === undefined) throw replyError('groupMissing')
          const [name, consumer] = group ?? ['' as Bytes, '' as Bytes]
          return { count, group: name, consumer, acknowledge, block, streams }
        } else if (option === 'GROUP' && from.left > 1) {
          if (!inGroup) throw replyError('groupInXread')
          group = [from.next(), from.next()]
        } else if (option === 'NOACK') {
          if (!inGroup) throw replyError('noackInXread')
          acknowledge = false
        } else throw replyError('syntax')
      }
      throw replyError('syntax')
    },
  }
}

/** Largest value of BLOCK. redis-server does not parse larger values as integers. */
const maxBlock = 2n ** 63n - 1n

/**
 * Removes valid BLOCK options, because commands over REST never wait. An invalid BLOCK option stays, so that the
 * command is rejected.
 */
export function withoutWaiting(argv: readonly Bytes[]): readonly Bytes[] {
  if (!/^XREAD(?:GROUP)?$/i.test(argv[0]!)) return argv
  const kept: Bytes[] = []
  // Options are read one by one, as in redis-server, because a group can have the same name as an option.
  for (let at = 0; at < argv.length; ) {
    const word = argv[at]!.toUpperCase()
    if (word === 'STREAMS') return [...kept, ...argv.slice(at)]
    const size = word === 'GROUP' ? 3 : word === 'COUNT' || word === 'BLOCK' ? 2 : 1
    const waits = word === 'BLOCK' && /^(?:0|[1-9]\d{0,18})$/.test(argv[at + 1] ?? '')
    if (!waits || BigInt(argv[at + 1]!) > maxBlock) kept.push(...argv.slice(at, at + size))
    at += size
  }
  return kept
}

/**
 * Returns whether a command has a valid BLOCK option, which requests to wait for stream entries. If waiting is not
 * possible, the command replies immediately.
 */
export function asksToWait(argv: readonly Bytes[]): boolean {
  return withoutWaiting(argv).length < argv.length
}

/** Returns the `COUNT` option for the read that follows a wait. */
export function countWords(count: number): readonly Bytes[] {
  return count === Number.POSITIVE_INFINITY ? [] : [latin1('COUNT'), latin1(String(count))]
}

/** Returns the reply for a blocked client, or `undefined` if the read found no entries. */
export function streamReply(reply: Reply): Reply | undefined {
  return reply instanceof NilArray ? undefined : reply
}

/** Parses a count; 0 and less mean no limit. */
function toCount(word: Bytes): number {
  const count = toInt(word)
  return count > 0 ? count : Number.POSITIVE_INFINITY
}

function readStreams(from: ArgReader): [Bytes, Bytes][] {
  if (from.left % 2 === 1) throw replyError('unbalancedStreams')
  const keys = Array.from({ length: from.left / 2 }, () => from.key('R'))
  return keys.map((key) => [key, from.next()])
}
