import { randomBytes } from 'node:crypto'
import { ownManifest, type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { plainText } from '../../../../src/report/safe-text.js'
import { controlTokenOption, fromEnvironment, serveArguments } from '../config.js'
import { ListenFailure, listenFailure } from '../listen-failure.js'
import type { McpProtocol } from '../mcp/mcp-protocol.js'
import { type McpTarget, ServerTarget, TraceTarget } from '../mcp/mcp-target.js'
import { readTrace } from '../trace-file.js'
import { connected } from './env-program.js'
import { endWithNpm } from './parent.js'
import { startedServer } from './started-server.js'

/**
 * Environment variable for `--token`. Other users of a machine can read the arguments of a process, but not its
 * environment.
 */
const tokenVariable = 'STUNTDOUBLE_MCP_TOKEN'
const shortestToken = 16
/** Default of `--port`: the port after that of `stuntdouble serve`. */
const httpPort = '4011'

const {
  dialect,
  seed,
  'start-at': startAt,
  'deliver-to': deliverTo,
  scenario,
  'allow-production': allowProduction,
} = serveArguments

/**
 * Options of the server that this command starts. The command starts a server only if neither `--url` nor `--trace` is
 * given.
 */
const ofOwnServer = {
  'serve-port': {
    type: 'string',
    valueHint: 'N',
    default: '0',
    description: 'port of the started server; 0 selects a free one',
  },
  clock: { ...serveArguments.clock, default: 'manual' } as typeof serveArguments.clock,
  dialect,
  seed,
  'start-at': startAt,
  'deliver-to': deliverTo,
  scenario,
  'allow-production': allowProduction,
} as const

export const program: Program = {
  args: {
    url: { type: 'string', valueHint: 'URL', description: 'running server to connect to (default: start one)' },
    tenant: { type: 'string', valueHint: 'NAME', default: 'main', description: 'tenant of calls that do not name one' },
    'control-token': controlTokenOption,
    trace: {
      type: 'string',
      valueHint: 'FILE',
      description: 'saved trace to read instead of a server, with reading tools only',
    },
    http: { type: 'boolean', description: 'use HTTP on this machine instead of the standard streams' },
    port: { type: 'string', valueHint: 'N', default: httpPort, description: 'port of --http; 0 selects a free one' },
    token: {
      type: 'string',
      valueHint: 'T',
      description: `token of --http; or ${tokenVariable} (default random)`,
    },
    ...ofOwnServer,
  },
  examples: [
    'stuntdouble mcp',
    'stuntdouble mcp --url http://127.0.0.1:4010 --tenant w1',
    'stuntdouble mcp --trace trace.json',
    'stuntdouble mcp --http',
  ],
  run: async (given) => {
    refuseConflicts(given)
    const { loadProtocol } = await import('../mcp/mcp-protocol.js')
    const protocol = await loadProtocol(ownManifest().version).catch((error: NodeJS.ErrnoException) => {
      throw missingPeer(error)
    })
    const http = given.http === true ? httpOf(given) : undefined
    const { world, about, close } = await worldOf(given, http === undefined ? [] : [http.token])
    try {
      if (http !== undefined) await overHttp(http, world, about, protocol)
      else await overStreams(world, about, protocol)
    } finally {
      await close()
    }
    return 0
  },
}

function refuseConflicts(given: ParsedArguments): void {
  if (given.url !== undefined && given.trace !== undefined)
    throw new UsageError('--url and --trace exclude each other. Use --url for a running server or --trace for a file.')
  if (given.http !== true && (given.token !== undefined || given.port !== httpPort))
    throw new UsageError('--port and --token apply only with --http. Add --http or omit them.')
  const other = given.url !== undefined ? '--url' : given.trace !== undefined ? '--trace' : undefined
  if (other === undefined) return
  const idle = Object.entries(ofOwnServer).find(([name, row]) => (given[name] ?? row.default) !== row.default)
  if (idle !== undefined)
    throw new UsageError(`--${idle[0]} applies only to a server that this command starts. Omit it with ${other}.`)
}

function missingPeer(error: NodeJS.ErrnoException): Error {
  const isMissing = error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes('@modelcontextprotocol/server')
  return isMissing
    ? new UsageError(
        'mcp needs the package @modelcontextprotocol/server. Run npm install --save-dev @modelcontextprotocol/server@2.',
      )
    : error
}

interface Opened {
  readonly world: McpTarget
  /** Description of the source for the user, such as `the trace out.json`. */
  readonly about: string
  close(): Promise<void>
}

/** Opens the source that the options select: a server or a trace. @param secrets values that no response may contain */
async function worldOf(given: ParsedArguments, secrets: readonly string[]): Promise<Opened> {
  const trace = textOf(given, 'trace', 'FILE')
  if (trace === '-')
    throw new UsageError(
      '--trace must be a file, because standard input carries the protocol. Save the trace to a file first.',
    )
  const none = async (): Promise<void> => {}
  if (trace !== undefined)
    return {
      world: new TraceTarget(await readTrace(trace), secrets),
      about: `the trace ${plainText(trace)}`,
      close: none,
    }
  const tenant = textOf(given, 'tenant', 'NAME')!
  const url = textOf(given, 'url', 'URL')
  if (url !== undefined) {
    // The target connects on first use. Connect now, so that the user immediately sees that a server does not respond.
    await connected(given)
    const controlToken = textOf(fromEnvironment(given), 'control-token', 'T')
    return {
      world: new ServerTarget({ url, tenant, controlToken, secrets }),
      about: `the server at ${url}`,
      close: none,
    }
  }
  const { server } = await startedServer({ ...defaultsOfServe, ...given, port: given['serve-port'], _: [] })
  try {
    server.tenant(tenant)
  } catch (error) {
    await server.close()
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
  const { origin, controlToken } = server
  const flags = `--url ${origin}${tenant === 'main' ? '' : ` --tenant ${tenant}`}`
  return {
    world: new ServerTarget({ url: origin, tenant, controlToken, secrets }),
    about: `a new server at ${origin}; eval "$(npx stuntdouble env ${flags})" sets its environment for the app`,
    close: () => server.close(),
  }
}

const defaultsOfServe = Object.fromEntries(Object.entries(serveArguments).map(([name, row]) => [name, row.default]))

const report = (text: string): void => console.error(`stuntdouble mcp: ${plainText(text)}`)

/** Serves MCP over the standard streams. All other output goes to standard error. */
async function overStreams(world: McpTarget, about: string, protocol: McpProtocol): Promise<void> {
  console.log = console.info = console.debug = console.error
  const { lines, maxMessage } = await import('../mcp/stdin-lines.js')
  const input = process.stdin.pipe(
    lines(() => {
      report(`a message of more than ${maxMessage} bytes was ignored`)
      const error = { code: -32600, message: `A message must have at most ${maxMessage} bytes. Send less.` }
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error })}\n`)
    }),
  )
  onEnd(() => input.destroy())
  // Ignore this error: the reader of the output has disconnected.
  process.stdout.on('error', () => input.destroy())
  if (process.stdin.isTTY)
    report(`${about}. Start this command from an agent, which sends its requests on standard input; see --help.`)
  await protocol.overStreams(world, { input, output: process.stdout, report })
  process.stdin.destroy()
}

interface Http {
  readonly port: number
  readonly token: string
  /** Whether the token was created by this command, so that it must be printed. */
  readonly isNew: boolean
}

function httpOf(given: ParsedArguments): Http {
  const token = textOf(given, 'token', 'T') ?? (process.env[tokenVariable] || undefined)
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new UsageError(
      '--token must consist of visible ASCII characters, because it is sent in a header. Remove spaces and other characters.',
    )
  if (token !== undefined && token.length < shortestToken)
    throw new UsageError(
      `--token must have at least ${shortestToken} characters (got ${token.length}). Use a longer one, or omit it for a random one.`,
    )
  const port = textOf(given, 'port', 'N')!
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535 (got ${JSON.stringify(port)}).`)
  return { port: Number(port), token: token ?? randomBytes(24).toString('base64url'), isNew: token === undefined }
}

async function overHttp(
  { port, token, isNew }: Http,
  world: McpTarget,
  about: string,
  protocol: McpProtocol,
): Promise<void> {
  const { listenForAgents } = await import('../mcp/mcp-http.js')
  const handler = protocol.overHttp(world, report)
  const handle = (request: Request): Promise<Response> => handler.fetch(request)
  const server = await listenForAgents({ port, token, handle, report }).catch((error) => {
    const failure = listenFailure(error, 'localhost', port)
    throw failure instanceof ListenFailure ? new UsageError(failure.message) : failure
  })
  console.log(`url    ${server.url}`)
  console.log(`token  ${isNew ? token : 'as given'}   as Authorization: Bearer TOKEN`)
  console.log(`target ${about}\n\nready`)
  await new Promise<void>((resolve) => onEnd(resolve))
  await handler.close()
  await server.close()
}

function onEnd(end: () => void): void {
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  endWithNpm(end)
}
