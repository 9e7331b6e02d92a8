import { createRandom } from '../../src/kernel/random.js'

export interface PermissionCase {
  readonly rules: readonly string[]
  readonly argv: readonly string[]
}

/** Returns users with rules for subcommands and with selectors, which only redis-server accepts. */
export function randomSelectorCases(seed: string, count: number): PermissionCase[] {
  const random = createRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[random.int(items.length)]!
  const commands = ['get', 'set', 'config', 'config|get', 'config|set', 'object|encoding', 'xinfo|stream', 'publish']
  const rule = (): string =>
    pick([
      () => pick(['+', '+', '-']) + pick(['@read', '@write', '@admin', ...commands, ...commands]),
      () => pick(['~', '%R~', '%W~']) + pick(['a', 'b', 'a*']),
      () => `&${pick(['news', 'n*'])}`,
    ])()
  const several = (): string[] => Array.from({ length: 1 + random.int(4) }, rule)
  const key = () => pick(['a', 'a1', 'b'])
  const command = (): string[] =>
    pick<() => string[]>([
      () => ['GET', key()],
      () => ['SET', key(), 'v'],
      () => ['SET', key(), 'v', 'GET'],
      () => ['CONFIG', pick(['GET', 'SET']), 'x', 'y'],
      () => ['OBJECT', 'ENCODING', key()],
      () => ['XINFO', pick(['STREAM', 'GROUPS']), key()],
      () => ['PUBLISH', pick(['news', 'other']), 'm'],
    ])()
  return Array.from({ length: count }, () => ({
    rules: [
      ...pick([['+@all'], ['-@all'], []]),
      ...several(),
      ...Array.from({ length: random.int(3) }, () => `(${several().join(' ')})`),
    ],
    argv: command(),
  }))
}

/** Returns users with a few rules, and commands they may or may not run; the same ones for the same seed. */
export function randomPermissionCases(seed: string, count: number): PermissionCase[] {
  const random = createRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[random.int(items.length)]!
  const rule = (): string => pick([commandRule, commandRule, keyRule, keyRule, channelRule])()
  const commandRule = () =>
    pick(['+', '+', '-']) +
    pick(
      [
        '@all',
        '@read',
        '@write',
        '@string',
        '@list',
        '@fast',
        '@slow',
        '@dangerous',
        '@keyspace',
        '@stream',
        '@pubsub',
      ].concat([
        'get',
        'set',
        'del',
        'lmove',
        'config',
        'xread',
        'publish',
        'copy',
        'sunionstore',
        'incr',
        'acl',
        'exists',
      ]),
    )
  const keyRule = () => pick(['~', '~', '%R~', '%W~', '%RW~']) + pick(['a', 'a*', 'b*', '?b', '[ab]1', 'x'])
  const channelRule = () => `&${pick(['news', 'n*', 'a?'])}`
  const key = () => pick(['a', 'a1', 'b', 'b1', 'ab', 'x', 'y'])
  const command = (): string[] =>
    pick<() => string[]>([
      () => ['GET', key()],
      () => ['SET', key(), 'v'],
      () => ['SET', key(), 'v', 'GET'],
      () => ['BITFIELD', key(), 'GET', 'u8', '0'],
      () => ['BITFIELD', key(), 'SET', 'u8', '0', '1'],
      () => ['INCR', key()],
      () => ['APPEND', key(), 'v'],
      () => ['DEL', key(), key()],
      () => ['EXISTS', key()],
      () => ['STRLEN', key()],
      () => ['TYPE', key()],
      () => ['MGET', key(), key()],
      () => ['LMOVE', key(), key(), 'LEFT', 'LEFT'],
      () => ['LPUSH', key(), 'v'],
      () => ['LPOP', key()],
      () => ['COPY', key(), key()],
      () => ['RENAME', key(), key()],
      () => ['SUNIONSTORE', key(), key(), key()],
      () => ['PFMERGE', key(), key()],
      () => ['XADD', key(), '*', 'f', 'v'],
      () => ['XREAD', 'STREAMS', key(), key(), '0', '0'],
      () => ['XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', key(), '>'],
      () => ['XINFO', 'STREAM', key()],
      () => ['ZUNION', '2', key(), key()],
      () => ['PUBLISH', pick(['news', 'n', 'ab', 'other']), 'm'],
      () => ['PING'],
      () => ['DBSIZE'],
      () => ['FLUSHALL'],
      () => ['KEYS', '*'],
      () => ['CONFIG', 'GET', 'x'],
      () => ['ACL', 'WHOAMI'],
      () => ['ACL', 'LIST'],
    ])()
  const cases: PermissionCase[] = []
  while (cases.length < count) {
    const base = pick([['+@all'], ['-@all'], ['+@read'], []])
    const rules = [...base, ...Array.from({ length: 1 + random.int(5) }, rule)]
    cases.push({ rules, argv: command() })
  }
  return cases
}
