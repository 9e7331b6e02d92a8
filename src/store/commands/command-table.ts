import type { Bytes } from '../../kernel/bytes.js'
import type { CommandDescription } from '../command/command-description.js'

/** Containers of redis-server that are not in any table. [store.md 7.4] */
const foreignContainers: readonly string[] = ['CLUSTER', 'DEBUG']

export type CommandGroups<Command> = Readonly<Record<string, readonly Command[]>>

/** All commands by name. Subcommands are separate entries, found by their first two words. */
export class CommandTable<Command extends CommandDescription & { group: string }> {
  /** Commands of one word, in upper case. */
  readonly #single = new Map<string, Command>()
  /** Commands without subcommands, in upper and lower case, as clients send them. */
  readonly #direct = new Map<string, Command>()
  /** Commands by container and subcommand, both in upper case. */
  readonly #containers = new Map<string, Map<string, Command>>()
  /** Upper-case names of all containers, whether or not their subcommands are enabled. */
  readonly #containerNames = new Set(foreignContainers)
  #commands: readonly Command[] = []
  #latestName: Bytes | undefined
  #latest: Command | undefined
  readonly #groups: CommandGroups<Command>
  readonly #offers: (command: Command) => boolean
  /** Returns the commands that are loaded when a name is unknown, or when all commands are read; then `undefined`. */
  #rare: (() => CommandGroups<Command>) | undefined

  /**
   * @param groups commands by group. The order of the groups is the order of `commands`.
   * @param offers returns whether a command is enabled. Other commands count as unknown.
   * @param rare returns more commands of these groups
   */
  constructor(
    groups: CommandGroups<Command>,
    offers: (command: Command) => boolean = () => true,
    rare?: () => CommandGroups<Command>,
  ) {
    this.#groups = groups
    this.#offers = offers
    this.#rare = rare
    this.#fill({})
  }

  get commands(): readonly Command[] {
    this.#loadRare()
    return this.#commands
  }

  /** Commands by the first word of their name: the command itself and its subcommands. */
  get names(): ReadonlyMap<string, readonly Command[]> {
    const names = new Map<string, readonly Command[]>()
    for (const command of this.commands) {
      const [name = ''] = command.name.split(' ', 1)
      names.set(name, [...(names.get(name) ?? []), command])
    }
    return names
  }

  find(argv: readonly Bytes[]): Command | undefined {
    const name = argv[0]!
    // The same command often occurs many times in a row, and comparing a few letters is faster than a lookup.
    if (name === this.#latestName) return this.#latest
    const direct = this.#direct.get(name)
    if (direct !== undefined) {
      this.#latestName = name
      this.#latest = direct
      return direct
    }
    const command = this.#search(argv)
    return command === undefined && this.#loadRare() ? this.#search(argv) : command
  }

  #search(argv: readonly Bytes[]): Command | undefined {
    const name = argv[0]!
    const upper = name.toUpperCase()
    if (argv.length === 1) return this.#single.get(upper)
    if (!this.#containerNames.has(upper)) return this.#single.get(upper)
    return this.#containers.get(upper)?.get(argv[1]!.toUpperCase())
  }

  named(name: string): Command | undefined {
    this.#loadRare()
    const [container = '', subcommand] = name.toUpperCase().split(' ')
    return subcommand === undefined ? this.#single.get(container) : this.#containers.get(container)?.get(subcommand)
  }

  /** Returns the name as errors show it: with the subcommand if the name is a container. */
  shownName(argv: readonly Bytes[]): Bytes {
    this.#loadRare()
    const name = argv[0]!
    const couldHaveSubcommand = this.#containerNames.has(name.toUpperCase())
    return (couldHaveSubcommand && argv.length > 1 ? `${name} ${argv[1]}` : name) as Bytes
  }

  /** Returns whether a command needs a subcommand. Its name alone has the wrong number of arguments. */
  needsSubcommand(name: Bytes): boolean {
    this.#loadRare()
    return this.#containers.has(name.toUpperCase())
  }

  /** Returns whether a command with this name exists, alone or with subcommands. */
  has(name: string): boolean {
    this.#loadRare()
    const upper = name.toUpperCase()
    return this.#single.has(upper) || this.#containers.has(upper)
  }

  /** Adds the rare commands, and returns whether they were missing. */
  #loadRare(): boolean {
    const rare = this.#rare
    if (rare === undefined) return false
    this.#rare = undefined
    this.#fill(rare())
    return true
  }

  #fill(more: CommandGroups<Command>): void {
    const commands: Command[] = []
    for (const [group, members] of Object.entries(this.#groups)) {
      for (const command of [...members, ...(more[group] ?? [])]) {
        const [name = '', subcommand] = command.name.split(' ')
        if (subcommand !== undefined) this.#containerNames.add(name)
        if (!this.#offers(command)) continue
        command.group = group
        commands.push(command)
        this.#add(command)
      }
    }
    this.#commands = commands
    for (const [name, command] of this.#single) {
      if (this.#containerNames.has(name)) continue
      this.#direct.set(name, command)
      this.#direct.set(name.toLowerCase(), command)
    }
  }

  #add(command: Command): void {
    const [name = '', subcommand] = command.name.split(' ')
    if (subcommand === undefined) {
      this.#single.set(name, command)
      return
    }
    const subcommands = this.#containers.get(name) ?? new Map<string, Command>()
    this.#containers.set(name, subcommands.set(subcommand, command))
  }
}
