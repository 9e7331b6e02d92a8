// A redis-server to compare with, if the machine has one.
import { spawn } from 'node:child_process'
import { type AddressInfo, connect, createServer } from 'node:net'

export interface RedisServer {
  readonly port: number
  readonly pid: number
  stop(): void
}

const keepsNothing = ['--save', '']

/** Starts a server, by default without persistence; returns `undefined` if the machine has none. */
export async function startRedis(words: readonly string[] = keepsNothing): Promise<RedisServer | undefined> {
  // A separate port, because figures flush the server that they use.
  const port = await freePort()
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', ...words], {
    stdio: 'ignore',
  })
  const missing = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true))
    child.once('spawn', () => resolve(false))
  })
  if (missing) return undefined
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    port,
    pid: child.pid!,
    stop: () => child.kill(),
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.end() && resolve(true)).once('error', () => resolve(false))
  })
}
