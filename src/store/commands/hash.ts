import { bytes, key, named, oneOrMore, tuple } from '../arguments.js'
import { type Command, command } from '../command.js'
import { HashValue } from '../values/hash.js'

const field = named('field', bytes)

export const hashCommands: readonly Command[] = [
  command('HSET', {
    flags: ['write', 'fast'],
    since: '2.0.0',
    args: { key, pairs: oneOrMore(tuple(field, bytes)) },
    run({ key, pairs }, { db }) {
      const { fields } = db.container(key, HashValue, 'create')
      const before = fields.size
      for (const [name, value] of pairs) fields.set(name, value)
      db.notify('h', 'hset', key)
      return fields.size - before
    },
  }),

  command('HGET', {
    flags: ['read', 'fast'],
    since: '2.0.0',
    args: { key, field },
    run: ({ key, field }, { db }) => db.container(key, HashValue)?.fields.get(field) ?? null,
  }),

  command('HGETALL', {
    flags: ['read', 'slow'],
    since: '2.0.0',
    args: { key },
    run: ({ key }, { db }) => [...(db.container(key, HashValue)?.fields.entries() ?? [])].flat(),
  }),
]
