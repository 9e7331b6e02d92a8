import { prepareDestinations, prepareGiven, type Scenario, sandboxOptionsOf } from '../../faults/scenario.js'
import { serveArguments, serverOptions } from '../config.js'
import { type Given, type Program, textOf, UsageError } from '../program.js'
import { readScenario } from '../scenario-file.js'
import { type RunningServer, startServer } from '../server.js'
import { StateFileError } from '../state-file.js'
import { readText } from '../text-file.js'

export const program: Program = {
  args: serveArguments,
  examples: [
    'stuntdouble serve --vocabulary upstash',
    'stuntdouble serve --port 0 --clock manual --seed 7',
    'stuntdouble serve --vocabulary upstash --scenario outage.yaml',
    'stuntdouble serve --vocabulary upstash --state .stuntdouble.json',
    'stuntdouble serve --vocabulary upstash --port 8080   # what the queue SDK looks for in development',
  ],
  run: async (given) => {
    endWithSignal(await serve(given))
    return undefined
  },
}

async function serve(given: Given): Promise<RunningServer> {
  const scenario = await scenarioOf(given)
  const { policy, signingKey, nextSigningKey } = scenario === undefined ? {} : sandboxOptionsOf(scenario)
  const options = {
    ...(policy && { policy }),
    ...(signingKey !== undefined && { signingKey }),
    ...(nextSigningKey !== undefined && { nextSigningKey }),
    ...serverOptions(given),
  }
  const server = await startServer(options).catch((error: NodeJS.ErrnoException) => {
    throw listenFailure(error, options.host ?? '', options.port ?? 0)
  })
  if (scenario !== undefined) bring(scenario, server)
  const { addresses, env } = server.tenant('main')
  const lines = [
    `store  ${addresses.store}`,
    `queue  ${addresses.queue}`,
    `mgmt   ${addresses.mgmt}`,
    '',
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...(server.controlToken === undefined ? [] : ['', `control token  ${server.controlToken}`]),
    '',
    'ready',
  ]
  console.log(lines.join('\n'))
  return server
}

async function scenarioOf(given: Given): Promise<Scenario | undefined> {
  const file = textOf(given, 'scenario', 'FILE')
  return file === undefined ? undefined : readScenario(await readText(file), file)
}

/** The world of a scenario for people: what happens in it is theirs. */
function bring(scenario: Scenario, server: RunningServer): void {
  const sandbox = server.tenant('main')
  prepareGiven(scenario, sandbox)
  prepareDestinations(scenario, sandbox, () => false)
  if (scenario.faults !== undefined) sandbox.play(scenario)
}

function listenFailure(error: NodeJS.ErrnoException, host: string, port: number): Error {
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
  const isRefusal = error instanceof StateFileError || error.message.startsWith('NODE_ENV')
  return isRefusal ? new UsageError(error.message) : error
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
