import { connectionCommands } from './connection.js'
import { genericCommands } from './generic.js'
import { hashCommands } from './hash.js'
import { stringCommands } from './string.js'
import { CommandTable } from './table.js'

/** Every command of the store: one group per file, one line per group. */
export const commandTable: CommandTable = new CommandTable({
  string: stringCommands,
  hash: hashCommands,
  generic: genericCommands,
  connection: connectionCommands,
})
