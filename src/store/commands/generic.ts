import { int, key, oneOrMore } from '../arguments.js'
import { type Command, command } from '../command.js'

export const genericCommands: readonly Command[] = [
  command('DEL', {
    flags: ['write', 'slow', 'keyspace'],
    args: { keys: oneOrMore(key) },
    run({ keys }, { db }) {
      let deleted = 0
      for (const key of keys) {
        if (!db.delete(key)) continue
        db.notify('g', 'del', key)
        deleted++
      }
      return deleted
    },
  }),

  command('EXISTS', {
    flags: ['read', 'fast', 'keyspace'],
    args: { keys: oneOrMore(key) },
    run: ({ keys }, { db }) => keys.filter((key) => db.has(key)).length,
  }),

  command('EXPIRE', {
    flags: ['write', 'fast', 'keyspace'],
    args: { key, seconds: int },
    run({ key, seconds }, { db, now }) {
      if (!db.has(key)) return 0
      if (seconds <= 0) {
        db.delete(key)
        db.notify('g', 'del', key)
      } else {
        db.setDeadline(key, now + seconds * 1000)
        db.notify('g', 'expire', key)
      }
      return 1
    },
  }),

  command('TTL', {
    flags: ['read', 'fast', 'keyspace'],
    since: '1.0.0',
    args: { key },
    run({ key }, { db, now }) {
      const entry = db.find(key)
      if (entry === undefined) return -2
      return entry.expiresAt === undefined ? -1 : Math.floor((entry.expiresAt - now + 500) / 1000)
    },
  }),

  command('PTTL', {
    flags: ['read', 'fast', 'keyspace'],
    since: '2.6.0',
    args: { key },
    run({ key }, { db, now }) {
      const entry = db.find(key)
      if (entry === undefined) return -2
      return entry.expiresAt === undefined ? -1 : entry.expiresAt - now
    },
  }),
]
