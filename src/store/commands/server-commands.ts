import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { globMatcher } from '../../kernel/glob.js'
import { type Arg, bytes, named, oneOrMore, toInt, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { duplicateSetting, invalidEventFlags, replyError, unknownSetting } from '../command/errors.js'
import { ok, type Reply, Status } from '../command/reply.js'
import { parseInt64 } from '../command/text.js'
import { formatEventFlags, parseEventFlags } from '../keyspace/keyspace-events.js'
import { helpCommand } from './help.js'
import { infoText, redisVersion } from './info.js'

/** The only setting of the service. [store.md 7.2] */
const eventSetting = 'notify-keyspace-events'

const flushMode: Arg<readonly Bytes[]> = named('[ASYNC|SYNC]', zeroOrMore(bytes))

function flush(name: string): Command {
  return command(name, {
    flags: ['write', 'slow', 'keyspace', 'dangerous'],
    args: [flushMode],
    run({ db }, mode) {
      if (mode.length > 1 || (mode[0] !== undefined && !/^a?sync$/i.test(mode[0]))) throw replyError('syntax')
      db.clear()
      return ok
    },
  })
}

function set(pairs: readonly Bytes[], { store }: CommandContext): Reply {
  if (pairs.length % 2 !== 0) throw replyError('syntax')
  const seen = new Set<string>()
  for (let at = 0; at < pairs.length; at += 2) {
    const name = pairs[at]!
    const value = pairs[at + 1]!
    if (name.toLowerCase() !== eventSetting) throw unknownSetting(name)
    if (seen.has(eventSetting)) throw duplicateSetting(eventSetting)
    seen.add(eventSetting)
    const flags = parseEventFlags(value)
    if (flags === undefined) throw invalidEventFlags(eventSetting)
    store.eventFlags = flags
  }
  return ok
}

export const serverCommands: readonly Command[] = [
  command('DBSIZE', {
    flags: ['read', 'fast', 'keyspace'],
    args: [],
    run: ({ db }) => db.size,
  }),

  flush('FLUSHALL'),
  flush('FLUSHDB'),

  command('TIME', {
    flags: ['fast'],
    since: '2.6.0',
    deviations: 'Returns the virtual time.',
    args: [],
    run: ({ now }) => [latin1(String(Math.floor(now / 1000))), latin1(String(Math.floor((now % 1000) * 1000)))],
  }),

  command('INFO', {
    flags: ['slow', 'dangerous'],
    deviations:
      'Returns the sections server, clients, memory, persistence, stats, cluster and keyspace, each with a few lines.',
    args: [named('[section …]', zeroOrMore(bytes))],
    run: ({ store }, sections) => latin1(infoText(sections, store)),
  }),

  command('CONFIG GET', {
    flags: ['slow', 'admin', 'dangerous', 'noscript'],
    since: '2.0.0',
    deviations: 'The only setting is notify-keyspace-events.',
    args: [oneOrMore(named('parameter', bytes))],
    run({ store }, patterns) {
      const wanted = patterns.some((pattern) =>
        globMatcher(latin1(pattern.toLowerCase()), store.work)(latin1(eventSetting)),
      )
      return wanted ? [latin1(eventSetting), latin1(formatEventFlags(store.eventFlags))] : []
    },
  }),

  command('CONFIG SET', {
    flags: ['slow', 'admin', 'dangerous', 'noscript'],
    since: '2.0.0',
    deviations: 'The only setting is notify-keyspace-events. If a pair is invalid, the pairs before it stay set.',
    args: [named('parameter', bytes), bytes, named('[parameter value …]', zeroOrMore(bytes))],
    run: (context, name, value, more) => set([name, value, ...more], context),
  }),

  command('CONFIG RESETSTAT', {
    flags: ['slow', 'admin', 'dangerous', 'noscript'],
    since: '2.0.0',
    status: 'redis',
    deviations: 'Resets the counters of INFO, but not the billed amounts.',
    args: [],
    run({ store }) {
      store.meter.resetStatistics()
      return ok
    },
  }),

  helpCommand(
    'CONFIG',
    '5.0.0',
    ['slow'],
    {
      'GET <pattern>': 'Returns matching settings; notify-keyspace-events is the only setting.',
      'SET <directive> <value>': 'Changes the setting.',
      RESETSTAT: 'Resets the counters of INFO.',
    },
    'redis',
  ),

  // Everything is in memory, so only the times of saves are kept.

  command('SAVE', {
    flags: ['slow', 'admin', 'dangerous', 'noscript', 'nomulti'],
    status: 'redis',
    deviations: 'Writes no file; LASTSAVE and INFO show the virtual time of the save.',
    args: [],
    run({ store, now }) {
      store.persistence.save(now)
      return ok
    },
  }),

  command('BGSAVE', {
    flags: ['slow', 'admin', 'dangerous', 'noscript'],
    status: 'redis',
    deviations: 'Ends immediately and writes no file.',
    args: [named('[SCHEDULE]', zeroOrMore(bytes))],
    run({ store, now }, words) {
      if (words.length > 1 || (words[0] !== undefined && words[0].toUpperCase() !== 'SCHEDULE')) {
        throw replyError('syntax')
      }
      store.persistence.save(now)
      return new Status('Background saving started')
    },
  }),

  command('BGREWRITEAOF', {
    flags: ['slow', 'admin', 'dangerous', 'noscript'],
    status: 'redis',
    deviations: 'Ends immediately and writes no file. INFO counts the rewrite.',
    args: [],
    run({ store }) {
      store.persistence.rewrites++
      return new Status('Background append only file rewriting started')
    },
  }),

  command('LASTSAVE', {
    flags: ['fast', 'admin', 'dangerous'],
    status: 'redis',
    deviations: 'Returns the virtual time of the last SAVE or BGSAVE, or of the start.',
    args: [],
    run: ({ store }) => Math.floor(store.persistence.savedAt / 1000),
  }),

  command('ROLE', {
    flags: ['fast', 'admin', 'dangerous', 'noscript'],
    since: '2.8.12',
    status: 'redis',
    deviations: 'Always a master without replicas.',
    args: [],
    run: () => [latin1('master'), 0, []],
  }),

  command('SWAPDB', {
    flags: ['write', 'fast', 'keyspace', 'dangerous'],
    since: '4.0.0',
    status: 'redis',
    deviations: 'There is one database, so both indexes must be 0.',
    args: [named('index1', bytes), named('index2', bytes)],
    run(_context, first, second) {
      if (parseInt64(first) === undefined) throw replyError('firstDbIndex')
      if (parseInt64(second) === undefined) throw replyError('secondDbIndex')
      if (Number(first) !== 0 || Number(second) !== 0) throw replyError('dbIndex')
      return ok
    },
  }),

  command('LOLWUT', {
    flags: ['read', 'fast'],
    since: '5.0.0',
    status: 'redis',
    deviations: 'Prints the version, without a drawing.',
    args: [named('[VERSION version] [arg …]', zeroOrMore(bytes))],
    run(_context, [option, version]) {
      if (option?.toUpperCase() === 'VERSION' && version !== undefined) toInt(version)
      return latin1(`Redis ver. ${redisVersion}\n`)
    },
  }),
]
