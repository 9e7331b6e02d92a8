import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { bytes, key, named, toInt, zeroOrMore } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { replyError, subcommandSyntax } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import type { Database } from '../keyspace/database.js'
import { byName, type Consumer, type ConsumerGroup } from '../values/consumer-group.js'
import { formatId } from '../values/stream-id.js'
import { nodeEntries, Stream } from '../values/stream-value.js'
import { helpCommand } from './help.js'
import { entryReply, take, unitsPerEntry } from './stream-arguments.js'

export const streamInfoCommands: readonly Command[] = [
  command('XINFO STREAM', {
    flags: ['read', 'slow'],
    since: '5.0.0',
    deviations: 'The numbers of keys and nodes in the radix tree are estimates.',
    args: [key('R'), { ...zeroOrMore(bytes), usage: '[FULL [COUNT count]]' }],
    run({ db }, key, option) {
      const stream = streamOf(db, key)
      return option.length === 0 ? summary(stream) : details(stream, fullCount(option), db.work)
    },
  }),

  command('XINFO GROUPS', {
    flags: ['read', 'slow'],
    since: '5.0.0',
    args: [key('R')],
    run({ db }, key) {
      const stream = streamOf(db, key)
      db.work.charge(unitsPerEntry * stream.groups.size)
      return byName(stream.groups).map(([name, group]) =>
        flat({
          name,
          consumers: group.consumers.size,
          pending: group.pending.size,
          'last-delivered-id': formatId(group.lastDelivered),
          'entries-read': group.entriesRead ?? null,
          lag: stream.lagOf(group) ?? null,
        }),
      )
    },
  }),

  command('XINFO CONSUMERS', {
    flags: ['read', 'slow'],
    since: '5.0.0',
    // [store.md 7.2]
    deviations: 'An unknown group has no consumers; redis-server replies with an error.',
    args: [key('R'), named('group', bytes)],
    run({ db, now }, key, group) {
      const found = streamOf(db, key).groups.get(group)
      if (found === undefined) return []
      db.work.charge(unitsPerEntry * found.consumers.size)
      return byName(found.consumers).map(([name, { pending, seenAt }]) =>
        flat({ name, pending: pending.size, idle: Math.max(0, now - seenAt) }),
      )
    },
  }),

  helpCommand('XINFO', '5.0.0', ['slow'], {
    'CONSUMERS <key> <group>': 'Lists the consumers of a group.',
    'GROUPS <key>': 'Lists the groups of a stream.',
    'STREAM <key> [FULL [COUNT <count>]]': 'Describes the stream; FULL adds its entries, groups and consumers.',
  }),
]

function streamOf(db: Database, key: Bytes): Stream {
  const stream = db.container(key, Stream)
  if (stream === undefined) throw replyError('noSuchKey')
  return stream
}

/** Converts an object to alternating names and values. Replies contain maps in this form. */
function flat(fields: Readonly<Record<string, Reply>>): Reply {
  return Object.entries(fields).flatMap(([name, value]) => [latin1(name), value] as Reply[])
}

/** Parses `FULL [COUNT count]`: the number of entries to return, 0 for all of them. */
function fullCount(option: readonly Bytes[]): number {
  const [full, word, count] = option
  if (option.length > 3 || full!.toUpperCase() !== 'FULL') throw subcommandSyntax('XINFO', 'STREAM')
  if (word === undefined) return 10
  if (count === undefined || word.toUpperCase() !== 'COUNT') throw subcommandSyntax('XINFO', 'STREAM')
  const given = toInt(count)
  return given < 0 ? 10 : given
}

function head(stream: Stream): Record<string, Reply> {
  // Redis keeps entries in nodes of a radix tree. The numbers of keys and nodes are estimates, because clients should
  // not depend on the shape of the tree.
  const nodes = Math.ceil(stream.length / nodeEntries)
  return {
    length: stream.length,
    'radix-tree-keys': nodes,
    'radix-tree-nodes': nodes + 1,
    'last-generated-id': formatId(stream.topId),
    'max-deleted-entry-id': formatId(stream.maxDeletedId),
    'entries-added': stream.added,
    'recorded-first-entry-id': formatId(stream.firstEntryId),
  }
}

function summary(stream: Stream): Reply {
  const first = stream.entries.first()
  const last = stream.entries.last()
  return flat({
    ...head(stream),
    groups: stream.groups.size,
    'first-entry': first ? entryReply(first) : null,
    'last-entry': last ? entryReply(last) : null,
  })
}

function details(stream: Stream, count: number, work: Work): Reply {
  const most = count === 0 ? Number.POSITIVE_INFINITY : count
  return flat({
    ...head(stream),
    entries: take(stream.entries, most, work),
    groups: byName(stream.groups).map(([name, group]) => groupDetails(name, group, stream, most, work)),
  })
}

function groupDetails(name: Bytes, group: ConsumerGroup, stream: Stream, most: number, work: Work): Reply {
  const { pending, consumers } = group
  // Each pending entry is returned twice: for the group, and for its consumer.
  work.charge(unitsPerEntry * (consumers.size + Math.min(2 * pending.size, (consumers.size + 1) * most)))
  return flat({
    name,
    'last-delivered-id': formatId(group.lastDelivered),
    'entries-read': group.entriesRead ?? null,
    lag: stream.lagOf(group) ?? null,
    'pel-count': pending.size,
    pending: firstOf(pending, most).map(({ id, value }) => [
      formatId(id),
      value.consumer.name,
      value.deliveredAt,
      value.deliveries,
    ]),
    consumers: byName(consumers).map(([, consumer]) => consumerDetails(consumer, most)),
  })
}

function consumerDetails({ name, seenAt, pending }: Consumer, most: number): Reply {
  return flat({
    name,
    'seen-time': seenAt,
    'pel-count': pending.size,
    pending: firstOf(pending, most).map(({ id, value }) => [formatId(id), value.deliveredAt, value.deliveries]),
  })
}

function firstOf<T>(items: Iterable<T>, most: number): T[] {
  const first: T[] = []
  for (const item of items) {
    first.push(item)
    if (first.length >= most) break
  }
  return first
}
