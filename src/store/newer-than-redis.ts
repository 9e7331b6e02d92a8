import { latin1 } from '../kernel/bytes.js'
import type { Command } from './command/command.js'
import { commandTable } from './commands/index.js'

export function commandOf(argv: readonly string[]): Command | undefined {
  return argv.length === 0 ? undefined : commandTable.find(argv.map((word) => latin1(word)))
}

/** Groups that redis-server has only with modules, or not at all. */
const ofService: ReadonlySet<string> = new Set(['json', 'search', 'vector'])

/** Returns whether a command is newer than redis-server 7.0 or belongs to a module. */
export function isNewer(command: Command | undefined): boolean {
  if (command === undefined) return false
  const [major = 0, minor = 0] = command.since.split('.').map(Number)
  return !(major < 7 || (major === 7 && minor === 0)) || ofService.has(command.group)
}

/**
 * Options that redis-server 7.0 does not have, by command. The number is the position of the first argument that can be
 * such an option.
 */
const newerOptions: readonly (readonly [command: RegExp, from: number, option: RegExp])[] = [
  [/^SET$/i, 3, /^IF(?:EQ|NE|DEQ|DNE)$/i],
  [/^BITOP$/i, 1, /^(?:DIFF|DIFF1|ANDOR|ONE)$/i],
  [/^SCAN$/i, 2, /^WITHTYPE$/i],
  [/^HSCAN$/i, 3, /^NOVALUES$/i],
  [/^Z(?:REV)?RANK$/i, 3, /^WITHSCORE$/i],
  [/^X(?:ADD|TRIM)$/i, 2, /^(?:KEEPREF|DELREF|ACKED)$/i],
  [/^XREAD$/i, 3, /^\+$/],
]

export function hasNewerOption(argv: readonly string[]): boolean {
  const known = newerOptions.find(([command]) => command.test(argv[0] ?? ''))
  return known !== undefined && argv.slice(known[1]).some((word) => known[2].test(word))
}

export function limitsRanks(argv: readonly string[]): boolean {
  const [name, ...words] = argv.map((word) => word.toUpperCase())
  if (name !== 'ZRANGE' && name !== 'ZRANGESTORE') return false
  return words.includes('LIMIT') && !words.includes('BYSCORE') && !words.includes('BYLEX')
}
