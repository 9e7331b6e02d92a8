import { constants } from 'node:os'
import { type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { plural } from '../../../../src/kernel/plural.js'
import { consoleText, plainText } from '../../../../src/report/safe-text.js'
import { tenantsSummary } from '../../../../src/report/step-summary.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { commandEnvironment, controlVariable, serveArguments } from '../config.js'
import type { StuntdoubleServer } from '../server.js'
import { appendStepSummary } from '../step-summary-file.js'
import { databaseEnvironment, databaseOption } from './env-program.js'
import { endWithNpm } from './parent.js'
import { ProcessGroup } from './process-group.js'
import { maxShown, sinceReset, summarizedTenant } from './run-summary.js'
import { startedServer } from './started-server.js'

const {
  dialect,
  clock,
  seed,
  'start-at': startAt,
  'deliver-to': deliverTo,
  databases,
  policy,
  scenario,
  'store-token': storeToken,
  'redis-port': redisPort,
  'redis-no-auth': redisNoAuth,
  'allow-production': allowProduction,
} = serveArguments

export const program: Program = {
  args: {
    tenant: {
      type: 'string',
      valueHint: 'NAME',
      default: 'main',
      description: 'tenant whose URLs and tokens the command gets',
    },
    port: { type: 'string', valueHint: 'N', default: '0', description: 'port of the server; 0 selects a free one' },
    dialect,
    clock,
    seed,
    'start-at': startAt,
    'deliver-to': deliverTo,
    databases,
    database: databaseOption,
    policy,
    scenario,
    'store-token': storeToken,
    'redis-port': redisPort,
    'redis-no-auth': redisNoAuth,
    'allow-production': allowProduction,
  },
  operands: { hint: '-- COMMAND …', least: 1, most: Number.POSITIVE_INFINITY },
  endsOptions: true,
  repeated: ['policy'],
  examples: [
    'stuntdouble run -- pytest -q',
    'stuntdouble run --clock auto --scenario lost-acknowledgements -- go test ./...',
    `stuntdouble run -- sh -c 'curl -d "{\\"by\\":\\"5m\\"}" $${controlVariable}/clock/advance'`,
  ],
  run: async (given) => {
    const { server } = await startedServer({ ...defaultsOfServe, ...given, _: [] })
    const name = textOf(given, 'tenant', 'NAME')!
    try {
      const env = databaseEnvironment(tenantOf(server, name), textOf(given, 'database', 'NAME'))
      const code = await ended(given._, { ...process.env, ...commandEnvironment(server.origin, name, env) })
      const used = server.tenants.filter((each) => server.tenant(each).traffic.size > 0)
      if (code !== 0) for (const each of used) tell(server.tenant(each), each)
      appendStepSummary((room) => {
        const tenants = used.map((each) => summarizedTenant(server.tenant(each), each))
        // Arguments can be secrets, so only the program is named.
        return tenantsSummary({ command: given._[0]!, code, tenants }, room)
      })
      return code
    } finally {
      await server.close()
    }
  },
}

/** Default values of all options of `serve`. The command `run` has only some of these options. */
const defaultsOfServe = Object.fromEntries(Object.entries(serveArguments).map(([name, row]) => [name, row.default]))

function tenantOf(server: StuntdoubleServer, name: string): Sandbox {
  try {
    return server.tenant(name)
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

/**
 * Runs the command in this terminal and returns its exit code. Signals are forwarded to the command and its child
 * processes. When the promise resolves, all of these processes have ended.
 */
function ended([command = '', ...words]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    // Install the signal handlers first, so that no signal is lost. The handlers run only after this function has
    // returned, when `group` is set.
    const stop = handOn((name) => group.signal(name))
    const group = new ProcessGroup(command, words, env)
    endWithNpm(() => void group.signal('SIGTERM'))
    group.leader.once('error', (error: NodeJS.ErrnoException) => {
      stop()
      const why =
        error.code === 'ENOENT'
          ? 'the command was not found'
          : error.code === 'EACCES'
            ? 'permission was denied'
            : error.message
      reject(
        new UsageError(
          `run: ${plainText(command)} cannot be started: ${why}. Write the command after --, as in a shell.`,
        ),
      )
    })
    group.leader.once('close', (code, signal) => {
      void group.end().then(() => {
        stop()
        // Shells report a signal as 128 plus its number.
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]))
      })
    })
  })
}

/**
 * Time in which a repeated signal is ignored, in milliseconds of host time. The terminal sends Ctrl-C to this process
 * and to npm, and npm forwards it to this process again.
 */
const echo = 100

/**
 * Forwards signals to the command. The command runs in its own session, which gets no signals from the terminal.
 * Returns a function that stops the forwarding.
 */
function handOn(send: (name: NodeJS.Signals) => void): () => void {
  const handlers = new Map<NodeJS.Signals, () => void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    let heardAt = Number.NEGATIVE_INFINITY
    handlers.set(signal, () => {
      if (performance.now() - heardAt < echo) return
      heardAt = performance.now()
      send(signal)
    })
  }
  // Ctrl-Z stops the command and this process. When this process continues, the command also continues.
  handlers.set('SIGTSTP', () => {
    send('SIGSTOP')
    process.kill(process.pid, 'SIGSTOP')
    send('SIGCONT')
  })
  // The terminal was resized. Forward every such signal, even many in a row.
  handlers.set('SIGWINCH', () => send('SIGWINCH'))
  if (process.platform === 'win32')
    for (const name of ['SIGQUIT', 'SIGTSTP', 'SIGWINCH'] as const) handlers.delete(name)
  for (const [signal, hear] of handlers) process.on(signal, hear)
  return () => {
    for (const [signal, hear] of handlers) process.off(signal, hear)
  }
}

/**
 * Prints the timeline of a sandbox after a command that failed. If tests reset the sandbox, the timeline contains only
 * the last test. That test may have passed.
 */
function tell(sandbox: Sandbox, name: string): void {
  const { traffic, destinations, outbound } = sandbox
  const left = traffic.size - maxShown
  const lines = [
    '',
    `stuntdouble, tenant ${name}: ${plural(traffic.size, 'entry', 'entries')}${sinceReset(sandbox)}${left > 0 ? `, the last ${maxShown}` : ''}`,
    '',
    traffic.timeline({ limit: maxShown }),
    ...[...destinations.unhandled, ...outbound.unhandled].map((message) => `\n${message}`),
  ]
  console.error(consoleText(lines.join('\n')))
}
