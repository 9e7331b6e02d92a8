import { type Bytes, utf8 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { bytes, deadlineIn, flag, key, named, options, toInt64 } from '../command/arguments.js'
import { type Command, type CommandRow, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { ok } from '../command/reply.js'
import { portableValue } from '../dump/portable-values.js'
import { contentOf, sealed, unsealed } from '../dump/seal.js'
import { restoredValue } from '../dump/snapshot.js'
import type { KeyspaceValue } from '../keyspace/database.js'
import { measure } from '../keyspace/measure.js'
import { JsonDocument } from '../values/json-value.js'
import { RawString } from '../values/raw-string.js'
import { within } from './collection-arguments.js'
import { refuseSecondIndex } from './stream-index.js'

const mark = 'SD\x01'

function payloadOf(value: KeyspaceValue): Bytes {
  return sealed(utf8(JSON.stringify(portableValue(value))), mark)
}

/** Units of work to check and store a value in a payload: a text, a number, a list. [measured] */
const unitsPerItem = 24

/** Charges the work for all values in a payload, also nested ones. */
function chargeItems(content: unknown, work: Work): void {
  const open = [content]
  while (open.length > 0) {
    const item = open.pop()
    if (typeof item !== 'object' || item === null) continue
    const items: readonly unknown[] = Array.isArray(item) ? item : Object.values(item)
    work.charge(unitsPerItem * items.length)
    for (const inner of items) open.push(inner)
  }
}

/** Returns the value of a payload. Anyone can compute the checksum, so the content is not trusted. */
function valueIn(payload: Bytes, work: Work): KeyspaceValue {
  const content = contentOf(unsealed(payload, mark))
  chargeItems(content, work)
  const value = restoredValue(content)
  if (value === undefined) throw replyError('badDump')
  return value
}

/**
 * Options of RESTORE. FREQ has no effect, because on a real server it only affects the eviction of keys. Invalid values
 * of FREQ are rejected nevertheless.
 */
const restoreOptions = options({
  replace: flag,
  absttl: flag,
  idletime: within('seconds', 0, Number.POSITIVE_INFINITY, 'negativeIdleTime'),
  freq: within('frequency', 0, 255, 'frequencyRange'),
})

function restore(name: string, row: Pick<CommandRow<[]>, 'since' | 'status' | 'deviations'>): Command {
  return command(name, {
    ...row,
    flags: ['write', 'slow', 'keyspace', 'dangerous'],
    args: [key('W'), named('ttl', bytes), named('serialized-value', bytes), restoreOptions],
    work: (_db, _key, _ttl, payload) => payload.length >>> 1,
    run({ db, now }, key, ttl, payload, options) {
      if (options.idletime !== undefined && options.freq !== undefined) throw replyError('syntax')
      if (!options.replace && db.has(key)) throw replyError('busyKey')
      const time = toInt64(ttl)
      if (time < 0) throw replyError('negativeTtl')
      const value = valueIn(payload, db.work)
      refuseSecondIndex(db, value, key)
      const deadline = time === 0 ? undefined : deadlineIn(time, 1, options.absttl ? 0 : now, 'restore')
      if (deadline !== undefined && deadline <= now) {
        if (db.delete(key)) db.notify('g', 'del', key)
        return ok
      }
      db.put(key, value, deadline)
      if (options.idletime !== undefined) db.setIdle(key, options.idletime)
      db.notify('g', 'restore', key)
      return ok
    },
  })
}

export const dumpCommands: readonly Command[] = [
  restore('RESTORE', { since: '2.6.0', deviations: 'Accepts only payloads that the double created with DUMP.' }),
  restore('RESTORE-ASKING', {
    since: '3.0.0',
    status: 'redis',
    deviations: 'The nodes of a Redis Cluster use this command. On a single server, it is the same as RESTORE.',
  }),

  command('DUMP', {
    flags: ['read', 'slow', 'keyspace'],
    since: '2.6.0',
    deviations: "The payload has the double's own format, with a version and a checksum.",
    args: [key('R')],
    work: (db, key) => 10 * db.sizeOf(key),
    run({ db }, key) {
      const value = db.use(key)
      if (value === undefined) return null
      if (value instanceof JsonDocument) value.pay(db.work)
      if (value instanceof RawString) db.textOf(value)
      db.work.charge(measure(value).bytes >>> 2)
      return payloadOf(value)
    },
  }),
]
