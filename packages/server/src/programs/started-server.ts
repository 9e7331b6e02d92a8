import { type ParsedArguments, textOf, UsageError } from '@stuntdouble/command-line'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import { serveArguments, serverOptions } from '../config.js'
import { ListenFailure } from '../listen-failure.js'
import { RealRedisError } from '../real-redis/real-redis-errors.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../server.js'
import { StateFileError } from '../state/state-file.js'
import { scenarioFile } from '../tenant-scenario/shipped-scenario.js'
import { readText } from '../text-file.js'

interface Started {
  readonly server: StuntdoubleServer
  readonly options: ServerOptions
  readonly file: string | undefined
  readonly scenario: Scenario | undefined
}

/**
 * Starts a server with these options. Returns the server and its scenario.
 * @throws UsageError when it cannot start
 */
export async function startedServer(given: ParsedArguments): Promise<Started> {
  const options = { ...serverOptions(given), ...(await certificateOf(given)) }
  const word = textOf(given, 'scenario', 'FILE|NAME')
  const file = word === undefined ? undefined : scenarioFile(word)
  // Import the module only if there is a scenario. Servers without a scenario start faster then.
  const scenario =
    file === undefined ? undefined : await (await import('../tenant-scenario/watch-scenario.js')).scenarioOf(file)
  const server = await startServer(scenario === undefined ? options : within(scenario, options, given)).catch(
    (error) => {
      throw startFailure(error)
    },
  )
  return { server, options, file, scenario }
}

/** Removes the options that were not given on the command line, so that the scenario can set them. */
function within(scenario: Scenario, options: ServerOptions, given: ParsedArguments): ServerOptions {
  const { seed, dialect, startAt, ...rest } = options
  return {
    ...rest,
    scenario,
    ...(given.seed !== serveArguments.seed.default && { seed: seed! }),
    ...(given.dialect !== serveArguments.dialect.default && { dialect: dialect! }),
    ...(given['start-at'] !== undefined && { startAt: startAt! }),
  }
}

async function certificateOf(given: ParsedArguments): Promise<Pick<ServerOptions, 'redisTls'>> {
  const [cert, key] = [textOf(given, 'redis-cert', 'FILE'), textOf(given, 'redis-key', 'FILE')]
  if (cert === undefined || key === undefined) return {}
  const [certText, keyText] = await Promise.all([readText(cert), readText(key)])
  return { redisTls: { cert: certText, key: keyText } }
}

function startFailure(error: Error): Error {
  const isRefusal =
    error instanceof ListenFailure ||
    error instanceof StateFileError ||
    error instanceof RealRedisError ||
    error.name === 'EngineAway' ||
    error instanceof TypeError ||
    error.message.startsWith('NODE_ENV')
  return isRefusal ? new UsageError(error.message) : error
}
