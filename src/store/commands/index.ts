import type { Bytes } from '../../kernel/bytes.js'
import type { Command } from '../command/command.js'
import { blockingListCommands, blockingSortedSetCommands } from './blocking.js'
import { type CommandGroups, CommandTable } from './command-table.js'
import { connectionCommands } from './connection-commands.js'
import { genericCommands } from './generic.js'
import { hashCommands } from './hash.js'
import { listCommands } from './list.js'
import { pubsubCommands } from './pubsub-commands.js'
import { rareCommands } from './rare-commands.js'
import { scriptingCommands } from './scripting.js'
import { setCommands } from './set.js'
import { sortedSetCommands } from './sorted-set.js'
import { stringCommands } from './string.js'

/** Commands of most tests. `rareCommands()` returns the other commands of these groups. */
const groups: CommandGroups<Command> = {
  string: stringCommands,
  bitmap: [],
  hash: hashCommands,
  list: listCommands,
  set: setCommands,
  'sorted-set': sortedSetCommands,
  geo: [],
  hyperloglog: [],
  stream: [],
  array: [],
  json: [],
  search: [],
  vector: [],
  scripting: scriptingCommands,
  functions: [],
  pubsub: pubsubCommands,
  generic: genericCommands,
  server: [],
  connection: connectionCommands,
  acl: [],
}

/** All commands of the store, including those that only redis-server has. */
export const commandTable: CommandTable<Command> = new CommandTable(groups, () => true, rareCommands)

const documentedTable: CommandTable<Command> = new CommandTable(
  groups,
  ({ status }) => status === 'documented',
  rareCommands,
)

export function commandsUnder(policy: 'all' | 'documented'): CommandTable<Command> {
  return policy === 'all' ? commandTable : documentedTable
}

/** Commands that can wait for an element. Only connections can send these commands. [store.md 7.4] */
export const blockingTable: CommandTable<Command> = new CommandTable({
  list: blockingListCommands,
  'sorted-set': blockingSortedSetCommands,
})

const waiting: ReadonlySet<string> = new Set(
  [...blockingTable.commands.map(({ name }) => name), 'XREAD', 'XREADGROUP', 'WAIT', 'WAITAOF'].flatMap((name) => [
    name,
    name.toLowerCase(),
  ]),
)

/** Returns whether a command can wait on a connection. */
export function mayWait([name]: readonly Bytes[]): boolean {
  if (name === undefined) return false
  return waiting.has(name) || (beginnings.test(name) && waiting.has(name.toUpperCase()))
}

const beginnings = /^[bwx]/i
