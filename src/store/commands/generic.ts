import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { globMatcher } from '../../kernel/glob.js'
import {
  type Arg,
  bytes,
  flag,
  int,
  key,
  named,
  oneOrMore,
  options,
  toInt,
  toWaitTime,
  zeroOrMore,
} from '../command/arguments.js'
import type { BlockingRequest } from '../command/blocking-request.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { ok, type Reply, Status } from '../command/reply.js'
import type { Database } from '../keyspace/database.js'
import { JsonDocument } from '../values/json-value.js'
import type { ValueType } from '../values/value.js'
import { wholePages, wideCursorArg, within } from './collection-arguments.js'
import { dumpCommands } from './dump-commands.js'
import { expiryCommands } from './expiry.js'
import { objectCommands } from './object.js'
import { sortCommands } from './sort.js'
import { refuseMovedStream, refuseSecondIndex } from './stream-index.js'

const source = named('source', key('R'))
const destination = named('destination', key('W'))

// ---- removal ----------------------------------------------------------------------------------------------------

interface Removal {
  readonly since: string
  readonly speed: 'fast' | 'slow'
  readonly keys?: Arg<Bytes[]>
  readonly deviations?: string
}

function remove(name: string, { since, speed, keys = oneOrMore(key('W')), deviations = '' }: Removal): Command {
  return command(name, {
    flags: ['write', speed, 'keyspace'],
    since,
    deviations,
    args: [keys],
    run({ db }, keys) {
      let removed = 0
      for (const key of keys) {
        if (!db.delete(key)) continue
        db.notify('g', 'del', key)
        removed++
      }
      return removed
    },
  })
}

// [search.md 15]
const withoutStreams = 'Streams with a search index are rejected, see `policy.streamRename`.'

/**
 * Renames a key, which keeps its expiration. If the new name already exists, its value is replaced without an event.
 */
function rename(db: Database, from: Bytes, to: Bytes): void {
  const { value, expiresAt } = db.find(from)!
  db.put(to, value, expiresAt)
  db.delete(from)
  db.notify('g', 'rename_from', from)
  db.notify('g', 'rename_to', to)
}

function copy(db: Database, from: Bytes, to: Bytes): void {
  const { value, expiresAt } = db.find(from)!
  if (value instanceof JsonDocument) value.pay(db.work)
  db.put(to, typeof value === 'string' ? value : value.copy(), expiresAt)
  db.notify('g', 'copy_to', to)
}

// ---- SCAN -------------------------------------------------------------------------------------------------------

/** The service visits at most this many keys per call, even for a larger COUNT. [store.md 7.2, 10] */
const scanLimit = 1000

const scanOptions = options({
  match: named('pattern', bytes),
  count: int,
  type: named('type', bytes),
  withtype: flag,
})

function scan(cursor: bigint, wanted: ReturnType<typeof scanOptions.read>, { db, store }: CommandContext): Reply {
  const { match = latin1('*'), count = store.options.policy.scanPageSize, type, withtype } = wanted
  if (count < 1) throw replyError('syntax')
  const matches = globMatcher(match, db.work)
  const wantedType = type?.toLowerCase()
  const page = db.entries.scan(store.cursors.place(cursor), Math.min(count, scanLimit))
  const items: Bytes[] = []
  for (const key of page.keys) {
    const found = db.type(key)
    if (!matches(key) || (wantedType !== undefined && wantedType !== found)) continue
    items.push(key)
    if (withtype) items.push(latin1(found))
  }
  return [latin1(store.cursors.of(page.cursor)), items]
}

/** Replies of TYPE, one object per type, so that a reply allocates nothing. */
const typeNames: Record<ValueType | 'none', Status> = {
  string: new Status('string'),
  list: new Status('list'),
  set: new Status('set'),
  zset: new Status('zset'),
  hash: new Status('hash'),
  stream: new Status('stream'),
  array: new Status('array'),
  json: new Status('json'),
  search: new Status('search'),
  vector: new Status('vector'),
  none: new Status('none'),
}

export const genericCommands: readonly Command[] = [
  remove('DEL', { since: '1.0.0', speed: 'slow' }),
  // [store.md 7.2]
  remove('UNLINK', {
    since: '4.0.0',
    speed: 'fast',
    keys: zeroOrMore(key('W')),
    deviations: 'Replies 0 without keys.',
  }),

  command('EXISTS', {
    flags: ['read', 'fast', 'keyspace'],
    args: [oneOrMore(key(''))],
    run: ({ db }, keys) => countExisting(db, keys),
  }),

  command('TOUCH', {
    flags: ['read', 'fast', 'keyspace'],
    since: '3.2.1',
    args: [oneOrMore(key(''))],
    run({ db }, keys) {
      for (const key of keys) db.use(key)
      return countExisting(db, keys)
    },
  }),

  command('TYPE', {
    flags: ['read', 'fast', 'keyspace'],
    deviations: 'A JSON document is of type `json`, which the open-source module calls `ReJSON-RL`.',
    args: [key('')],
    run: ({ db }, key) => typeNames[db.type(key)],
  }),

  command('KEYS', {
    flags: ['read', 'slow', 'keyspace', 'dangerous'],
    args: [named('pattern', bytes)],
    work: (db) => 2 * db.keyCount,
    run({ db }, pattern) {
      const matches = globMatcher(pattern, db.work)
      return [...db.entries.keys()].filter(matches)
    },
  }),

  command('SCAN', {
    flags: ['read', 'slow', 'keyspace', 'dangerous'],
    since: '2.8.0',
    deviations: `WITHTYPE adds the type after each key. ${wholePages} One call visits at most ${scanLimit} keys. Cursors are opaque 64-bit numbers. A number that no SCAN returned ends the scan. A cursor that was rounded to a float, or returned before a load, restarts the scan.`,
    args: [wideCursorArg, scanOptions],
    run: (context, cursor, options) => scan(cursor, options, context),
  }),

  command('RANDOMKEY', {
    flags: ['read', 'slow', 'keyspace'],
    args: [],
    run: ({ db, random }) => (db.size === 0 ? null : db.entries.random(random)),
  }),

  command('RENAME', {
    flags: ['write', 'slow', 'keyspace'],
    deviations: withoutStreams,
    args: [named('key', key('RW')), named('newkey', key('W'))],
    run(context, from, to) {
      const { db } = context
      if (db.use(from) === undefined) throw replyError('noSuchKey')
      refuseMovedStream(context, 'RENAME', from, to)
      if (from !== to) rename(db, from, to)
      return ok
    },
  }),

  command('RENAMENX', {
    flags: ['write', 'fast', 'keyspace'],
    deviations: withoutStreams,
    args: [named('key', key('RW')), named('newkey', key('W'))],
    run(context, from, to) {
      const { db } = context
      if (db.use(from) === undefined) throw replyError('noSuchKey')
      refuseMovedStream(context, 'RENAMENX', from, to)
      if (db.use(to) !== undefined) return 0
      rename(db, from, to)
      return 1
    },
  }),

  command('COPY', {
    flags: ['write', 'slow', 'keyspace'],
    since: '6.2.0',
    // [store.md 7.2]
    deviations:
      'There is one database, so DB must be 0. Copying a key onto itself does nothing; redis-server rejects such a copy. Streams with a search index are rejected, see `policy.streamRename`.',
    args: [source, destination, options({ db: within('integer', 0, 0, 'dbIndex'), replace: flag })],
    work: (db, source) => 6 * db.sizeOf(source),
    run(context, source, destination, options) {
      const { db } = context
      const value = db.use(source)
      if (value === undefined || source === destination) return 0
      refuseMovedStream(context, 'COPY', source, destination)
      refuseSecondIndex(db, value, destination)
      if (db.use(destination) !== undefined && !options.replace) return 0
      copy(db, source, destination)
      return 1
    },
  }),

  command('MOVE', {
    flags: ['write', 'fast', 'keyspace'],
    status: 'redis',
    deviations: 'There is one database, so a key cannot be moved.',
    args: [key('RW'), named('db', bytes)],
    run(_context, _key, index) {
      if (toInt(index) !== 0) throw replyError('dbIndex')
      throw replyError('sameObject')
    },
  }),

  ...expiryCommands,
  ...dumpCommands,
  ...objectCommands,
  ...sortCommands,

  command('WAIT', {
    flags: ['slow', 'connection', 'noscript'],
    since: '3.0.0',
    deviations: 'There are no replicas, so the reply is 0: over REST immediately, on a connection after the timeout.',
    args: [named('numreplicas', int), named('timeout', bytes)],
    run({ store }, replicas, word) {
      const timeout = toWaitTime(word)
      return replicas > 0 ? store.waiting.waitFor(timeOnly(timeout, 0)) : 0
    },
  }),

  command('WAITAOF', {
    flags: ['slow', 'connection', 'noscript'],
    since: '7.2.0',
    deviations:
      'There are no replicas, so the reply is 1 (local) and 0: over REST immediately, on a connection after the timeout.',
    args: [named('numlocal', int), named('numreplicas', int), named('timeout', bytes)],
    run({ store }, local, replicas, word) {
      const timeout = toWaitTime(word)
      if (local < 0 || local > 1) throw replyError('waitLocal')
      return replicas > 0 ? store.waiting.waitFor(timeOnly(timeout, [1, 0])) : [1, 0]
    },
  }),
]

function countExisting(db: Database, keys: readonly Bytes[]): number {
  let count = 0
  for (const key of keys) if (db.has(key)) count++
  return count
}

/** Returns a request that only waits for the timeout, because no client can end the wait. */
function timeOnly(timeout: number, nothing: Reply): BlockingRequest {
  return { keys: [], type: undefined, timeout, nothing, take: () => [], told: () => undefined }
}
