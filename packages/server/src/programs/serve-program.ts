import { type ParsedArguments, type Program, UsageError } from '@stuntdouble/command-line'
import { neutralDialect, upstashDialect } from '../../../../src/protocol/dialect.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { secretVariable, serveArguments } from '../config.js'
import { defaultPort } from '../listen-addresses.js'
import type { StuntdoubleServer } from '../server.js'
import { endWithNpm } from './parent.js'
import { startedServer } from './started-server.js'

/** URL of a server with default options. It is also the default of `--url` in `stuntdouble env`. */
const defaultOrigin = `http://127.0.0.1:${defaultPort}`

export const program: Program = {
  args: serveArguments,
  repeated: ['policy'],
  examples: [
    'stuntdouble serve',
    'stuntdouble serve --port 0 --clock manual --seed 7',
    'stuntdouble serve --policy queuePlan=free --policy queueLimits.maxRetries=5',
    'stuntdouble serve --state .stuntdouble.json',
    'stuntdouble serve --clock auto --scenario lost-acknowledgements',
    'stuntdouble serve --cluster redis://127.0.0.1:6379   # with STUNTDOUBLE_CLUSTER_SECRET in its environment',
    'stuntdouble serve --port 8079 --store-token example_token   # in place of serverless-redis-http',
    'stuntdouble serve --port 8080   # port that the queue SDK uses in development',
  ],
  run: async (given) => {
    await serve(given)
    return undefined
  },
}

async function serve(given: ParsedArguments): Promise<void> {
  if (given.scenario === undefined && given.watch === true)
    throw new UsageError('--watch needs a scenario. Add --scenario FILE.')
  if (given.state === undefined && given['rebase-time'] === true)
    throw new UsageError('--rebase-time needs a state file. Add --state FILE.')
  const { server, options, file, scenario } = await startedServer(given)
  const { urls, env } = server.node === undefined ? await mainOf(server) : server.describeTenant('main')
  const envCommand = `npx stuntdouble env${server.origin === defaultOrigin ? '' : ` --url ${server.origin}`}`
  const lines = [
    `store  ${urls.store}`,
    ...Object.entries(urls.databases).map(([name, url]) => `store  ${url}   ${envCommand} --database ${name}`),
    `queue  ${urls.queue}`,
    `mgmt   ${urls.mgmt}`,
    '',
    ...essentialOf(env).map(([name, value]) => `${name}=${value}`),
    `all ${Object.keys(env).length} variables  ${envCommand}`,
    '',
    `inspector  ${server.inspectorUrl}`,
    ...(server.controlToken === undefined ? [] : ['', `control token  ${server.controlToken}`]),
    ...(server.secret === options.secret
      ? []
      : [
          `secret         ${server.secret}   keep it to get the same tokens after a restart: --secret or ${secretVariable}`,
        ]),
    ...(server.node === undefined ? [] : ['', `cluster  node ${server.node.id} at ${server.node.address}`]),
    ...(scenario === undefined
      ? []
      : ['', `scenario  ${(await import('../tenant-scenario/watch-scenario.js')).summaryOf(scenario)}`]),
    '',
    'ready',
  ]
  endWithSignal(server)
  console.log(lines.join('\n'))
  if (file !== undefined && given.watch === true)
    (await import('../tenant-scenario/watch-scenario.js')).watchScenario(file, server)
}

/** Returns the variables that most apps need: URL and token of store and queue, the signing keys, and the Redis URL. */
function essentialOf(env: Readonly<Record<string, string>>): [string, string][] {
  const found = dialects.map(({ environment: names }) =>
    [
      ...names.storeUrl.slice(0, 1),
      ...names.storeToken.slice(0, 1),
      names.queueUrl,
      names.queueToken,
      names.queueCurrentSigningKey,
      names.queueNextSigningKey,
      'REDIS_URL',
    ].flatMap((name): [string, string][] => (env[name] === undefined ? [] : [[name, env[name]]])),
  )
  return found.find((variables) => variables.length >= 6) ?? Object.entries(env)
}

/**
 * Dialects in the order in which their variables are searched. With `auto`, the environment contains the names of both
 * dialects, and the vendor's names are preferred.
 */
const dialects = [upstashDialect, neutralDialect]

/**
 * Returns the tenant `main`. It cannot be created if the state file already contains the maximum number of other
 * tenants.
 */
async function mainOf(server: StuntdoubleServer): Promise<Sandbox> {
  try {
    return server.tenant('main')
  } catch (error) {
    await server.close()
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

/**
 * Closes all connections on Ctrl-C and exits with 0. Ctrl-C may arrive twice: from the terminal, and forwarded by npm.
 */
function endWithSignal(server: StuntdoubleServer): void {
  let ending = false
  const end = (): void => {
    if (ending) return
    ending = true
    void server.close().then(() => process.exit(server.isStateSaved ? 0 : 3))
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  endWithNpm(end)
}
