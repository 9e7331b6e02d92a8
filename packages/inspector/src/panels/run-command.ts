import type { ControlReply } from '../models/control-values.js'
import type { CommandLine } from '../models/edits.js'
import type { Control } from '../source.js'

/** Runs one command as the owner of the store. @throws Error with the reply if it is an error */
export async function runCommand(control: Control, command: CommandLine): Promise<ControlReply> {
  const { reply } = (await control.ask('POST', '/store/run', { command })) as { reply: ControlReply }
  return reply
}

/** Runs commands one after the other; stops at the first error. */
export async function runCommands(control: Control, commands: readonly CommandLine[]): Promise<void> {
  for (const command of commands) await runCommand(control, command)
}
