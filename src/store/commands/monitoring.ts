import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Arg, bytes, named, zeroOrMore } from '../command/arguments.js'
import type { CommandStore } from '../command/command.js'
import { type Command, command } from '../command/command.js'
import type { CommandFlag } from '../command/command-description.js'
import { noLatencySamples, replyError, subcommandSyntax } from '../command/errors.js'
import { ok, type Reply } from '../command/reply.js'
import { parseInt64 } from '../command/text.js'
import { helpCommand } from './help.js'
import { usedMemory } from './info.js'

// Commands about the operation of a single in-memory server. Commands take no virtual time, so no command is slow.

const watching: readonly CommandFlag[] = ['slow', 'admin', 'dangerous', 'noscript']

/** Parser for the number of entries of SLOWLOG GET; -1 for all. */
const slowCount: Arg<readonly Bytes[]> = {
  ...named('[count]', zeroOrMore(bytes)),
  read(from) {
    const words = from.rest()
    if (words.length > 1) throw subcommandSyntax('SLOWLOG', 'GET')
    const count = words[0] === undefined ? 10 : parseInt64(words[0])
    if (count === undefined || count < -1) throw replyError('slowlogCount')
    return words
  },
}

const slowlogCommands: readonly Command[] = [
  command('SLOWLOG GET', {
    flags: ['slow', 'admin', 'dangerous'],
    since: '2.2.12',
    status: 'redis',
    deviations: 'Always empty, because commands take no virtual time, so no command is slow.',
    args: [slowCount],
    run: () => [],
  }),
  command('SLOWLOG LEN', {
    flags: ['slow', 'admin', 'dangerous'],
    since: '2.2.12',
    status: 'redis',
    deviations: 'Always 0.',
    args: [],
    run: () => 0,
  }),
  command('SLOWLOG RESET', {
    flags: ['slow', 'admin', 'dangerous'],
    since: '2.2.12',
    status: 'redis',
    deviations: 'Does nothing, because the log is always empty.',
    args: [],
    run: () => ok,
  }),
  helpCommand(
    'SLOWLOG',
    '6.2.0',
    ['slow'],
    {
      'GET [<count>]': 'Returns an empty list, because commands take no virtual time.',
      LEN: 'Always returns 0.',
      RESET: 'Empties the log.',
    },
    'redis',
  ),
]

const latencyCommands: readonly Command[] = [
  command('LATENCY LATEST', {
    flags: watching,
    since: '2.8.13',
    status: 'redis',
    deviations: 'Always empty, because commands take no virtual time and therefore have no latency.',
    args: [],
    run: () => [],
  }),
  command('LATENCY HISTORY', {
    flags: watching,
    since: '2.8.13',
    status: 'redis',
    deviations: 'Always empty.',
    args: [named('event', bytes)],
    run: () => [],
  }),
  command('LATENCY GRAPH', {
    flags: watching,
    since: '2.8.13',
    status: 'redis',
    deviations: 'Always an error, because no event has samples.',
    args: [named('event', bytes)],
    run(_context, event) {
      throw noLatencySamples(event)
    },
  }),
  command('LATENCY RESET', {
    flags: watching,
    since: '2.8.13',
    status: 'redis',
    deviations: 'Always 0, because no event has samples.',
    args: [named('[event …]', zeroOrMore(bytes))],
    run: () => 0,
  }),
  command('LATENCY HISTOGRAM', {
    flags: watching,
    since: '7.0.0',
    status: 'redis',
    deviations: 'Always empty.',
    args: [named('[command …]', zeroOrMore(bytes))],
    run: () => [],
  }),
  command('LATENCY DOCTOR', {
    flags: watching,
    since: '2.8.13',
    status: 'redis',
    deviations: 'Replies that latency is not monitored.',
    args: [],
    run: () => latin1('Latency is not monitored: commands take no virtual time.\n'),
  }),
  helpCommand(
    'LATENCY',
    '2.8.13',
    ['slow'],
    {
      DOCTOR: 'Reports that latency is not monitored.',
      'GRAPH <event>': 'Always an error, because no event has samples.',
      'HISTORY <event>': 'Always returns an empty list, because no event has samples.',
      LATEST: 'Always returns an empty list, because no event has samples.',
      'RESET [<event> ...]': 'Always returns 0, because there are no samples to delete.',
      'HISTOGRAM [<command> ...]': 'Always returns an empty list, because commands have no latency.',
    },
    'redis',
  ),
]

const moduleCommands: readonly Command[] = [
  command('MODULE LIST', {
    flags: watching,
    since: '4.0.0',
    status: 'redis',
    deviations: 'Always empty, because `JSON.*` and `SEARCH.*` are commands of the store itself.',
    args: [],
    run: () => [],
  }),
  helpCommand(
    'MODULE',
    '5.0.0',
    ['slow'],
    { LIST: 'Always returns an empty list, because the store has no modules.' },
    'redis',
  ),
]

const memoryCommands: readonly Command[] = [
  command('MEMORY STATS', {
    flags: ['slow'],
    since: '4.0.0',
    status: 'redis',
    deviations: 'Returns the bytes of keys and values, but no statistics of an allocator.',
    args: [],
    run: ({ store }) => memoryStats(store),
  }),
  command('MEMORY DOCTOR', {
    flags: ['slow'],
    since: '4.0.0',
    status: 'redis',
    deviations: 'The text is different from that of redis-server.',
    args: [],
    run: () => latin1('The memory has no problems: this store contains only keys and values.\n'),
  }),
  command('MEMORY MALLOC-STATS', {
    flags: ['slow'],
    since: '4.0.0',
    status: 'redis',
    deviations: 'The reply is that of redis-server without jemalloc.',
    args: [],
    run: () => latin1('Stats not supported for the current allocator'),
  }),
  command('MEMORY PURGE', {
    flags: ['slow'],
    since: '4.0.0',
    status: 'redis',
    deviations: 'Removes internal records of expirations that no longer apply.',
    args: [],
    run({ db }) {
      db.purge()
      return ok
    },
  }),
  helpCommand(
    'MEMORY',
    '4.0.0',
    ['slow'],
    {
      DOCTOR: 'Reports problems with the memory in use.',
      'MALLOC-STATS': 'Always returns that statistics are not supported, because there is no allocator.',
      PURGE: 'Removes internal records that are no longer needed.',
      STATS: 'Returns the bytes of keys and values.',
      'USAGE <key> [SAMPLES <count>]': 'Estimates the bytes of a key and its value.',
    },
    'redis',
  ),
]

function memoryStats({ db }: CommandStore): Reply {
  const total = usedMemory(db, db.work)
  const keys = db.size
  let ofKeys = 0
  db.forEach((_, key) => {
    ofKeys += key.length
  })
  const rows: Readonly<Record<string, Reply>> = {
    'total.allocated': total,
    'keys.count': keys,
    'keys.bytes-per-key': keys === 0 ? 0 : Math.floor(total / keys),
    'dataset.bytes': total - ofKeys,
    'dataset.percentage': latin1(String(total === 0 ? 0 : ((total - ofKeys) / total) * 100)),
  }
  return Object.entries(rows).flatMap(([name, value]) => [latin1(name), value])
}

export const monitoringCommands: readonly Command[] = [
  ...slowlogCommands,
  ...latencyCommands,
  ...moduleCommands,
  ...memoryCommands,
]
