// Serves the store on a loopback port for clients that never send AUTH. `redis-suite.ts` starts it and reads the port
// from its output.
import { createServer, type Socket } from 'node:net'
import { homeOf, porterOf, serveStream } from '../../packages/server/src/redis-port/connections.js'
import { createSandbox } from '../../src/index.js'
import type { Bytes } from '../../src/kernel/bytes.js'
import { latin1 } from '../../src/kernel/bytes.js'
import type { RespStore } from '../../src/store/resp/resp-connection.js'
import type { RespSessions } from '../../src/store/resp/sessions.js'

const sandbox = createSandbox({
  clock: 'real',
  policy: {
    commands: 'all',
    maxTrafficEntries: 0,
    // The suite measures redis-server, which has none of these limits.
    maxRequestSize: 536_870_912,
    maxResponseSize: 536_870_912,
    maxKeySize: 536_870_912,
    maxRecordSize: undefined,
    maxPendingPerConsumer: undefined,
    maxWork: 4_000_000_000,
    maxScriptSteps: 20_000_000,
    maxStreamBuffer: 67_108_864,
  },
})
/**
 * Returns success for parameters of redis-server that the store does not have, because the suite sets some before most
 * of its parts.
 */
function answered(argv: readonly string[], bytes: Bytes): Bytes {
  if (argv[0]!.toUpperCase() !== 'CONFIG') return bytes
  const name = argv[2] ?? ''
  if (bytes.startsWith('-ERR Unknown option')) return latin1('+OK\r\n')
  return bytes === '*0\r\n' ? latin1(`*2\r\n$${name.length}\r\n${name}\r\n$0\r\n\r\n`) : bytes
}

const home = homeOf(sandbox)
const lenient: RespStore = {
  get sessions() {
    const { sessions } = home
    return new Proxy(sessions, {
      get(target, name) {
        if (name !== 'run') {
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === 'function' ? value.bind(target) : value
        }
        const run: RespSessions['run'] = (session, argv, turn) =>
          target.run(session, argv, { ...turn, send: (bytes) => turn.send(answered(argv, bytes)) })
        return run
      },
    })
  },
}

const server = createServer((socket: Socket) => {
  socket.setNoDelay(true)
  const address = `${socket.remoteAddress}:${socket.remotePort}`
  const wire = serveStream(socket, porterOf(sandbox), address, {
    report: (error) => {
      console.error(error)
      socket.destroy()
    },
  })
  wire.welcome(lenient, 'default')
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port))
// Exits when the process that started this one has ended.
process.stdin.resume().on('end', () => process.exit())
