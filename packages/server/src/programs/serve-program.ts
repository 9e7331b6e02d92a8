import { type ParsedArguments, type Program, UsageError } from '@stuntdouble/command-line'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { secretVariable, serveArguments } from '../config.js'
import type { StuntdoubleServer } from '../server.js'
import { endWithNpm } from './parent.js'
import { startedServer } from './started-server.js'

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
    'stuntdouble serve --port 8080   # what the queue SDK looks for in development',
  ],
  run: async (given) => {
    await serve(given)
    return undefined
  },
}

async function serve(given: ParsedArguments): Promise<void> {
  if (given.scenario === undefined && given.watch === true)
    throw new UsageError('--watch needs what to watch: --scenario FILE.')
  if (given.state === undefined && given['rebase-time'] === true)
    throw new UsageError('--rebase-time needs what to rebase: --state FILE.')
  const { server, options, file, scenario } = await startedServer(given)
  const { urls, env } = server.node === undefined ? await mainOf(server) : server.describeTenant('main')
  const lines = [
    `store  ${urls.store}`,
    `queue  ${urls.queue}`,
    `mgmt   ${urls.mgmt}`,
    '',
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    '',
    `inspector  ${server.inspectorUrl}`,
    ...(server.controlToken === undefined ? [] : ['', `control token  ${server.controlToken}`]),
    ...(server.secret === options.secret
      ? []
      : [`secret         ${server.secret}   keeps these tokens after a restart: --secret or ${secretVariable}`]),
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

/** A state file may hold as many tenants as there may be, and none of this name. */
async function mainOf(server: StuntdoubleServer): Promise<Sandbox> {
  try {
    return server.tenant('main')
  } catch (error) {
    await server.close()
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

/** Ctrl-C closes connections and ends with 0. It may come twice: from the terminal, and handed on by npm. */
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
