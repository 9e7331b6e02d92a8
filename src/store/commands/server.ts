import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { globMatcher } from '../../kernel/glob.js'
import { type Arg, bytes, named, oneOrMore, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { duplicateSetting, invalidEventFlags, notAvailable, replyError, unknownSetting } from '../command/errors.js'
import { ok, type Reply } from '../command/reply.js'
import { formatEventFlags, parseEventFlags } from '../keyspace/keyspace-events.js'

import { infoText } from './info.js'

/** The one setting that the service has. [store.md 7.2] */
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
    deviations: 'Tells the virtual time.',
    args: [],
    run: ({ now }) => [latin1(String(Math.floor(now / 1000))), latin1(String(Math.floor((now % 1000) * 1000)))],
  }),

  command('INFO', {
    flags: ['slow', 'dangerous'],
    deviations: 'Has the sections server, clients, memory, stats, cluster and keyspace, each with few lines.',
    args: [named('[section …]', zeroOrMore(bytes))],
    run: ({ store }, sections) => latin1(infoText(sections, store)),
  }),

  command('COMMAND', {
    flags: ['slow', 'connection'],
    since: '2.8.13',
    deviations: 'Always an empty list; no subcommands.',
    args: [named('', zeroOrMore(bytes))],
    run({ store }, rest) {
      if (rest[0] !== undefined) throw notAvailable(latin1(`COMMAND ${rest[0]}`), store.docs)
      return []
    },
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
    deviations: 'The only setting is notify-keyspace-events. Pairs before a wrong one stay set.',
    args: [named('parameter', bytes), bytes, named('[parameter value …]', zeroOrMore(bytes))],
    run: (context, name, value, more) => set([name, value, ...more], context),
  }),
]
