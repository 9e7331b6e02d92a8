import type { ControlReply } from '../models/control-values.js'
import type { CommandLine } from '../models/edits.js'
import type { Control } from '../source.js'

/** Control API of one database of a sandbox. */
export type StoreControl = Pick<Control, 'ask'>

/** Returns the control API of an added database. Without a name, returns that of the first database. */
export function storeControl(control: Control, database: string | undefined): StoreControl {
  if (database === undefined) return control
  const query = `?database=${encodeURIComponent(database)}`
  return { ask: (method, path, body) => control.ask(method, path + query, body) }
}

/** Runs one command on the store. @throws Error if the reply is an error */
export async function runCommand(control: StoreControl, command: CommandLine): Promise<ControlReply> {
  const { reply } = (await control.ask('POST', '/store/run', { command })) as { reply: ControlReply }
  return reply
}

/** Runs commands one after the other. An error stops the remaining commands. */
export async function runCommands(control: StoreControl, commands: readonly CommandLine[]): Promise<void> {
  for (const command of commands) await runCommand(control, command)
}
