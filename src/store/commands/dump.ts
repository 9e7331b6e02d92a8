import { type Bytes, latin1, text, utf8 } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import { bytes, flag, key, named, options, toInt64 } from '../arguments.js'
import { type Command, command } from '../command.js'
import type { Value } from '../database.js'
import { replyError } from '../errors.js'
import { type PortableValue, portableValue, storedValue } from '../portable.js'
import { ok } from '../reply.js'
import { deadlineIn } from './deadline.js'

/** Of our own payload: the value as JSON, then this mark with the version, then a checksum of all that. */
const mark = 'SD\x01'
const checksumLength = 8

export function sealed(value: Value): Bytes {
  const content = utf8(JSON.stringify(portableValue(value))) + mark
  return latin1(content + checksum(content))
}

function unsealed(payload: Bytes): Value {
  const content = payload.slice(0, -checksumLength)
  const intact = content.endsWith(mark) && payload.slice(-checksumLength) === checksum(content)
  if (!intact) throw replyError('badDump')
  return storedValue(JSON.parse(text(latin1(content.slice(0, -mark.length)))) as PortableValue)
}

function checksum(content: string): string {
  return sha256Bytes(latin1(content)).slice(0, checksumLength)
}

const restoreOptions = options({
  replace: flag,
  absttl: flag,
  idletime: named('seconds', bytes),
  freq: named('frequency', bytes),
})

/** They only matter to the eviction of a real server, but are checked like there. */
function checkUse({ idletime, freq }: ReturnType<typeof restoreOptions.read>): void {
  if (idletime !== undefined && freq !== undefined) throw replyError('syntax')
  if (idletime !== undefined && toInt64(idletime) < 0) throw replyError('negativeIdleTime')
  if (freq === undefined) return
  const frequency = toInt64(freq)
  if (frequency < 0 || frequency > 255) throw replyError('frequencyRange')
}

export const dumpCommands: readonly Command[] = [
  command('DUMP', {
    flags: ['read', 'slow', 'keyspace'],
    since: '2.6.0',
    deviations: 'The payload has a format of its own, with a version and a checksum.',
    args: { key },
    run({ key }, { db }) {
      const entry = db.find(key)
      return entry === undefined ? null : sealed(entry.value)
    },
  }),

  command('RESTORE', {
    flags: ['write', 'slow', 'keyspace', 'dangerous'],
    since: '2.6.0',
    deviations: 'Takes payloads of its own DUMP only.',
    args: {
      key,
      ttl: named('ttl', bytes),
      payload: named('serialized-value', bytes),
      options: restoreOptions,
    },
    run({ key, ttl, payload, options }, { db, now }) {
      checkUse(options)
      if (!options.replace && db.has(key)) throw replyError('busyKey')
      const time = toInt64(ttl)
      if (time < 0) throw replyError('negativeTtl')
      const value = unsealed(payload)
      const deadline = time === 0 ? undefined : deadlineIn(time, 1, options.absttl ? 0 : now, 'restore')
      const existed = db.delete(key)
      if (deadline !== undefined && deadline <= now) {
        if (existed) db.notify('g', 'del', key)
        return ok
      }
      db.set(key, value)
      db.setDeadline(key, deadline)
      db.notify('g', 'restore', key)
      return ok
    },
  }),
]
