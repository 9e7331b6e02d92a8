import type { Bytes } from '../../kernel/bytes.js'
import type { Command } from '../command.js'

/** All commands by name. Subcommands are rows of their own, found by their first two words. */
export class CommandTable {
  readonly #byName = new Map<string, Command>()
  readonly #containers = new Set<string>()
  readonly commands: readonly Command[]

  constructor(groups: Readonly<Record<string, readonly Command[]>>) {
    const commands: Command[] = []
    for (const [group, members] of Object.entries(groups)) {
      for (const command of members) {
        command.group = group
        commands.push(command)
        this.#byName.set(command.name, command)
        this.#byName.set(command.name.toLowerCase(), command)
        const [container, subcommand] = command.name.split(' ')
        if (subcommand !== undefined) this.#containers.add(container!)
      }
    }
    this.commands = commands
  }

  find(argv: readonly Bytes[]): Command | undefined {
    const name = argv[0]!
    const direct = this.#byName.get(name)
    if (direct !== undefined && !name.includes(' ')) return direct
    const upper = name.toUpperCase()
    if (!this.#containers.has(upper)) return upper.includes(' ') ? undefined : this.#byName.get(upper)
    if (argv.length < 2) return this.#byName.get(upper)
    return this.#byName.get(`${upper} ${argv[1]!.toUpperCase()}`) ?? this.#byName.get(upper)
  }

  named(name: string): Command | undefined {
    return this.#byName.get(name.toUpperCase())
  }

  /** The name as an error shows it: with the subcommand where there could be one. */
  shownName(argv: readonly Bytes[]): Bytes {
    const name = argv[0]!
    const couldHaveSubcommand = this.#containers.has(name.toUpperCase()) || foreignContainers.has(name.toUpperCase())
    return (couldHaveSubcommand && argv.length > 1 ? `${name} ${argv[1]}` : name) as Bytes
  }
}

/** Commands of redis-server that take subcommands and that the service does not have at all. */
const foreignContainers = new Set([
  'CLUSTER',
  'CLIENT',
  'DEBUG',
  'LATENCY',
  'MEMORY',
  'MODULE',
  'OBJECT',
  'SLOWLOG',
  'COMMAND',
  'CONFIG',
])
