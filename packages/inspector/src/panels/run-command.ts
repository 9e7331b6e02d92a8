import type { ControlReply } from '../models/control-values.js'
import type { CommandLine } from '../models/edits.js'
import type { Control } from '../source.js'

/** Runs one command as the owner of the store. @throws Error with the store's refusal */
export async function runCommand(control: Control, command: CommandLine): Promise<ControlReply> {
  const { reply } = (await control.ask('POST', '/store/run', { command })) as { reply: ControlReply }
  return reply
}

/** One after the other; the first refusal ends it. */
export async function runCommands(control: Control, commands: readonly CommandLine[]): Promise<void> {
  for (const command of commands) await runCommand(control, command)
}
