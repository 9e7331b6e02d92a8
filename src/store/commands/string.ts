import { latin1 } from '../../kernel/bytes.js'
import { bytes, flag, int, key, options, toInt64 } from '../arguments.js'
import { type Command, command } from '../command.js'
import { invalidExpire, replyError } from '../errors.js'
import { ok } from '../reply.js'

export const stringCommands: readonly Command[] = [
  command('GET', {
    flags: ['read', 'fast'],
    args: { key },
    run: ({ key }, { db }) => db.string(key) ?? null,
  }),

  command('SET', {
    flags: ['write', 'slow'],
    args: {
      key,
      value: bytes,
      options: options({ nx: flag, xx: flag, get: flag, ex: int, px: int, exat: int, pxat: int, keepttl: flag }),
    },
    run({ key, value, options }, { db, now }) {
      const { nx, xx, get, ex, px, exat, pxat, keepttl } = options
      const times = [ex, px, exat, pxat].filter((time) => time !== undefined)
      if ((nx && xx) || times.length + (keepttl ? 1 : 0) > 1) throw replyError('syntax')
      if (times.some((time) => time <= 0)) throw invalidExpire('set')
      const old = get ? db.string(key) : undefined
      const exists = db.has(key)
      if (nx ? exists : xx && !exists) return get ? (old ?? null) : null
      db.set(key, value, keepttl ? 'keep' : 'drop')
      db.notify('$', 'set', key)
      const deadline =
        ex !== undefined ? now + ex * 1000 : px !== undefined ? now + px : exat !== undefined ? exat * 1000 : pxat
      if (deadline !== undefined) {
        db.setDeadline(key, deadline)
        db.notify('g', 'expire', key)
      }
      return get ? (old ?? null) : ok
    },
  }),

  command('INCR', {
    flags: ['write', 'fast'],
    args: { key },
    run({ key }, { db }) {
      const current = toInt64(db.string(key) ?? latin1('0'))
      const next = typeof current === 'number' && current < Number.MAX_SAFE_INTEGER ? current + 1 : BigInt(current) + 1n
      if (next > 0x7fff_ffff_ffff_ffffn) throw replyError('overflow')
      db.set(key, latin1(String(next)), 'keep')
      db.notify('$', 'incrby', key)
      return next
    },
  }),
]
