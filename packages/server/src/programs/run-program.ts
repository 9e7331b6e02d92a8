import { constants } from 'node:os'
import { type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { plural } from '../../../../src/kernel/plural.js'
import { consoleText, plainText } from '../../../../src/report/safe-text.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { sandboxInternals } from '../../../../src/sandbox/sandbox-internals.js'
import { commandEnvironment, controlVariable, serveArguments } from '../config.js'
import type { StuntdoubleServer } from '../server.js'
import { endWithNpm } from './parent.js'
import { ProcessGroup } from './process-group.js'
import { startedServer } from './started-server.js'

const {
  dialect,
  clock,
  seed,
  'start-at': startAt,
  'deliver-to': deliverTo,
  policy,
  scenario,
  'allow-production': allowProduction,
} = serveArguments

/** Entries of a timeline that are shown when a command has failed. */
const maxShown = 200

export const program: Program = {
  args: {
    tenant: { type: 'string', valueHint: 'NAME', default: 'main', description: 'whose addresses and tokens it gets' },
    port: { type: 'string', valueHint: 'N', default: '0', description: 'port of the server; 0 takes a free one' },
    dialect,
    clock,
    seed,
    'start-at': startAt,
    'deliver-to': deliverTo,
    policy,
    scenario,
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
      const { env } = tenantOf(server, name)
      const code = await ended(given._, { ...process.env, ...commandEnvironment(server.origin, name, env) })
      if (code !== 0) for (const each of server.tenants) tell(server.tenant(each), each)
      return code
    } finally {
      await server.close()
    }
  },
}

/** What `serve` takes and this does not. */
const defaultsOfServe = Object.fromEntries(Object.entries(serveArguments).map(([name, row]) => [name, row.default]))

function tenantOf(server: StuntdoubleServer, name: string): Sandbox {
  try {
    return server.tenant(name)
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

/**
 * Runs the command with our terminal, hands signals on to all that it has started, and resolves with what it ended with.
 * Nothing that it has started goes on after that.
 */
function ended([command = '', ...words]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    // First, so that no signal comes between: it is heard after this turn, when the group is there.
    const stop = handOn((name) => group.signal(name))
    const group = new ProcessGroup(command, words, env)
    endWithNpm(() => void group.signal('SIGTERM'))
    group.leader.once('error', (error: NodeJS.ErrnoException) => {
      stop()
      const why =
        error.code === 'ENOENT'
          ? 'There is no such command'
          : error.code === 'EACCES'
            ? 'It may not be run'
            : error.message
      reject(new UsageError(`${plainText(command)} cannot be started. ${why}: write it as in a shell, behind --.`))
    })
    group.leader.once('close', (code, signal) => {
      void group.end().then(() => {
        stop()
        // As shells tell it.
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]))
      })
    })
  })
}

/** A terminal sends Ctrl-C to npm as well, which hands it on: the same signal within this time is one, in host milliseconds. */
const echo = 100

/** The command is in a session of its own, where the terminal's signals do not reach it: what we hear is meant for it. */
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
  // Ctrl-Z: both stop, and both go on.
  handlers.set('SIGTSTP', () => {
    send('SIGSTOP')
    process.kill(process.pid, 'SIGSTOP')
    send('SIGCONT')
  })
  // The window has another size, as often as it is drawn.
  handlers.set('SIGWINCH', () => send('SIGWINCH'))
  if (process.platform === 'win32')
    for (const name of ['SIGQUIT', 'SIGTSTP', 'SIGWINCH'] as const) handlers.delete(name)
  for (const [signal, hear] of handlers) process.on(signal, hear)
  return () => {
    for (const [signal, hear] of handlers) process.off(signal, hear)
  }
}

/**
 * What has happened in a world, after a command that failed. Tests that reset the world between them leave the story of
 * the last one only, which may have passed.
 */
function tell(sandbox: Sandbox, name: string): void {
  const { traffic, destinations, outbound } = sandbox
  if (traffic.size === 0) return
  const since = sandboxInternals.of(sandbox).beginning().world > 0 ? ' since the last reset or load' : ''
  const left = traffic.size - maxShown
  const lines = [
    '',
    `stuntdouble, tenant ${name}: ${plural(traffic.size, 'entry', 'entries')}${since}${left > 0 ? `, the last ${maxShown}` : ''}`,
    '',
    traffic.timeline({ limit: maxShown }),
    ...[...destinations.unhandled, ...outbound.unhandled].map((sentence) => `\n${sentence}`),
  ]
  console.error(consoleText(lines.join('\n')))
}
