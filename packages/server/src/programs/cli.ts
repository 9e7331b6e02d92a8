#!/usr/bin/env node
import { ownManifest, type ParsedArguments, type Program, UsageError } from '@stuntdouble/command-line'
import { parseArgs } from 'citty'
import { nearestName } from '../../../../src/kernel/nearest-name.js'
import { plural } from '../../../../src/kernel/plural.js'
import { consoleText } from '../../../../src/report/safe-text.js'
import { helpOf, inGroup, overview, usageLine } from './command-help.js'
import { groups, programs } from './programs.js'

/** Runs a command line and returns its exit code, or `undefined` when the process continues to run. */
async function main(argv: readonly string[]): Promise<number | undefined> {
  const { name, rest } = commandOf(argv)
  try {
    if (name === '--help' || name === '-h' || name === 'help') return print(overview())
    if (name === '--version' || name === '-v') return print(ownManifest().version)
    const row = Object.hasOwn(programs, name) ? programs[name] : undefined
    if (row === undefined && Object.hasOwn(groups, name)) {
      if (['--help', '-h', 'help'].includes(rest[0] ?? '')) return print(overview(name))
      throw new UsageError(
        `${name}: its subcommand is missing or unknown. Write ${inGroup(name)
          .map((one) => `stuntdouble ${one}`)
          .join(' or ')}.`,
      )
    }
    if (row === undefined) {
      const known = Object.keys(programs)
      const [what, near] = name.startsWith('-') ? ['option', ''] : ['command', meant(name, known)]
      throw new UsageError(`there is no ${what} ${name}.${near} Commands: ${known.join(', ')}.`)
    }
    const { program } = await row.load()
    const [own, command] = program.endsOptions === true ? endOfOptions(rest, program) : [rest, []]
    const helpAt = own.findIndex((word) => word === '--help' || word === '-h')
    if (helpAt >= 0) return print(helpOf(name, row, program, own[helpAt + 1]))
    return await program.run(parsed(name, program, own, command))
  } catch (error) {
    if (!(error instanceof UsageError)) throw printable(error)
    console.error(`stuntdouble: ${consoleText(error.message)}`)
    return 2
  }
}

/**
 * Splits a command line into the name of the command and its arguments. For a command such as `campaign`, the
 * name includes the subcommand.
 */
function commandOf([name = '--help', ...rest]: readonly string[]): { name: string; rest: string[] } {
  const [second] = rest
  if (!Object.hasOwn(groups, name) || second === undefined || second === 'help' || second.startsWith('-'))
    return { name, rest }
  return { name: `${name} ${second}`, rest: rest.slice(1) }
}

/**
 * Escapes control characters in the message of an error. The message may quote a server or a file, and Node.js would
 * print control characters unchanged.
 */
function printable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { message, stack } = error
  Object.defineProperty(error, 'message', { value: consoleText(message), configurable: true, writable: true })
  if (stack !== undefined)
    Object.defineProperty(error, 'stack', { value: consoleText(stack), configurable: true, writable: true })
  return error
}

/**
 * Splits the arguments of a program such as `run` into its own options and the command to run. The command begins after
 * `--` or at the first operand.
 */
function endOfOptions(words: string[], { args }: Program): [own: string[], command: string[]] {
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '--') return [words.slice(0, at), words.slice(at + 1)]
    if (!word.startsWith('-')) return [words.slice(0, at), words.slice(at)]
    const option = word.slice(2)
    if (Object.hasOwn(args, option) && args[option]!.type === 'string') at++
  }
  return [words, []]
}

function parsed(name: string, program: Program, rest: string[], command: readonly string[] = []): ParsedArguments {
  const { args, operands, repeated = [], notes } = program
  const known = Object.keys(args)
  for (const word of rest) {
    if (word.startsWith('--') && word !== '--') {
      const option = word.slice(2).split('=', 1)[0]!
      if (!known.includes(option)) {
        const near = meant(
          `--${option}`,
          known.map((one) => `--${one}`),
        )
        throw new UsageError(
          `${name} has no option --${option}.${near} List its options with stuntdouble ${name} --help.`,
        )
      }
    } else if (/^-[a-z]/i.test(word))
      throw new UsageError(`${name} has no option ${word}. Write options in full, such as --${known[0] ?? 'help'}.`)
  }
  const own = parseArgs(rest, args)
  const given = { ...own, ...valuesOf(repeated, rest), _: [...own._, ...command] } as ParsedArguments
  const words = given._.length
  if (operands === undefined) {
    if (words > 0) throw new UsageError(`${name} takes only options (got ${JSON.stringify(given._[0])}).`)
  } else if (words < operands.least || words > operands.most) {
    const { title, lines } = notes?.() ?? { title: '', lines: [] }
    const more = title === '' ? '' : ` ${title}: ${lines.join(', ')}.`
    const wanted =
      words < operands.least
        ? 'an argument is missing'
        : `at most ${plural(operands.most, 'argument')} can be given (got ${words})`
    throw new UsageError(`${name}: ${wanted}. Write ${usageLine(name, program)}.${more}`)
  }
  return given
}

function meant(name: string, known: readonly string[]): string {
  const near = nearestName(name, known)
  return near === undefined ? '' : ` Did you mean ${near}?`
}

/** Returns all values of repeatable options. The parser keeps only the last value of each option. */
function valuesOf(names: readonly string[], words: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      words.flatMap((word, at) => {
        if (word.startsWith(`--${name}=`)) return [word.slice(name.length + 3)]
        return word === `--${name}` ? [words[at + 1] ?? ''] : []
      }),
    ]),
  )
}

function print(text: string): 0 {
  console.log(text)
  return 0
}

void main(process.argv.slice(2)).then((code) => {
  if (code !== undefined) process.exitCode = code
})
