import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { type Arg, bytes, key, named, oneOrMore, toInt, word } from '../command/arguments.js'
import type { BlockingRequest } from '../command/blocking-request.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import {
  invalidClaimArgument,
  noSuchGroup,
  noSuchGroupOfKey,
  pendingLimit,
  replyError,
  subcommandSyntax,
  unknownClaimOption,
} from '../command/errors.js'
import { nilArray, ok, type Reply } from '../command/reply.js'
import { parseInt64 } from '../command/text.js'
import type { Database } from '../keyspace/database.js'
import { byName, Consumer, ConsumerGroup } from '../values/consumer-group.js'
import { compareIds, firstId, formatId, isZero, lastId, nextId, parseId, type StreamId } from '../values/stream-id.js'
import { Stream } from '../values/stream-value.js'
import { helpCommand } from './help.js'
import {
  countWords,
  entryReply,
  type GroupReadArguments,
  markedIds,
  rangeStart,
  reading,
  streamReply,
  toAnyId,
  toId,
  toRangeEnd,
  toRangeStart,
  unitsPerEntry,
} from './stream-arguments.js'

const group = named('group', bytes)
const consumer = named('consumer', bytes)
const id = named('id', bytes)

export const streamGroupCommands: readonly Command[] = [
  command('XGROUP CREATE', {
    flags: ['write', 'slow'],
    since: '5.0.0',
    args: [key('W'), group, named('<id | $>', bytes), groupOptions('CREATE')],
    run({ db }, key, group, id, { mkstream, entriesRead, tooMany }) {
      const existing = db.container(key, Stream)
      if (existing === undefined && !mkstream) throw replyError('xgroupNeedsKey')
      if (tooMany) throw subcommandSyntax('XGROUP', 'CREATE')
      const after = id === '$' ? (existing?.topId ?? firstId) : toId(id)
      const stream = existing ?? db.container(key, Stream, 'create')
      if (stream.groups.has(group)) throw replyError('groupExists')
      stream.groups.set(group, new ConsumerGroup(after, entriesRead))
      db.notify('t', 'xgroup-create', key)
      return ok
    },
  }),

  command('XGROUP SETID', {
    flags: ['write', 'slow'],
    since: '5.0.0',
    args: [key('W'), group, named('<id | $>', bytes), groupOptions('SETID')],
    run({ db }, key, group, id, { entriesRead, tooMany }) {
      const { stream, found } = existingGroup(db, key, group)
      if (tooMany) throw subcommandSyntax('XGROUP', 'SETID')
      found.lastDelivered = id === '$' ? stream.topId : toAnyId(id)
      found.entriesRead = entriesRead
      db.notify('t', 'xgroup-setid', key)
      return ok
    },
  }),

  command('XGROUP DESTROY', {
    flags: ['write', 'slow'],
    since: '5.0.0',
    args: [key('W'), group],
    run({ db }, key, group) {
      if (!existingStream(db, key).groups.delete(group)) return 0
      db.notify('t', 'xgroup-destroy', key)
      return 1
    },
  }),

  command('XGROUP CREATECONSUMER', {
    flags: ['write', 'slow'],
    since: '6.2.0',
    args: [key('W'), group, consumer],
    run({ db, now }, key, group, consumer) {
      const { found } = existingGroup(db, key, group)
      if (found.consumers.has(consumer)) return 0
      createConsumer(db, key, found, consumer, now)
      return 1
    },
  }),

  command('XGROUP DELCONSUMER', {
    flags: ['write', 'slow'],
    since: '5.0.0',
    args: [key('W'), group, consumer],
    run({ db }, key, group, consumer) {
      const pending = existingGroup(db, key, group).found.removeConsumer(consumer)
      if (pending !== undefined) db.notify('t', 'xgroup-delconsumer', key)
      return pending ?? 0
    },
  }),

  helpCommand('XGROUP', '5.0.0', ['slow'], {
    'CREATE <key> <group> <id | $> [MKSTREAM] [ENTRIESREAD <entries-read>]':
      'Creates a group that reads the entries after an ID; MKSTREAM also creates the stream.',
    'CREATECONSUMER <key> <group> <consumer>': 'Creates a consumer in a group.',
    'DELCONSUMER <key> <group> <consumer>': 'Deletes a consumer with its pending entries, and returns their number.',
    'DESTROY <key> <group>': 'Deletes a group.',
    'SETID <key> <group> <id | $> [ENTRIESREAD <entries-read>]': 'Sets the ID after which a group continues.',
  }),

  command('XREADGROUP', {
    flags: ['write', 'slow', 'blocking'],
    since: '5.0.0',
    deviations: 'Over REST, BLOCK is accepted but does not wait. NOACK does not register the consumer.',
    args: [reading('XREADGROUP')],
    run: (context, reading) => readGroup(reading, context),
  }),

  command('XACK', {
    flags: ['write', 'fast'],
    since: '5.0.0',
    args: [key('W'), group, oneOrMore(id)],
    run({ db }, key, group, ids) {
      const found = db.container(key, Stream)?.groups.get(group)
      if (found === undefined) return 0
      return ids.map(toId).filter((id) => found.forget(id)).length
    },
  }),

  command('XACKDEL', {
    flags: ['write', 'fast'],
    since: '8.2.0',
    // [store.md 7.2]
    deviations: 'Also deletes entries that the group acknowledged earlier. redis-server replies -1 for them.',
    args: [key('W'), group, markedIds],
    run({ db }, key, group, { references, ids }) {
      const stream = db.container(key, Stream)
      const found = stream?.groups.get(group)
      if (references !== 'keep') db.work.charge(ids.length * (stream?.groups.size ?? 0))
      let deleted = false
      const outcomes = ids.map((id) => {
        if (!stream || !found || !(found.forget(id) || isAcknowledged(id, found, stream))) return -1
        if (references === 'drop') stream.dropReferences(id)
        if (references === 'protect' && stream.isReferenced(id)) return 2
        deleted = stream.delete(id) || deleted
        return 1
      })
      if (deleted) db.notify('t', 'xdel', key)
      return outcomes
    },
  }),

  command('XPENDING', {
    flags: ['read', 'slow'],
    since: '5.0.0',
    args: [key('R'), group, pendingQuery()],
    run({ db, now }, key, group, query) {
      const found = db.container(key, Stream)?.groups.get(group)
      if (found === undefined) throw noSuchGroup(key, group)
      return query === undefined ? pendingSummary(found, db.work) : pendingList(found, query, now, db.work)
    },
  }),

  command('XCLAIM', {
    flags: ['write', 'fast'],
    since: '5.0.0',
    args: [key('W'), group, consumer, named('min-idle-time', bytes), claimWords()],
    run: claim,
  }),

  command('XAUTOCLAIM', {
    flags: ['write', 'fast'],
    since: '6.2.0',
    args: [key('W'), group, consumer, minIdleTime('XAUTOCLAIM'), rangeStart, autoClaimOptions()],
    run: autoClaim,
  }),
]

function existingStream(db: Database, key: Bytes): Stream {
  const stream = db.container(key, Stream)
  if (stream === undefined) throw replyError('xgroupNeedsKey')
  return stream
}

function existingGroup(db: Database, key: Bytes, name: Bytes): { stream: Stream; found: ConsumerGroup } {
  const stream = existingStream(db, key)
  const found = stream.groups.get(name)
  if (found === undefined) throw noSuchGroupOfKey(key, name)
  return { stream, found }
}

/** Returns whether the group has acknowledged an entry that still exists. */
function isAcknowledged(id: StreamId, group: ConsumerGroup, stream: Stream): boolean {
  return compareIds(id, group.lastDelivered) <= 0 && stream.entries.has(id) && !group.pending.has(id)
}

function createConsumer(db: Database, key: Bytes, group: ConsumerGroup, name: Bytes, now: number): Consumer {
  const consumer = new Consumer(name, now)
  group.consumers.set(name, consumer)
  db.notify('t', 'xgroup-createconsumer', key)
  return consumer
}

/** Returns the consumer of the running command and records the time of its request. Creates a missing consumer. */
function activeConsumer(db: Database, key: Bytes, group: ConsumerGroup, name: Bytes, now: number): Consumer {
  const consumer = group.consumers.get(name)
  if (consumer === undefined) return createConsumer(db, key, group, name, now)
  consumer.seenAt = now
  return consumer
}

interface GroupOptions {
  readonly mkstream: boolean
  readonly entriesRead: number | undefined
  /**
   * Whether there are more arguments than all options have together. Up to this number, options may be repeated. redis
   * checks the number after it has looked up the key.
   */
  readonly tooMany: boolean
}

function groupOptions(subcommand: 'CREATE' | 'SETID'): Arg<GroupOptions> {
  const most = subcommand === 'CREATE' ? 3 : 2
  return {
    usage: subcommand === 'CREATE' ? '[MKSTREAM] [ENTRIESREAD entries-read]' : '[ENTRIESREAD entries-read]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      const tooMany = from.left > most
      let mkstream = false
      let entriesRead: number | undefined
      while (from.left > 0) {
        if (subcommand === 'CREATE' && from.takes('MKSTREAM')) mkstream = true
        else if (from.left > 1 && from.takes('ENTRIESREAD')) {
          entriesRead = toInt(from.next())
          if (entriesRead < -1) throw replyError('entriesRead')
          if (entriesRead === -1) entriesRead = undefined
        } else throw subcommandSyntax('XGROUP', subcommand)
      }
      return { mkstream, entriesRead, tooMany }
    },
  }
}

// ---- reading ----------------------------------------------------------------------------------------------------

interface GroupRequest {
  readonly key: Bytes
  readonly stream: Stream
  readonly group: ConsumerGroup
  readonly after: StreamId
}

function readGroup(reading: GroupReadArguments, { db, now, store }: CommandContext): Reply {
  const { count, consumer: name, acknowledge } = reading
  const requests = reading.streams.map(([key, id]): GroupRequest => {
    const stream = db.container(key, Stream)
    const group = stream?.groups.get(reading.group)
    if (!stream || !group) throw noSuchGroup(key, reading.group, ' in XREADGROUP with GROUP option')
    if (id === '$') throw replyError('dollarInGroup')
    // As in redis, the highest ID means the same as `>`.
    return { key, stream, group, after: id === '>' ? lastId : toId(id) }
  })
  const replies: Reply[] = []
  for (const request of requests) {
    const { key, stream, group, after } = request
    const wantsNew = compareIds(after, lastId) === 0
    if (wantsNew && compareIds(stream.lastEntryId, group.lastDelivered) <= 0) continue
    if (wantsNew && acknowledge) checkPendingLimit(request, reading, store.options.policy.maxPendingPerConsumer)
    db.work.charge(readWork(request, reading, wantsNew))
    const known = acknowledge || group.consumers.has(name)
    const consumer = known ? activeConsumer(db, key, group, name, now) : undefined
    const entries = wantsNew
      ? deliver(request, acknowledge ? consumer : undefined, count, now)
      : history(stream, consumer, after, count, now)
    replies.push([key, entries])
  }
  if (replies.length > 0) return replies
  return reading.block === undefined ? nilArray : store.waiting.waitFor(newEntries(reading, reading.block))
}

/**
 * Returns a request that waits for new entries. A read of the pending entries of a consumer never waits, even if there
 * are none.
 */
function newEntries(reading: GroupReadArguments, timeout: number): BlockingRequest {
  const { group, consumer, acknowledge, streams } = reading
  const limit = countWords(reading.count)
  const options = acknowledge ? limit : [...limit, latin1('NOACK')]
  return {
    keys: streams.map(([key]) => key),
    type: 'stream',
    group,
    timeout,
    nothing: nilArray,
    take: (key) => [
      latin1('XREADGROUP'),
      latin1('GROUP'),
      group,
      consumer,
      ...options,
      latin1('STREAMS'),
      key,
      latin1('>'),
    ],
    told: streamReply,
  }
}

/** Returns the work of a read, which is charged before any entry is delivered. */
function readWork({ stream, group }: GroupRequest, { count, consumer }: GroupReadArguments, wantsNew: boolean): number {
  const left = wantsNew
    ? stream.length - stream.entries.countBelow(nextId(group.lastDelivered)!)
    : (group.consumers.get(consumer)?.pending.size ?? 0)
  return 2 * unitsPerEntry * Math.min(count, left)
}

function checkPendingLimit(
  { key, stream, group }: GroupRequest,
  reading: GroupReadArguments,
  limit: number | undefined,
): void {
  if (limit === undefined) return
  const pending = group.consumers.get(reading.consumer)?.pending.size ?? 0
  const unread = stream.length - stream.entries.countBelow(nextId(group.lastDelivered)!)
  const requested = Math.min(reading.count, unread)
  if (pending + requested > limit) throw pendingLimit(limit, pending, requested, { key, ...reading })
}

/** Delivers the next entries to a consumer. With NOACK there is no consumer, and the entries need no acknowledgment. */
function deliver(
  { stream, group }: GroupRequest,
  consumer: Consumer | undefined,
  count: number,
  now: number,
): readonly Reply[] {
  const entries: Reply[] = []
  for (const entry of stream.entries.range(nextId(group.lastDelivered)!, lastId)) {
    stream.deliverTo(group, entry.id)
    if (consumer !== undefined) group.assign(entry.id, consumer, now)
    entries.push(entryReply(entry))
    if (entries.length >= count) break
  }
  return entries
}

/** Returns the pending entries of a consumer; a deleted entry has no fields. */
function history(
  stream: Stream,
  consumer: Consumer | undefined,
  after: StreamId,
  count: number,
  now: number,
): readonly Reply[] {
  const start = nextId(after)
  const replies: Reply[] = []
  if (consumer === undefined || start === undefined) return replies
  for (const { id, value: pending } of consumer.pending.range(start, lastId)) {
    const fields = stream.entries.get(id)
    if (fields !== undefined) {
      pending.deliveredAt = now
      pending.deliveries++
    }
    replies.push([formatId(id), fields ?? nilArray])
    if (replies.length >= count) break
  }
  return replies
}

interface PendingQuery {
  readonly minIdle: number
  readonly start: StreamId
  readonly end: StreamId
  readonly count: number
  readonly consumer: Bytes | undefined
}

function pendingQuery(): Arg<PendingQuery | undefined> {
  return {
    usage: '[[IDLE min-idle-time] start end count [consumer]]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      if (from.left === 0) return undefined
      if (from.left < 3 || from.left > 6) throw replyError('syntax')
      let minIdle = 0
      if (from.takes('IDLE')) {
        minIdle = toInt(from.next())
        if (from.left < 3) throw replyError('syntax')
      }
      const [startWord, endWord, countWord] = [from.next(), from.next(), from.next()]
      const count = Math.max(0, toInt(countWord))
      const start = toRangeStart(startWord)
      const end = toRangeEnd(endWord)
      const consumer = from.left > 0 ? from.next() : undefined
      while (from.left > 0) from.next()
      return { minIdle, start, end, count, consumer }
    },
  }
}

function pendingSummary(group: ConsumerGroup, work: Work): Reply {
  work.charge(unitsPerEntry * group.consumers.size)
  const first = group.pending.first()
  const last = group.pending.last()
  if (!first || !last) return [0, null, null, nilArray]
  const owners = byName(group.consumers).filter(([, { pending }]) => pending.size > 0)
  return [
    group.pending.size,
    formatId(first.id),
    formatId(last.id),
    owners.map(([name, { pending }]) => [name, latin1(String(pending.size))]),
  ]
}

function pendingList(group: ConsumerGroup, query: PendingQuery, now: number, work: Work): Reply {
  const owner = query.consumer === undefined ? group : group.consumers.get(query.consumer)
  const replies: Reply[] = []
  if (owner === undefined || query.count === 0) return replies
  for (const { id, value } of owner.pending.range(query.start, query.end)) {
    work.charge(unitsPerEntry)
    const idle = now - value.deliveredAt
    if (query.minIdle !== 0 && idle < query.minIdle) continue
    replies.push([formatId(id), value.consumer.name, Math.max(0, idle), value.deliveries])
    if (replies.length >= query.count) break
  }
  return replies
}

// ---- claiming ---------------------------------------------------------------------------------------------------

function minIdleTime(command: string): Arg<number> {
  return word('min-idle-time', (text) => Math.max(0, claimNumber(text, 'min-idle-time', command)))
}

function claimNumber(word: Bytes, option: string, command?: string): number {
  const value = parseInt64(word)
  if (value === undefined) throw invalidClaimArgument(option, command)
  return Number(value)
}

/**
 * Returns a parser for IDs and options. The body of the command parses these arguments, because the group must be
 * looked up first.
 */
function claimWords(): Arg<Bytes[]> {
  return {
    ...oneOrMore(bytes),
    usage:
      'id [id …] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID last-delivered-id]',
  }
}

interface ClaimOptions {
  force: boolean
  justId: boolean
  deliveredAt: number | undefined
  deliveries: number | undefined
  lastId: StreamId
}

function readClaim(words: readonly Bytes[], now: number): { ids: StreamId[]; options: ClaimOptions } {
  const ids: StreamId[] = []
  let at = 0
  for (; at < words.length; at++) {
    const id = parseId(words[at]!)
    if (id === undefined) break
    ids.push(id)
  }
  const options: ClaimOptions = {
    force: false,
    justId: false,
    deliveredAt: undefined,
    deliveries: undefined,
    lastId: firstId,
  }
  for (; at < words.length; at++) {
    const option = words[at]!.toUpperCase()
    const value = words[at + 1]
    if (option === 'FORCE') options.force = true
    else if (option === 'JUSTID') options.justId = true
    else if (value === undefined) throw unknownClaimOption(words[at]!)
    else {
      if (option === 'IDLE') options.deliveredAt = now - claimNumber(value, 'IDLE option')
      else if (option === 'TIME') options.deliveredAt = claimNumber(value, 'TIME option')
      else if (option === 'RETRYCOUNT') options.deliveries = claimNumber(value, 'RETRYCOUNT option')
      else if (option === 'LASTID') options.lastId = toId(value)
      else throw unknownClaimOption(words[at]!)
      at++
    }
  }
  return { ids, options }
}

function claim(
  { db, now }: CommandContext,
  key: Bytes,
  group: Bytes,
  name: Bytes,
  minIdleWord: Bytes,
  words: readonly Bytes[],
): Reply {
  const stream = db.container(key, Stream)
  const found = stream?.groups.get(group)
  if (!stream || !found) throw noSuchGroup(key, group)
  const minIdle = Math.max(0, claimNumber(minIdleWord, 'min-idle-time'))
  const { ids, options } = readClaim(words, now)
  if (!isZero(options.lastId) && compareIds(options.lastId, found.lastDelivered) > 0) {
    found.lastDelivered = options.lastId
  }
  // A negative time, or a time in the future, is not an error, because clients compute times from their own clocks.
  const given = options.deliveredAt
  const deliveredAt = given === undefined || given < 0 || given > now ? now : given
  const replies: Reply[] = []
  for (const id of ids) {
    const fields = stream.entries.get(id)
    if (fields === undefined) {
      found.forget(id)
      continue
    }
    const held = found.pending.get(id)
    if (held === undefined ? !options.force : minIdle > 0 && now - held.deliveredAt < minIdle) continue
    const consumer = activeConsumer(db, key, found, name, now)
    const pending = held ?? { consumer, deliveredAt: now, deliveries: 1 }
    if (held === undefined) found.hold(id, pending)
    pending.deliveredAt = deliveredAt
    if (options.deliveries !== undefined && options.deliveries >= 0) pending.deliveries = options.deliveries
    else if (!options.justId) pending.deliveries++
    found.hand(id, pending, consumer)
    replies.push(options.justId ? formatId(id) : entryReply({ id, value: fields }))
  }
  return replies
}

interface AutoClaimOptions {
  readonly count: number
  readonly justId: boolean
}

function autoClaimOptions(): Arg<AutoClaimOptions> {
  return {
    usage: '[COUNT count] [JUSTID]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      let count = 100
      let justId = false
      while (from.left > 0) {
        if (from.takes('JUSTID')) justId = true
        else if (from.left > 1 && from.takes('COUNT')) count = autoClaimCount(from.next())
        else throw replyError('syntax')
      }
      return { count, justId }
    },
  }
}

function autoClaimCount(word: Bytes): number {
  const count = parseInt64(word)
  // The upper limit is the largest count for which redis can allocate memory.
  if (count === undefined || count < 1 || count > 576_460_752_303_423_487n) throw replyError('countAboveZero')
  return Number(count)
}

/** XAUTOCLAIM checks up to this many pending entries for each entry that it may claim. */
const attemptsFactor = 10

function autoClaim(
  { db, now }: CommandContext,
  key: Bytes,
  group: Bytes,
  name: Bytes,
  minIdle: number,
  start: StreamId,
  options: AutoClaimOptions,
): Reply {
  const stream = db.container(key, Stream)
  const found = stream?.groups.get(group)
  if (!stream || !found) throw noSuchGroup(key, group)
  db.work.charge(2 * unitsPerEntry * Math.min(options.count * attemptsFactor, found.pending.size))
  const claimed: Reply[] = []
  const gone: Reply[] = []
  let next = found.pending.ceiling(start)
  for (
    let attempts = options.count * attemptsFactor;
    next !== undefined && attempts > 0 && claimed.length + gone.length < options.count;
    attempts--
  ) {
    const { id, value: pending } = next
    const fields = stream.entries.get(id)
    if (fields === undefined) {
      found.forget(id)
      gone.push(formatId(id))
    } else if (minIdle === 0 || now - pending.deliveredAt >= minIdle) {
      pending.deliveredAt = now
      if (!options.justId) pending.deliveries++
      found.hand(id, pending, activeConsumer(db, key, found, name, now))
      claimed.push(options.justId ? formatId(id) : entryReply({ id, value: fields }))
    }
    const following = nextId(id)
    next = following && found.pending.ceiling(following)
  }
  return [formatId(next?.id ?? firstId), claimed, gone]
}
