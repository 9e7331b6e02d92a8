import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { categories as knownCategories } from '../../../../src/store/access/categories.js'
import type { CommandFlag } from '../../../../src/store/command/command-description.js'
import { Status } from '../../../../src/store/command/reply.js'
import type { RespValue } from '../redis-client/reply-reader.js'

// Facts about commands. They are taken from the reply of the real Redis to COMMAND INFO.

export interface CommandInfo {
  /** Name in upper case, with the subcommand if there is one. */
  readonly name: string
  readonly flags: ReadonlySet<string>
  /** ACL categories, without the `@`. */
  readonly categories: ReadonlySet<string>
  /** Fixed positions of the keys: first, last and step. */
  readonly keys: readonly [first: number, last: number, step: number]
  /** Tips for a Cluster, such as `request_policy:all_shards` and `response_policy:agg_sum`. */
  readonly tips: ReadonlySet<string>
}

type RunCommand = (argv: readonly Bytes[]) => Promise<RespValue>

export class CommandCatalog {
  readonly #ask: RunCommand
  readonly #known = new Map<string, Promise<readonly CommandInfo[] | undefined>>()

  constructor(ask: RunCommand) {
    this.#ask = ask
  }

  /** Returns the facts about a command; `undefined` if the real Redis does not have it. */
  async of(argv: readonly Bytes[]): Promise<CommandInfo | undefined> {
    const name = argv[0]!.toUpperCase()
    let rows = this.#known.get(name)
    if (rows === undefined) {
      rows = this.#ask([latin1('COMMAND'), latin1('INFO'), argv[0]!]).then(rowsOf)
      this.#known.set(name, rows)
      // Do not cache a missing command, because a module may be loaded later. Do not cache an error, because the server
      // may be available again later.
      const forget = (): void => void this.#known.delete(name)
      rows.then((found) => found === undefined && forget(), forget)
    }
    const found = await rows
    if (found === undefined) return undefined
    const full = `${name} ${argv[1]?.toUpperCase() ?? ''}`
    return found.find((row) => row.name === full) ?? found[0]
  }

  /** Returns the keys among the arguments, as the real Redis finds them. */
  async keysOf(argv: readonly Bytes[], facts: CommandInfo | undefined): Promise<readonly Bytes[]> {
    if (facts === undefined) return []
    const [first, last, step] = facts.keys
    if (facts.flags.has('movablekeys')) {
      const told = await this.#ask([latin1('COMMAND'), latin1('GETKEYS'), ...argv])
      return Array.isArray(told) ? (told as Bytes[]) : []
    }
    if (first === 0) return []
    const end = last < 0 ? argv.length + last : Math.min(last, argv.length - 1)
    const keys: Bytes[] = []
    for (let at = first; at <= end; at += step) keys.push(argv[at]!)
    return keys
  }
}

/** Returns the facts about a command, followed by the facts about its subcommands. */
function rowsOf(told: RespValue): readonly CommandInfo[] | undefined {
  const row = Array.isArray(told) ? told[0] : undefined
  if (!Array.isArray(row)) return undefined
  const subcommands = (row[9] ?? []) as readonly RespValue[]
  return [factsOf(row), ...subcommands.map((sub) => factsOf(sub as readonly RespValue[]))]
}

function factsOf(row: readonly RespValue[]): CommandInfo {
  const [name, , flags, first, last, step, categories, tips] = row
  return {
    name: textOf(name).replace('|', ' ').toUpperCase(),
    flags: new Set(textsOf(flags)),
    categories: new Set(textsOf(categories).map((category) => category.replace(/^@/, ''))),
    keys: [Number(first), Number(last), Number(step)],
    tips: new Set(textsOf(tips)),
  }
}

function textsOf(list: RespValue | undefined): string[] {
  return Array.isArray(list) ? list.map(textOf) : []
}

function textOf(told: RespValue | undefined): string {
  return told instanceof Status ? told.text : String(told)
}

const isFlag: ReadonlySet<string> = new Set([...knownCategories, 'noscript'])

/**
 * Returns the categories for permission checks. For commands of modules, these are the categories that the module has
 * set.
 */
export function flagsOf({ categories, flags }: CommandInfo): readonly CommandFlag[] {
  // Older servers return no categories for commands of modules.
  const own = new Set([
    ...categories,
    ...(flags.has('write') ? ['write'] : []),
    ...(flags.has('readonly') ? ['read'] : []),
  ])
  return [...own].filter((name) => isFlag.has(name)) as CommandFlag[]
}
