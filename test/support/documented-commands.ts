import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import type { DocumentedCommand } from './store-reference.js'

const file = new URL('../../docs/protocol/commands.json', import.meta.url)

/** Upper case; a subcommand after a space; the last word may end in `*` for a whole family. */
const name = v.pipe(v.string(), v.regex(/^[A-Z]+(?:[._-][A-Z_-]+)*(?:\.\*)?(?: [A-Z-]+)?$/))

/** Schema of docs/protocol/commands.json. */
const commandList: v.GenericSchema<readonly DocumentedCommand[]> = v.array(
  v.strictObject({
    name,
    status: v.picklist(['documented', 'later', 'redis']),
    source: v.pipe(v.string(), v.nonEmpty()),
    door: v.exactOptional(v.literal('native')),
  }),
)

/** Public facts about each command, written from the fact sheets and not from the code. */
export function documentedCommands(): readonly DocumentedCommand[] {
  return v.parse(commandList, JSON.parse(readFileSync(file, 'utf8')))
}
