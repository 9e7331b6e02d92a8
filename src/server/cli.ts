#!/usr/bin/env node
import { createRequire } from 'node:module'
import { stripVTControlCharacters } from 'node:util'
import { type ArgsDef, defineCommand, parseArgs, renderUsage } from 'citty'
import { serveArguments, serverOptions, UsageError } from './config.js'
import { type RunningServer, startServer } from './server.js'

const about = {
  name: 'stuntdouble',
  description: 'A stunt double for a data store, a message queue and a statistics API.',
}

interface Program {
  readonly description: string
  readonly args: ArgsDef
  run(given: Readonly<Record<string, unknown>>): Promise<void>
}

const programs: Readonly<Record<string, Program>> = {
  serve: {
    description: 'Serve the three APIs over HTTP, one sandbox for each tenant.',
    args: serveArguments,
    run: async (given) => endWithSignal(await serve(given)),
  },
}

/** Runs a command line; resolves with the exit code, or with `undefined` when it goes on running. */
async function main(argv: readonly string[]): Promise<number | undefined> {
  const [name = '--help', ...rest] = argv
  try {
    if (name === '--help' || name === '-h' || name === 'help') return await print(usage())
    if (name === '--version' || name === '-v') return await print(version())
    const program = Object.hasOwn(programs, name) ? programs[name] : undefined
    if (program === undefined) {
      const what = name.startsWith('-') ? 'option' : 'command'
      throw new UsageError(`There is no ${what} ${name}. Commands: ${Object.keys(programs).join(', ')}.`)
    }
    if (rest.includes('--help') || rest.includes('-h')) return await print(usage(name))
    await program.run(parsed(name, program, rest))
    return undefined
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`stuntdouble: ${error.message}`)
    return 2
  }
}

function parsed(name: string, { args }: Program, rest: string[]): Readonly<Record<string, unknown>> {
  const known = Object.keys(args)
  for (const word of rest) {
    if (word.startsWith('--') && word !== '--') {
      const option = word.slice(2).split('=', 1)[0]!
      if (!known.includes(option)) {
        throw new UsageError(
          `There is no option --${option}. ${name} takes ${known.map((one) => `--${one}`).join(', ')}.`,
        )
      }
    } else if (/^-[a-z]/i.test(word))
      throw new UsageError(`There is no option ${word}. Options are written in full: --${known[0]}.`)
  }
  const given = parseArgs(rest, args)
  if (given._.length > 0) throw new UsageError(`${name} takes options only, not ${JSON.stringify(given._[0])}.`)
  return given
}

async function serve(given: Readonly<Record<string, unknown>>): Promise<RunningServer> {
  const options = serverOptions(given)
  const server = await startServer(options).catch((error: NodeJS.ErrnoException) => {
    throw listenFailure(error, options.host ?? '', options.port ?? 0)
  })
  const { addresses, env } = server.tenant('main')
  const lines = [
    `store  ${addresses.store}`,
    `queue  ${addresses.queue}`,
    `mgmt   ${addresses.mgmt}`,
    '',
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    '',
    'ready',
  ]
  console.log(lines.join('\n'))
  return server
}

function listenFailure(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const sentences: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is taken: give another one with --port, or --port 0 for a free one.`,
    EACCES: `Port ${port} of ${host} may not be opened by this user: give one above 1023 with --port.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: give one with --host, such as 127.0.0.1 or 0.0.0.0.`,
    ENOTFOUND: `${host} is not an address of this machine: give one with --host, such as 127.0.0.1 or 0.0.0.0.`,
    EAI_AGAIN: `${host} is not an address of this machine: give one with --host, such as 127.0.0.1 or 0.0.0.0.`,
  }
  const sentence = sentences[error.code ?? '']
  return sentence === undefined ? error : new UsageError(sentence)
}

/** Ctrl-C closes connections and ends with 0. It may come twice: from the terminal, and handed on by npm. */
function endWithSignal(server: RunningServer): void {
  let ending = false
  const end = (): void => {
    if (ending) return
    ending = true
    void server.close().then(() => process.exit(0))
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

async function usage(name?: string): Promise<string> {
  const commands = Object.entries(programs).map(([key, { description, args }]) => [
    key,
    defineCommand({ meta: { name: key, description }, args }),
  ])
  const root = defineCommand({ meta: about, subCommands: Object.fromEntries(commands) })
  if (name === undefined) return renderUsage(root)
  const { description, args } = programs[name]!
  return renderUsage(defineCommand({ meta: { name, description }, args }), root)
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
