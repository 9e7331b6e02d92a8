import type { Command } from '../command/command.js'
import { aclCommands } from './acl.js'
import { arrayCommands } from './array.js'
import { bitmapCommands } from './bitmap.js'
import { commandInfoCommands } from './command-info.js'
import type { CommandGroups } from './command-table.js'
import { functionCommands } from './functions.js'
import { geoCommands } from './geo.js'
import { hyperloglogCommands } from './hyperloglog.js'
import { jsonCommands } from './json.js'
import { lcsCommands } from './lcs.js'
import { monitoringCommands } from './monitoring.js'
import { searchCommands } from './search.js'
import { serverCommands } from './server-commands.js'
import { streamCommands } from './stream.js'
import { vectorCommands } from './vector.js'

/** Returns the commands that few tests use, by group. */
export function rareCommands(): CommandGroups<Command> {
  return {
    string: lcsCommands,
    bitmap: bitmapCommands,
    geo: geoCommands,
    hyperloglog: hyperloglogCommands,
    stream: streamCommands,
    array: arrayCommands,
    json: jsonCommands,
    search: searchCommands,
    vector: vectorCommands,
    functions: functionCommands,
    server: [...serverCommands, ...commandInfoCommands, ...monitoringCommands],
    acl: aclCommands,
  }
}
