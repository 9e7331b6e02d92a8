import type { Sandbox } from '../../sandbox/sandbox.js'
import type { Scenario } from '../../scenarios/scenario.js'
import { secretVariable, serveArguments, serverOptions } from '../config.js'
import { type Given, type Program, textOf, UsageError } from '../program.js'
import { type RunningServer, type ServerOptions, startServer } from '../server.js'
import { StateFileError } from '../state/file.js'

export const program: Program = {
  args: serveArguments,
  examples: [
    'stuntdouble serve',
    'stuntdouble serve --port 0 --clock manual --seed 7',
    'stuntdouble serve --state .stuntdouble.json',
    'stuntdouble serve --clock auto --scenario scenarios/lost-acknowledgements.yaml --watch',
    'stuntdouble serve --port 8080   # what the queue SDK looks for in development',
  ],
  run: async (given) => {
    await serve(given)
    return undefined
  },
}

async function serve(given: Given): Promise<void> {
  const options = serverOptions(given)
  const file = textOf(given, 'scenario', 'FILE')
  if (file === undefined && given.watch === true) throw new UsageError('--watch needs what to watch: --scenario FILE.')
  if (options.state === undefined && options.shift) throw new UsageError('--shift needs what to shift: --state FILE.')
  // Most servers have no scenario, and shall be ready soon.
  const watched = file === undefined ? undefined : await import('../scene/watch.js')
  const scenario = file === undefined ? undefined : await watched!.scenarioOf(file)
  const server = await startServer(scenario === undefined ? options : within(scenario, options, given)).catch(
    (error: NodeJS.ErrnoException) => {
      throw startFailure(error, options.host ?? '', options.port ?? 0)
    },
  )
  const { addresses, env } = await mainOf(server)
  const lines = [
    `store  ${addresses.store}`,
    `queue  ${addresses.queue}`,
    `mgmt   ${addresses.mgmt}`,
    '',
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...(server.controlToken === undefined ? [] : ['', `control token  ${server.controlToken}`]),
    ...(server.secret === options.secret
      ? []
      : [`secret         ${server.secret}   keeps these tokens after a restart: --secret or ${secretVariable}`]),
    ...(scenario === undefined ? [] : ['', `scenario  ${watched!.summaryOf(scenario)}`]),
    '',
    'ready',
  ]
  endWithSignal(server)
  console.log(lines.join('\n'))
  if (file !== undefined && given.watch === true) watched!.watchScenario(file, server)
}

/** A state file may hold as many tenants as there may be, and none of this name. */
async function mainOf(server: RunningServer): Promise<Sandbox> {
  try {
    return server.tenant('main')
  } catch (error) {
    await server.close()
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

/** Options that were left at their defaults are for the scenario to say. */
function within(scenario: Scenario, options: ServerOptions, given: Given): ServerOptions {
  const { seed, vocabulary, startAt, ...rest } = options
  return {
    ...rest,
    scenario,
    ...(given.seed !== serveArguments.seed.default && { seed: seed! }),
    ...(given.vocabulary !== serveArguments.vocabulary.default && { vocabulary: vocabulary! }),
    ...(given['start-at'] !== undefined && { startAt: startAt! }),
  }
}

function startFailure(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const notHere = `${host} is not an address of this machine: give one with --host, such as 127.0.0.1 or 0.0.0.0.`
  const sentences: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is taken: give another one with --port, or --port 0 for a free one.`,
    EACCES: `Port ${port} of ${host} may not be opened by this user: give one above 1023 with --port.`,
    EADDRNOTAVAIL: notHere,
    ENOTFOUND: notHere,
    EAI_AGAIN: notHere,
  }
  const sentence = sentences[error.code ?? '']
  if (sentence !== undefined) return new UsageError(sentence)
  const isRefusal =
    error instanceof StateFileError || error instanceof TypeError || error.message.startsWith('NODE_ENV')
  return isRefusal ? new UsageError(error.message) : error
}

/** Ctrl-C closes connections and ends with 0. It may come twice: from the terminal, and handed on by npm. */
function endWithSignal(server: RunningServer): void {
  let ending = false
  const end = (): void => {
    if (ending) return
    ending = true
    void server.close().then(() => process.exit(server.isKept ? 0 : 3))
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}
