import fc from 'fast-check'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import type { Policy } from '../../../../src/policy/policy.js'
import { commandsUnder } from '../../../../src/store/commands/index.js'
import { type Choose, parseUsage, writeCommand } from './command-usage.js'
import { texts, wordOf } from './command-words.js'

/** Options of `arb.command()`. */
export interface CommandOptions {
  /** Commands that the store has: value of the policy `commands`. Default `documented`. */
  readonly commands?: Policy['commands'] | undefined
  /** Returns whether to generate this command. Default: all commands are generated. */
  readonly only?: (name: string, group: string) => boolean
  /** Relative frequency of a command. Default 1 for each command. */
  readonly weight?: (name: string) => number
  /** Whether arguments of some commands are missing, superfluous or in the wrong position. Default false. */
  readonly mistakes?: boolean
}

const commandChoices: readonly unknown[] = ['all', 'documented']

/**
 * Random numbers from which one command is generated. They shrink to zeros, which generate the simplest form of the
 * command.
 */
const entropy = fc.array(fc.nat({ max: 0xffff }), { minLength: 16, maxLength: 24, size: 'max' })

/**
 * Generates commands of the data store from the usage in the command table: every kind of argument, optional parts,
 * valid and invalid values. One character of an argument is one byte.
 * @throws TypeError when an option is invalid or `only` excludes every command
 * @example
 * fc.assert(
 *   fc.property(arb.command(), (argv) => {
 *     expect(() => sandbox.store.run(...argv)).not.toThrow(TypeError)
 *   }),
 * )
 */
export function command(options: CommandOptions = {}): fc.Arbitrary<readonly string[]> {
  checkOptionNames('arb.command()', options, { commands: true, only: true, weight: true, mistakes: true })
  if (options.commands !== undefined && !commandChoices.includes(options.commands)) {
    throw new TypeError(
      `arb.command(): commands must be 'all' or 'documented' (got ${JSON.stringify(options.commands)}). Choose commands by name with \`only\`.`,
    )
  }
  const { commands = 'documented', only = () => true, weight = () => 1, mistakes = false } = options
  const forms = commandsUnder(commands)
    .commands.filter(({ name, group }) => only(name, group))
    .flatMap(({ name, group, usage }) => Array<Form>(weight(name)).fill({ group, usage: parseUsage(usage) }))
  if (forms.length === 0) {
    throw new TypeError('arb.command(): `only` excludes every command of the table. Let at least one pass.')
  }
  return fc.tuple(fc.nat({ max: forms.length - 1 }), entropy).map(([index, draws]) => {
    const { group, usage } = forms[index]!
    let at = 0
    const choose: Choose = (count) => (draws[at++] ?? 0) % count
    const argv = writeCommand(usage, choose, wordOf(group))
    if (mistakes && choose(20) === 19)
      argv.splice(1 + choose(argv.length), choose(2), ...(choose(2) ? [texts[choose(texts.length)]!] : []))
    return argv
  })
}

interface Form {
  readonly group: string
  readonly usage: ReturnType<typeof parseUsage>
}
