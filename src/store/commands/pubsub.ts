import { bytes, channel, named, zeroOrMore } from '../arguments.js'
import { type Command, command } from '../command.js'
import { subcommandSyntax } from '../errors.js'

export const pubsubCommands: readonly Command[] = [
  command('PUBLISH', {
    flags: ['fast'],
    since: '2.0.0',
    args: { channel, message: named('message', bytes) },
    run: ({ channel, message }, { store }) => store.pubsub.publish(channel, message),
  }),

  command('PUBSUB CHANNELS', {
    flags: ['slow'],
    since: '2.8.0',
    args: { patterns: named('[pattern]', zeroOrMore(bytes)) },
    run({ patterns }, { store }) {
      if (patterns.length > 1) throw subcommandSyntax('PUBSUB', 'CHANNELS')
      return store.pubsub.channels(patterns[0])
    },
  }),

  command('PUBSUB NUMSUB', {
    flags: ['slow'],
    since: '2.8.0',
    args: { channels: zeroOrMore(named('channel', bytes)) },
    run: ({ channels }, { store }) => channels.flatMap((channel) => [channel, store.pubsub.subscribersOf(channel)]),
  }),

  command('PUBSUB NUMPAT', {
    flags: ['slow'],
    since: '2.8.0',
    args: {},
    run: (_, { store }) => store.pubsub.patternCount,
  }),
]
