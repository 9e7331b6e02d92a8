// A redis-server to compare with, where there is one.
import { spawn } from 'node:child_process'
import { connect } from 'node:net'

export interface RedisServer {
  readonly port: number
  stop(): void
}

let port = 16_390

/** Starts one that keeps nothing on disk; `undefined` when the machine has none. */
export async function startRedis(): Promise<RedisServer | undefined> {
  port++
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--bind', '127.0.0.1'], {
    stdio: 'ignore',
  })
  const missing = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true))
    child.once('spawn', () => resolve(false))
  })
  if (missing) return undefined
  while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, 20))
  return {
    port,
    stop: () => child.kill(),
  }
}

function answers(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.end() && resolve(true)).once('error', () => resolve(false))
  })
}
