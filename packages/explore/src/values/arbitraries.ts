import fc from 'fast-check'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import type { Policy } from '../../../../src/policy/policy.js'
import { commandsUnder } from '../../../../src/store/commands/index.js'
import { type Choose, parseUsage, writeCommand } from './command-usage.js'
import { texts, wordOf } from './command-words.js'

/** Options of `arb.command()`. */
export interface CommandOptions {
  /** Those that a store has under this policy of `commands`. Default `documented`. */
  readonly commands?: Policy['commands'] | undefined
  /** Which of them, by name and group. Default: all. */
  readonly only?: (name: string, group: string) => boolean
  /** How often a command is tried beside the others. Default 1. */
  readonly weight?: (name: string) => number
  /** Now and then a word too many, too few or out of place. Default false. */
  readonly mistakes?: boolean
}

const commandChoices: readonly unknown[] = ['all', 'documented']

/** Draws of one command. They shrink to nothing, which is the simplest way to write it. */
const entropy = fc.array(fc.nat({ max: 0xffff }), { minLength: 16, maxLength: 24, size: 'max' })

/**
 * Commands of the data store, written at random after the usage in the command table: every kind of argument, options
 * in and out, right and wrong values. One char of a word is one byte.
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
      `arb.command() takes 'all' or 'documented' as commands, got ${JSON.stringify(options.commands)}: \`only\` chooses among them by name.`,
    )
  }
  const { commands = 'documented', only = () => true, weight = () => 1, mistakes = false } = options
  const forms = commandsUnder(commands)
    .commands.filter(({ name, group }) => only(name, group))
    .flatMap(({ name, group, usage }) => Array<Form>(weight(name)).fill({ group, usage: parseUsage(usage) }))
  if (forms.length === 0) {
    throw new TypeError('arb.command() has nothing to choose from: `only` lets no command of the table pass.')
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
