#!/usr/bin/env node
import { stripVTControlCharacters } from 'node:util'
import { ownManifest, type ParsedArguments, type Program, UsageError } from '@stuntdouble/command-line'
import { type ArgsDef, defineCommand, parseArgs, renderUsage } from 'citty'
import { nearestName } from '../../../../src/kernel/nearest-name.js'
import { consoleText } from '../../../../src/report/safe-text.js'
import { about, type CommandEntryPoint, exitCodes, programs } from './programs.js'

/** Runs a command line; resolves with the exit code, or with `undefined` when it goes on running. */
async function main(argv: readonly string[]): Promise<number | undefined> {
  const { name, rest } = commandOf(argv)
  try {
    if (name === '--help' || name === '-h' || name === 'help') return await print(usage())
    if (name === '--version' || name === '-v') return await print(Promise.resolve(ownManifest().version))
    const row = Object.hasOwn(programs, name) ? programs[name] : undefined
    if (row === undefined && isGroup(name)) {
      if (['--help', '-h', 'help'].includes(rest[0] ?? '')) return await print(usage(name))
      throw new UsageError(
        `${name} is written: ${inGroup(name)
          .map((one) => `stuntdouble ${one}`)
          .join(', or ')}.`,
      )
    }
    if (row === undefined) {
      const known = Object.keys(programs)
      const [what, near] = name.startsWith('-') ? ['option', ''] : ['command', meant(name, known)]
      throw new UsageError(`There is no ${what} ${name}.${near} Commands: ${known.join(', ')}.`)
    }
    const { program } = await row.load()
    const [own, command] = program.endsOptions === true ? endOfOptions(rest, program) : [rest, []]
    if (own.includes('--help') || own.includes('-h')) return await print(usageOf(name, row, program))
    return await program.run(parsed(name, program, own, command))
  } catch (error) {
    if (!(error instanceof UsageError)) throw printable(error)
    console.error(`stuntdouble: ${consoleText(error.message)}`)
    return 2
  }
}

/** A command, which has two words where several are about one thing, and what follows it. */
function commandOf([name = '--help', ...rest]: readonly string[]): { name: string; rest: string[] } {
  const [second] = rest
  if (!isGroup(name) || second === undefined || second === 'help' || second.startsWith('-')) return { name, rest }
  return { name: `${name} ${second}`, rest: rest.slice(1) }
}

/** Whether commands of two words begin with it. */
function isGroup(name: string): boolean {
  return inGroup(name).length > 0
}

function inGroup(name: string): string[] {
  return Object.keys(programs).filter((one) => one.startsWith(`${name} `))
}

/** Whatever broke may quote what a server or a file said, and Node prints it as it is. */
function printable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { message, stack } = error
  Object.defineProperty(error, 'message', { value: consoleText(message), configurable: true, writable: true })
  if (stack !== undefined)
    Object.defineProperty(error, 'stack', { value: consoleText(stack), configurable: true, writable: true })
  return error
}

/** Our options, and the command behind `--` or from the first word that is neither an option nor the value of one. */
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

function parsed(
  name: string,
  { args, operands, repeated = [], notes }: Program,
  rest: string[],
  command: readonly string[] = [],
): ParsedArguments {
  const known = Object.keys(args)
  for (const word of rest) {
    if (word.startsWith('--') && word !== '--') {
      const option = word.slice(2).split('=', 1)[0]!
      if (!known.includes(option)) {
        const takes = known.map((one) => `--${one}`).join(', ')
        const near = meant(
          `--${option}`,
          known.map((one) => `--${one}`),
        )
        throw new UsageError(`There is no option --${option}.${near} ${name} takes ${takes || 'no options'}.`)
      }
    } else if (/^-[a-z]/i.test(word))
      throw new UsageError(`There is no option ${word}. Options are written in full: --${known[0]}.`)
  }
  const own = parseArgs(rest, args)
  const given = { ...own, ...valuesOf(repeated, rest), _: [...own._, ...command] } as ParsedArguments
  const words = given._.length
  if (operands === undefined) {
    if (words > 0) throw new UsageError(`${name} takes options only, not ${JSON.stringify(given._[0])}.`)
  } else if (words < operands.least || words > operands.most) {
    const { title, lines } = notes?.() ?? { title: '', lines: [] }
    const more = title === '' ? '' : ` ${title[0]!.toUpperCase()}${title.slice(1)}: ${lines.join(', ')}.`
    throw new UsageError(`${name} is written: stuntdouble ${name} ${operands.hint}.${more}`)
  }
  return given
}

function meant(name: string, known: readonly string[]): string {
  const near = nearestName(name, known)
  return near === undefined ? '' : ` Did you mean ${near}?`
}

/** All values of options that may come several times; the parser keeps the last. */
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

/** @param group only the commands that begin with it */
function usage(group?: string): Promise<string> {
  const shown = Object.entries(programs).filter(([name]) => group === undefined || name.startsWith(`${group} `))
  const commands = shown.map(([name, { description }]) => [name, defineCommand({ meta: { name, description } })])
  return renderUsage(defineCommand({ meta: about, subCommands: Object.fromEntries(commands) }))
}

async function usageOf(
  name: string,
  { description }: CommandEntryPoint,
  { args, operands, examples, notes }: Program,
): Promise<string> {
  const words: ArgsDef = operands === undefined ? {} : { [operands.hint]: { type: 'positional', description: ' ' } }
  const text = await renderUsage(
    defineCommand({ meta: { name, description }, args: { ...words, ...args } }),
    defineCommand({ meta: about }),
  )
  const { title, lines } = notes?.() ?? { title: '', lines: [] }
  const more = title === '' ? '' : `${title.toUpperCase()}\n\n${lines.map((line) => `  ${line}\n`).join('')}\n`
  return `${text}\n\n${more}EXAMPLES\n\n${examples.map((example) => `  ${example}\n`).join('')}\nEXIT CODES\n\n${codes}`
}

const codes = Object.entries(exitCodes)
  .map(([code, what]) => `  ${code}  ${what}\n`)
  .join('')

/** In colour for a person, plain for a pipe. */
async function print(text: Promise<string>): Promise<number> {
  const shown = await text
  console.log(process.stdout.isTTY ? shown : stripVTControlCharacters(shown))
  return 0
}

void main(process.argv.slice(2)).then((code) => {
  if (code !== undefined) process.exitCode = code
})
