import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Arg, bytes, int, key, named, oneOrMore, options } from '../command/arguments.js'
import type { BlockingRequest } from '../command/blocking-request.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { nilArray, ok, type Reply } from '../command/reply.js'
import type { Database } from '../keyspace/database.js'
import type { IdEntry } from '../values/id-table.js'
import {
  compareIds,
  firstId,
  formatId,
  isZero,
  lastId,
  nextId,
  previousId,
  type StreamId,
} from '../values/stream-id.js'
import { Stream, type StreamFields, type Trim } from '../values/stream-value.js'
import { lengthOf } from './collection-commands.js'
import {
  type Addition,
  addition,
  countWords,
  markedIds,
  rangeBackwards,
  rangeEnd,
  rangeStart,
  reading,
  streamReply,
  take,
  toId,
  trimOptions,
  unitsPerEntry,
} from './stream-arguments.js'
import { streamGroupCommands } from './stream-group.js'
import { refuseFullIndex, unitsPerNote } from './stream-index.js'
import { streamInfoCommands } from './stream-info.js'

const id = named('id', bytes)
const streamId: Arg<StreamId> = { usage: 'id', min: 1, max: 1, read: (from) => toId(from.next()) }

const aboutSoMany =
  'With `~`, nothing is deleted until there are 100 surplus entries. Then all of them are deleted. redis-server deletes whole nodes of 100 entries.'

export const streamCommands: readonly Command[] = [
  command('XADD', {
    flags: ['write', 'fast'],
    since: '5.0.0',
    deviations: aboutSoMany,
    args: [key('W'), addition],
    run(context, key, addition) {
      const { db, now } = context
      refuseFullIndex(context, key)
      const { create, trim, fields } = addition
      const stream = create ? db.container(key, Stream, 'create') : db.container(key, Stream)
      if (stream === undefined) return null
      const id = chosenId(addition, stream, Math.floor(now))
      if (trim !== undefined) db.work.charge(trimWork(stream, trim))
      stream.append(id, fields)
      db.notify('t', 'xadd', key)
      if (trim !== undefined && stream.trim(trim) > 0) db.notify('t', 'xtrim', key)
      return formatId(id)
    },
  }),

  command('XTRIM', {
    flags: ['write', 'slow'],
    since: '5.0.0',
    deviations: aboutSoMany,
    args: [key('W'), trimOptions],
    run({ db }, key, trim) {
      const stream = db.container(key, Stream)
      if (stream !== undefined) db.work.charge(trimWork(stream, trim))
      const trimmed = stream?.trim(trim) ?? 0
      if (trimmed > 0) db.notify('t', 'xtrim', key)
      return trimmed
    },
  }),

  lengthOf('XLEN', Stream, (stream) => stream.length, '5.0.0'),

  command('XRANGE', {
    flags: ['read', 'slow'],
    since: '5.0.0',
    args: [key('R'), rangeStart, rangeEnd, options({ count: int })],
    run: ({ db }, key, start, end, { count }) => ranged(db, key, count, (entries) => entries.range(start, end)),
  }),

  command('XREVRANGE', {
    flags: ['read', 'slow'],
    since: '5.0.0',
    args: [key('R'), rangeBackwards, options({ count: int })],
    run: ({ db }, key, [start, end], { count }) => ranged(db, key, count, (entries) => entries.backwards(start, end)),
  }),

  command('XDEL', {
    flags: ['write', 'fast'],
    since: '5.0.0',
    args: [key('W'), oneOrMore(id)],
    run({ db }, key, ids) {
      const stream = db.container(key, Stream)
      if (stream === undefined) return 0
      const deleted = ids.map(toId).filter((id) => stream.delete(id)).length
      if (deleted > 0) db.notify('t', 'xdel', key)
      return deleted
    },
  }),

  command('XDELEX', {
    flags: ['write', 'fast'],
    since: '8.2.0',
    args: [key('W'), markedIds],
    run({ db }, key, { references, ids }) {
      const stream = db.container(key, Stream)
      db.work.charge(ids.length * (stream?.groups.size ?? 0))
      const outcomes = ids.map((id) => {
        if (stream?.entries.has(id) !== true) return -1
        if (references === 'protect' && stream.isReferenced(id)) return 2
        if (references === 'drop') stream.dropReferences(id)
        stream.delete(id)
        return 1
      })
      if (outcomes.includes(1)) db.notify('t', 'xdel', key)
      return outcomes
    },
  }),

  command('XREAD', {
    flags: ['read', 'slow', 'blocking'],
    since: '5.0.0',
    deviations: 'Over REST, BLOCK is accepted but does not wait.',
    args: [reading('XREAD')],
    run({ db, store }, { streams, count, block }) {
      const requests = streams.map(([key, id]): [Bytes, Stream | undefined, StreamId] => {
        const stream = db.container(key, Stream)
        return [key, stream, readFrom(id, stream)]
      })
      const replies: Reply[] = []
      for (const [key, stream, after] of requests) {
        if (stream === undefined || compareIds(stream.lastEntryId, after) <= 0) continue
        replies.push([key, take(stream.entries.range(nextId(after)!, lastId), count, db.work)])
      }
      if (replies.length > 0 || block === undefined) return replies.length > 0 ? replies : nilArray
      const after = new Map(requests.map(([key, _stream, id]) => [key, formatId(id)]))
      return store.waiting.waitFor(nextEntries(after, count, block))
    },
  }),

  command('XSETID', {
    flags: ['write', 'fast'],
    since: '5.0.0',
    status: 'redis',
    args: [key('W'), streamId, options({ entriesadded: entriesAdded(), maxdeletedid: streamId })],
    run: setId,
  }),

  ...streamGroupCommands,
  ...streamInfoCommands,
]

/** Returns a request that waits for entries after these IDs. `$` is replaced by an ID when the wait begins. */
function nextEntries(after: ReadonlyMap<Bytes, Bytes>, count: number, timeout: number): BlockingRequest {
  const limit = countWords(count)
  return {
    keys: [...after.keys()],
    type: 'stream',
    timeout,
    nothing: nilArray,
    take: (key) => [latin1('XREAD'), ...limit, latin1('STREAMS'), key, after.get(key)!],
    told: streamReply,
  }
}

/** Returns the ID of a new entry, always higher than all earlier ones. */
function chosenId({ id }: Addition, stream: Stream, now: number): StreamId {
  const { topId } = stream
  const next = nextId(topId)
  if (next === undefined) throw replyError('streamExhausted')
  if (id === '*') return now > topId.ms ? { ms: now, seq: 0 } : next
  const { ms, seq } = id
  const chosen = seq !== undefined ? { ms, seq } : ms !== topId.ms ? { ms, seq: 0 } : next
  // After the last sequence number of a millisecond, the next ID would belong to the next millisecond.
  if (chosen.ms !== ms || compareIds(chosen, topId) <= 0) throw replyError('smallStreamId')
  return chosen
}

/** Returns the work of trimming. If groups must be checked, entries are removed one by one. */
function trimWork({ entries, groups, follower }: Stream, { to, limit, references }: Trim): number {
  const surplus = 'length' in to ? Math.max(0, entries.size - to.length) : entries.countBelow(to.id)
  // The index over a stream notes each deleted entry.
  const units = follower === undefined ? 1 : unitsPerNote
  if (references === 'keep' || groups.size === 0) return units * Math.min(surplus, limit)
  // Entries that groups protect are skipped, which also costs work.
  const passed = references === 'protect' ? ('length' in to ? entries.size : surplus) : Math.min(surplus, limit)
  return passed * (unitsPerEntry + 8 * groups.size)
}

/** Returns the ID after which XREAD begins. */
function readFrom(word: Bytes, stream: Stream | undefined): StreamId {
  if (word === '>') throw replyError('newerWithoutGroup')
  if (word === '$') return stream?.topId ?? firstId
  // For `+`, XREAD returns the last entry, even if it is old. [redis 7.4]
  if (word === '+') return previousId(stream?.lastEntryId ?? firstId) ?? firstId
  return toId(word)
}

function ranged(
  db: Database,
  key: Bytes,
  count: number | undefined,
  rangeOf: (entries: Stream['entries']) => Iterable<IdEntry<StreamFields>>,
): Reply {
  const stream = db.container(key, Stream)
  if (stream === undefined) return []
  if (count !== undefined && count <= 0) return nilArray
  return take(rangeOf(stream.entries), count ?? Number.POSITIVE_INFINITY, db.work)
}

function entriesAdded(): Arg<number> {
  return {
    ...int,
    usage: 'entries-added',
    read(from) {
      const count = int.read(from)
      if (count < 0) throw replyError('entriesAdded')
      return count
    },
  }
}

interface SetIdOptions {
  readonly entriesadded?: number
  readonly maxdeletedid?: StreamId
}

function setId({ db }: CommandContext, key: Bytes, top: StreamId, options: SetIdOptions): Reply {
  const { entriesadded, maxdeletedid: deleted } = options
  if (deleted !== undefined && compareIds(top, deleted) < 0) throw replyError('setIdBelowGiven')
  const stream = db.container(key, Stream)
  if (stream === undefined) throw replyError('noSuchKey')
  if (stream.length > 0) {
    if (compareIds(top, stream.lastEntryId) < 0) throw replyError('setIdBelowTop')
    if (entriesadded !== undefined && stream.length > entriesadded) throw replyError('setIdBelowLength')
  }
  stream.topId = top
  if (entriesadded !== undefined) stream.added = entriesadded
  if (deleted !== undefined && !isZero(deleted)) stream.maxDeletedId = deleted
  db.notify('t', 'xsetid', key)
  return ok
}
