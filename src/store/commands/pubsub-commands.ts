import { bytes, channel, named, zeroOrMore } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { subcommandSyntax } from '../command/errors.js'
import { helpCommand } from './help.js'

export const pubsubCommands: readonly Command[] = [
  command('PUBLISH', {
    flags: ['fast'],
    since: '2.0.0',
    args: [channel, named('message', bytes)],
    run: ({ store }, channel, message) => store.pubsub.publish(channel, message, store.work),
  }),

  command('PUBSUB CHANNELS', {
    flags: ['slow'],
    since: '2.8.0',
    args: [named('[pattern]', zeroOrMore(bytes))],
    run({ store }, patterns) {
      if (patterns.length > 1) throw subcommandSyntax('PUBSUB', 'CHANNELS')
      return store.pubsub.channels(store.work, patterns[0])
    },
  }),

  command('PUBSUB NUMSUB', {
    flags: ['slow'],
    since: '2.8.0',
    args: [zeroOrMore(named('channel', bytes))],
    run: ({ store }, channels) => channels.flatMap((channel) => [channel, store.pubsub.subscribersOf(channel)]),
  }),

  // The double is a single node, so it has the channels of all shards.
  command('SPUBLISH', {
    status: 'redis',
    flags: ['fast'],
    since: '7.0.0',
    args: [named('shardchannel', channel), named('message', bytes)],
    run: ({ store }, channel, message) => store.pubsub.publishToShard(channel, message),
  }),

  command('PUBSUB SHARDCHANNELS', {
    status: 'redis',
    flags: ['slow'],
    since: '7.0.0',
    args: [named('[pattern]', zeroOrMore(bytes))],
    run({ store }, patterns) {
      if (patterns.length > 1) throw subcommandSyntax('PUBSUB', 'SHARDCHANNELS')
      return store.pubsub.channels(store.work, patterns[0], 'shards')
    },
  }),

  command('PUBSUB SHARDNUMSUB', {
    status: 'redis',
    flags: ['slow'],
    since: '7.0.0',
    args: [zeroOrMore(named('channel', bytes))],
    run: ({ store }, channels) =>
      channels.flatMap((channel) => [channel, store.pubsub.subscribersOf(channel, 'shards')]),
  }),

  helpCommand(
    'PUBSUB',
    '6.2.0',
    ['slow'],
    {
      'CHANNELS [<pattern>]': 'Lists the channels with subscribers.',
      NUMPAT: 'Returns the number of patterns with subscribers.',
      'NUMSUB [<channel> ...]': 'Returns the number of subscribers of each channel.',
      'SHARDCHANNELS [<pattern>]': 'Lists the shard channels with subscribers.',
      'SHARDNUMSUB [<shardchannel> ...]': 'Returns the number of subscribers of each shard channel.',
    },
    'redis',
  ),

  command('PUBSUB NUMPAT', {
    flags: ['slow'],
    since: '2.8.0',
    args: [],
    run: ({ store }) => store.pubsub.patternCount,
  }),
]
