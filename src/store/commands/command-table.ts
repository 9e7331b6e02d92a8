import type { Bytes } from '../../kernel/bytes.js'
import type { CommandDescription } from '../command/command-description.js'

/** Containers of redis-server that are not in any table. [store.md 7.4] */
const foreignContainers: readonly string[] = ['CLUSTER', 'DEBUG']

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
  readonly commands: readonly Command[]
  #latestName: Bytes | undefined
  #latest: Command | undefined

  /** @param offers returns whether a command is enabled. Other commands count as unknown. */
  constructor(
    groups: Readonly<Record<string, readonly Command[]>>,
    offers: (command: Command) => boolean = () => true,
  ) {
    const commands: Command[] = []
    for (const [group, members] of Object.entries(groups)) {
      for (const command of members) {
        const [name = '', subcommand] = command.name.split(' ')
        if (subcommand !== undefined) this.#containerNames.add(name)
        if (!offers(command)) continue
        command.group = group
        commands.push(command)
        this.#add(command)
      }
    }
    this.commands = commands
    for (const [name, command] of this.#single) {
      if (this.#containerNames.has(name)) continue
      this.#direct.set(name, command)
      this.#direct.set(name.toLowerCase(), command)
    }
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
    const upper = name.toUpperCase()
    if (argv.length === 1) return this.#single.get(upper)
    if (!this.#containerNames.has(upper)) return this.#single.get(upper)
    return this.#containers.get(upper)?.get(argv[1]!.toUpperCase())
  }

  named(name: string): Command | undefined {
    const [container = '', subcommand] = name.toUpperCase().split(' ')
    return subcommand === undefined ? this.#single.get(container) : this.#containers.get(container)?.get(subcommand)
  }

  /** Returns the name as errors show it: with the subcommand if the name is a container. */
  shownName(argv: readonly Bytes[]): Bytes {
    const name = argv[0]!
    const couldHaveSubcommand = this.#containerNames.has(name.toUpperCase())
    return (couldHaveSubcommand && argv.length > 1 ? `${name} ${argv[1]}` : name) as Bytes
  }

  /** Returns whether a command needs a subcommand. Its name alone has the wrong number of arguments. */
  needsSubcommand(name: Bytes): boolean {
    return this.#containers.has(name.toUpperCase())
  }

  /** Returns whether a command with this name exists, alone or with subcommands. */
  has(name: string): boolean {
    const upper = name.toUpperCase()
    return this.#single.has(upper) || this.#containers.has(upper)
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
