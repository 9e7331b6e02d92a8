#!/usr/bin/env node
import { createRequire } from 'node:module'
import { stripVTControlCharacters } from 'node:util'
import { type ArgsDef, defineCommand, parseArgs, renderUsage } from 'citty'
import { type Given, type Program, UsageError } from './program.js'

const about = {
  name: 'stuntdouble',
  description: 'A stunt double for a data store, a message queue and a statistics API.',
}

interface Row {
  readonly description: string
  /** Loaded when it is called, so that one command does not wait for what another needs. */
  load(): Promise<{ readonly program: Program }>
}

const programs: Readonly<Record<string, Row>> = {
  serve: {
    description: 'Serve the three APIs over HTTP, one sandbox for each tenant.',
    load: () => import('./programs/serve.js'),
  },
  tail: {
    description: 'Follow the story of a running server.',
    load: () => import('./programs/tail.js'),
  },
  play: {
    description: 'Play a scenario and tell whether it holds.',
    load: () => import('./programs/play.js'),
  },
  import: {
    description: 'Turn dead letters, log entries and callback bodies into a scenario.',
    load: () => import('./programs/import.js'),
  },
  diff: {
    description: 'Compare two traces and show what changed.',
    load: () => import('./programs/diff.js'),
  },
  env: {
    description: 'Print the environment of a running server, for a shell, a file or a pipeline.',
    load: () => import('./programs/env.js'),
  },
  doctor: {
    description: 'Look for real hosts in the environment, versions that do not work, and a browser.',
    load: () => import('./programs/doctor.js'),
  },
}

/** Runs a command line; resolves with the exit code, or with `undefined` when it goes on running. */
async function main(argv: readonly string[]): Promise<number | undefined> {
  const [name = '--help', ...rest] = argv
  try {
    if (name === '--help' || name === '-h' || name === 'help') return await print(usage())
    if (name === '--version' || name === '-v') return await print(version())
    const row = Object.hasOwn(programs, name) ? programs[name] : undefined
    if (row === undefined) {
      const what = name.startsWith('-') ? 'option' : 'command'
      throw new UsageError(`There is no ${what} ${name}. Commands: ${Object.keys(programs).join(', ')}.`)
    }
    const { program } = await row.load()
    if (rest.includes('--help') || rest.includes('-h')) return await print(usageOf(name, row, program))
    return await program.run(parsed(name, program, rest))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`stuntdouble: ${error.message}`)
    return 2
  }
}

function parsed(name: string, { args, operands }: Program, rest: string[]): Given {
  const known = Object.keys(args)
  for (const word of rest) {
    if (word.startsWith('--') && word !== '--') {
      const option = word.slice(2).split('=', 1)[0]!
      if (!known.includes(option)) {
        const takes = known.map((one) => `--${one}`).join(', ')
        throw new UsageError(`There is no option --${option}. ${name} takes ${takes || 'no options'}.`)
      }
    } else if (/^-[a-z]/i.test(word))
      throw new UsageError(`There is no option ${word}. Options are written in full: --${known[0]}.`)
  }
  const given = parseArgs(rest, args)
  const words = given._.length
  if (operands === undefined) {
    if (words > 0) throw new UsageError(`${name} takes options only, not ${JSON.stringify(given._[0])}.`)
  } else if (words < operands.least || words > operands.most) {
    throw new UsageError(`${name} is written: stuntdouble ${name} ${operands.hint}.`)
  }
  return given
}

function usage(): Promise<string> {
  const commands = Object.entries(programs).map(([name, { description }]) => [
    name,
    defineCommand({ meta: { name, description } }),
  ])
  return renderUsage(defineCommand({ meta: about, subCommands: Object.fromEntries(commands) }))
}

const exitCodes = 'EXIT CODES\n\n  0  all is well\n  1  not as expected\n  2  bad use, or a file that cannot be read\n'

async function usageOf(name: string, { description }: Row, { args, operands, examples }: Program): Promise<string> {
  const words: ArgsDef = operands === undefined ? {} : { [operands.hint]: { type: 'positional', description: ' ' } }
  const text = await renderUsage(
    defineCommand({ meta: { name, description }, args: { ...words, ...args } }),
    defineCommand({ meta: about }),
  )
  return `${text}\n\nEXAMPLES\n\n${examples.map((example) => `  ${example}\n`).join('')}\n${exitCodes}`
}

/** Asked of the package by its own name, because this file moves when it is built. */
async function version(): Promise<string> {
  const { version } = createRequire(import.meta.url)('stuntdouble/package.json') as { version: string }
  return version
}

/** In colour for a person, plain for a pipe. */
async function print(text: Promise<string>): Promise<number> {
  const shown = await text
  console.log(process.stdout.isTTY ? shown : stripVTControlCharacters(shown))
  return 0
}

void main(process.argv.slice(2)).then((code) => {
  if (code !== undefined) process.exitCode = code
})
