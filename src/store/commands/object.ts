import { latin1 } from '../../kernel/bytes.js'
import { key, options } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { parseInt64 } from '../command/text.js'
import type { KeyspaceValue } from '../keyspace/database.js'
import { measure } from '../keyspace/measure.js'
import { isCompactHash, isCompactSortedSet, isIntegerSet } from '../values/compact.js'
import { HashValue } from '../values/hash-value.js'
import { JsonDocument } from '../values/json-value.js'
import { SetValue } from '../values/set-value.js'
import { SortedSet } from '../values/sorted-set-value.js'
import { within } from './collection-arguments.js'
import { helpCommand } from './help.js'

// Encodings are chosen with the default limits of redis-server 7.0.

const maxEmbedded = 44
function encodingOf(value: KeyspaceValue): string {
  if (typeof value === 'string') {
    if (parseInt64(value) !== undefined) return 'int'
    return value.length <= maxEmbedded ? 'embstr' : 'raw'
  }
  if (value instanceof HashValue) return isCompactHash(value) ? 'listpack' : 'hashtable'
  if (value instanceof SetValue) return isIntegerSet(value) ? 'intset' : 'hashtable'
  if (value instanceof SortedSet) return isCompactSortedSet(value) ? 'listpack' : 'skiplist'
  if (value.type === 'array') return 'sliced-array'
  return value.type === 'list' ? 'quicklist' : value.type === 'string' ? 'raw' : value.type
}

// Reference counts are those observed on redis-server 7.0.

/** Matches the numbers that are shared objects in redis-server: all keys with the same number share one object. */
const sharedNumber = /^(?:0|[1-9]\d{0,3})$/
const sharedCount = 2_147_483_647

function isShared(value: KeyspaceValue): boolean {
  return typeof value === 'string' && sharedNumber.test(value)
}

// ---- memory -----------------------------------------------------------------------------------------------------

/**
 * Approximate bytes that redis-server uses for a key, in addition to its content. `elementOverhead` is the number of
 * bytes for an element of a collection.
 */
const keyOverhead = 48
const elementOverhead = 16

export const objectCommands: readonly Command[] = [
  command('OBJECT ENCODING', {
    flags: ['read', 'slow', 'keyspace'],
    since: '2.2.3',
    status: 'redis',
    deviations:
      'The encoding depends only on the current value. redis-server keeps a larger encoding after a value has shrunk.',
    args: [key('')],
    run({ db }, key) {
      const value = db.value(key)
      return value === undefined ? null : latin1(encodingOf(value))
    },
  }),

  command('OBJECT REFCOUNT', {
    flags: ['read', 'slow', 'keyspace'],
    since: '2.2.3',
    status: 'redis',
    deviations:
      'The count depends only on the current value. redis-server does not share numbers that COPY or a script has written.',
    args: [key('')],
    run({ db }, key) {
      const value = db.value(key)
      return value === undefined ? null : isShared(value) ? sharedCount : 1
    },
  }),

  command('OBJECT IDLETIME', {
    flags: ['read', 'slow', 'keyspace'],
    since: '2.2.3',
    status: 'redis',
    args: [key('')],
    run({ db, now }, key) {
      const entry = db.find(key)
      return entry === undefined ? null : Math.floor(now / 1000) - entry.usedAt
    },
  }),

  command('OBJECT FREQ', {
    flags: ['read', 'slow', 'keyspace'],
    since: '4.0.0',
    status: 'redis',
    args: [key('')],
    run({ db }, key) {
      if (!db.has(key)) return null
      throw replyError('noFrequency')
    },
  }),

  helpCommand(
    'OBJECT',
    '6.2.0',
    ['slow', 'keyspace'],
    {
      'ENCODING <key>': 'Returns the encoding that redis-server would use for the value of a key.',
      'FREQ <key>': 'Always an error, because the double has no LFU eviction policy.',
      'IDLETIME <key>': 'Returns the seconds of virtual time since the last use of a key.',
      'REFCOUNT <key>': 'Returns 1, or 2147483647 for a small number, which all keys share.',
    },
    'redis',
  ),

  command('MEMORY USAGE', {
    flags: ['read', 'slow'],
    since: '4.0.0',
    deviations: 'An estimate.',
    args: [key(''), options({ samples: within('integer', 0, Number.POSITIVE_INFINITY, 'syntax') })],
    work: (db, key) => 2 * db.sizeOf(key),
    run({ db }, key) {
      const value = db.value(key)
      if (value === undefined) return null
      if (value instanceof JsonDocument) value.pay(db.work)
      const { elements, bytes } = measure(value)
      return keyOverhead + key.length + bytes + elements * elementOverhead
    },
  }),
]
