import { onTestFinished } from 'vitest'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../../src/server.js'

/** Starts a server with a Redis port, until the test has ended. */
export async function served(options: ServerOptions = {}): Promise<StuntdoubleServer> {
  const server = await startServer({ port: 0, redisPort: 0, clock: 'manual', ...options })
  onTestFinished(() => server.close())
  return server
}
