import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Arg, bytes, key, named, word } from '../command/arguments.js'
import type { BlockingRequest } from '../command/blocking-request.js'
import { type Command, command } from '../command/command.js'
import type { CommandFlag } from '../command/command-description.js'
import { replyError } from '../command/errors.js'
import { NilArray, nilArray, type Reply } from '../command/reply.js'
import { parseDouble } from '../command/text.js'
import { numberedKeys, words } from './collection-arguments.js'
import { popCount } from './list.js'

// Commands that wait for elements. Each one takes an element with the non-blocking command that has the same effect.

const waits: readonly CommandFlag[] = ['write', 'slow', 'blocking', 'noscript']

export const blockingListCommands: readonly Command[] = [
  pop('BLPOP', '2.0.0', 'list', 'LPOP'),
  pop('BRPOP', '2.0.0', 'list', 'RPOP'),

  command('BLMOVE', {
    flags: waits,
    since: '6.2.0',
    args: [key('RW'), key('W'), side('LEFT', 'RIGHT'), side('LEFT', 'RIGHT'), timeout()],
    run: ({ store, user }, source, destination, from, to, timeout) =>
      store.waiting.takeOrWait(moving(source, timeout, ['LMOVE', source, destination, from, to]), user),
  }),

  command('BRPOPLPUSH', {
    flags: waits,
    since: '2.2.0',
    args: [key('RW'), key('W'), timeout()],
    run: ({ store, user }, source, destination, timeout) =>
      store.waiting.takeOrWait(moving(source, timeout, ['RPOPLPUSH', source, destination]), user),
  }),

  popMany('BLMPOP', 'list', 'LMPOP', ['LEFT', 'RIGHT']),
]

export const blockingSortedSetCommands: readonly Command[] = [
  pop('BZPOPMIN', '5.0.0', 'zset', 'ZPOPMIN'),
  pop('BZPOPMAX', '5.0.0', 'zset', 'ZPOPMAX'),
  popMany('BZMPOP', 'zset', 'ZMPOP', ['MIN', 'MAX']),
]

/** Declares a command `key [key …] timeout`, which takes one element of the first key that is not empty. */
function pop(name: string, since: string, type: 'list' | 'zset', taking: string): Command {
  return command(name, {
    flags: type === 'zset' ? ['write', 'fast', 'blocking', 'noscript'] : waits,
    since,
    args: [keysAndTimeout()],
    run({ store, user }, { keys, timeout }) {
      const want: BlockingRequest = {
        keys,
        type,
        timeout,
        nothing: nilArray,
        take: (key) => [latin1(taking), key],
        told: (reply, key) => (reply === null || isEmpty(reply) ? undefined : [key, ...elementsOf(reply)]),
      }
      return store.waiting.takeOrWait(want, user)
    },
  })
}

/**
 * Declares a command `timeout numkeys key [key …] side [COUNT count]`, which takes elements of the first key that is
 * not empty.
 */
function popMany(name: string, type: 'list' | 'zset', taking: string, sides: readonly [string, string]): Command {
  return command(name, {
    flags: waits,
    since: '7.0.0',
    args: [named('timeout', bytes), numberedKeys('RW', 'syntax'), words(`${sides.join(' | ')} [COUNT count]`, 1)],
    run({ store, user }, time, keys, [where, ...options]) {
      const end = where?.toUpperCase()
      if (end === undefined || !sides.includes(end)) throw replyError('syntax')
      const count = latin1(String(popCount(options)))
      const want: BlockingRequest = {
        keys,
        type,
        timeout: milliseconds(time),
        nothing: nilArray,
        take: (key) => [latin1(taking), latin1('1'), key, latin1(end), latin1('COUNT'), count],
        told: (reply) => (reply instanceof NilArray ? undefined : reply),
      }
      return store.waiting.takeOrWait(want, user)
    },
  })
}

function moving(source: Bytes, timeout: number, argv: readonly string[]): BlockingRequest {
  return {
    keys: [source],
    type: 'list',
    timeout,
    nothing: nilArray,
    atOnce: null,
    take: () => argv as readonly Bytes[],
    told: (reply) => (reply === null ? undefined : reply),
  }
}

function isEmpty(reply: Reply): boolean {
  return Array.isArray(reply) && reply.length === 0
}

function elementsOf(reply: Reply): readonly Reply[] {
  return Array.isArray(reply) ? reply : [reply]
}

function keysAndTimeout(): Arg<{ readonly keys: readonly Bytes[]; readonly timeout: number }> {
  return {
    usage: 'key [key …] timeout',
    min: 2,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      const keys: Bytes[] = []
      while (from.left > 1) keys.push(from.key('RW'))
      return { keys, timeout: milliseconds(from.next()) }
    },
  }
}

function side(...sides: readonly [string, string]): Arg<Bytes> {
  return word(sides.join(' | '), (given) => {
    const upper = given.toUpperCase()
    if (!sides.includes(upper)) throw replyError('syntax')
    return latin1(upper)
  })
}

function timeout(): Arg<number> {
  return word('timeout', milliseconds)
}

/** Parses seconds, possibly with a fraction, and rounds up to milliseconds. [redis 7.0] */
function milliseconds(word: Bytes): number {
  const seconds = parseDouble(word)
  if (seconds === undefined) throw replyError('timeoutNotFloat')
  // redis overflows to a negative number for values that are too large.
  if (seconds < 0 || seconds * 1000 >= 2 ** 63) throw replyError('timeoutNegative')
  // Subtracts a rounding error, so that 1.1 seconds become 1100 ms instead of 1101.
  return seconds === 0 ? 0 : Math.max(1, Math.ceil(seconds * 1000 - 1e-6))
}
