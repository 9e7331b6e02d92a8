import type { ControlReply } from '../models/control-values.js'
import type { CommandLine } from '../models/edits.js'
import type { Control } from '../source.js'

/** Runs one command on the store. @throws Error if the reply is an error */
export async function runCommand(control: Control, command: CommandLine): Promise<ControlReply> {
  const { reply } = (await control.ask('POST', '/store/run', { command })) as { reply: ControlReply }
  return reply
}

/** Runs commands one after the other. An error stops the remaining commands. */
export async function runCommands(control: Control, commands: readonly CommandLine[]): Promise<void> {
  for (const command of commands) await runCommand(control, command)
}
