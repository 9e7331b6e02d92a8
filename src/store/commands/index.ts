import type { Bytes } from '../../kernel/bytes.js'
import type { Command } from '../command/command.js'
import { aclCommands } from './acl.js'
import { arrayCommands } from './array.js'
import { bitmapCommands } from './bitmap.js'
import { blockingListCommands, blockingSortedSetCommands } from './blocking.js'
import { commandInfoCommands } from './command-info.js'
import { CommandTable } from './command-table.js'
import { connectionCommands } from './connection-commands.js'
import { functionCommands } from './functions.js'
import { genericCommands } from './generic.js'
import { geoCommands } from './geo.js'
import { hashCommands } from './hash.js'
import { hyperloglogCommands } from './hyperloglog.js'
import { jsonCommands } from './json.js'
import { lcsCommands } from './lcs.js'
import { listCommands } from './list.js'
import { monitoringCommands } from './monitoring.js'
import { pubsubCommands } from './pubsub-commands.js'
import { scriptingCommands } from './scripting.js'
import { searchCommands } from './search.js'
import { serverCommands } from './server-commands.js'
import { setCommands } from './set.js'
import { sortedSetCommands } from './sorted-set.js'
import { streamCommands } from './stream.js'
import { stringCommands } from './string.js'
import { vectorCommands } from './vector.js'

const groups: Readonly<Record<string, readonly Command[]>> = {
  string: [...stringCommands, ...lcsCommands],
  bitmap: bitmapCommands,
  hash: hashCommands,
  list: listCommands,
  set: setCommands,
  'sorted-set': sortedSetCommands,
  geo: geoCommands,
  hyperloglog: hyperloglogCommands,
  stream: streamCommands,
  array: arrayCommands,
  json: jsonCommands,
  search: searchCommands,
  vector: vectorCommands,
  scripting: scriptingCommands,
  functions: functionCommands,
  pubsub: pubsubCommands,
  generic: genericCommands,
  server: [...serverCommands, ...commandInfoCommands, ...monitoringCommands],
  connection: connectionCommands,
  acl: aclCommands,
}

/** All commands of the store, including those that only redis-server has. */
export const commandTable: CommandTable<Command> = new CommandTable(groups)

const documentedTable: CommandTable<Command> = new CommandTable(groups, ({ status }) => status === 'documented')

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
