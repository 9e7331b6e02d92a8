import { type Command, command } from '../command/command.js'
import type { CommandFlag, CommandStatus } from '../command/command-description.js'
import { Status } from '../command/reply.js'

/**
 * Declares `<container> HELP`, which returns two lines for each subcommand: its usage, then its description.
 * @param subcommands the descriptions by usage, such as `{ 'REFCOUNT <key>': 'Always 1.' }`
 */
export function helpCommand(
  container: string,
  since: string,
  flags: readonly CommandFlag[],
  subcommands: Readonly<Record<string, string>>,
  status: CommandStatus = 'documented',
): Command {
  const lines = Object.entries({ ...subcommands, HELP: 'Prints this help.' }).flatMap(([usage, meaning]) => [
    usage,
    `    ${meaning}`,
  ])
  const head = `${container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`
  const help = [head, ...lines].map((line) => new Status(line))
  return command(`${container} HELP`, { flags, since, status, args: [], run: () => help })
}
