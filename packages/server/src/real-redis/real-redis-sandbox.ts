import { connect, type RemoteSandbox } from '../../../../src/client/connect.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../server.js'
import type { ShadowDifference } from './shadow.js'

export type { RemoteSandbox } from '../../../../src/client/connect.js'
export type { KnownDifference } from '../../../../src/store/differences.js'
export type { ServerOptions } from '../server.js'
export type { ShadowDifference } from './shadow.js'

/** Options of a server, without those that cannot be combined with a real Redis. */
export type RealRedisSandboxOptions = Omit<
  ServerOptions,
  'realRedis' | 'state' | 'rebaseTime' | 'scenario' | 'redisPort' | 'redisTls' | 'databases'
>

/** A sandbox whose store is a real Redis. All methods return promises, as for a sandbox on a server. */
export interface RealRedisSandbox extends RemoteSandbox {
  /**
   * Empties the real Redis and releases it. A real Redis that no longer belongs to this sandbox is not changed.
   * @example
   * const sandbox = await createRealRedisSandbox('redis://127.0.0.1:6379')
   * await sandbox.close()
   */
  close(): Promise<void>
}

/**
 * Creates a sandbox whose store is a real Redis or Valkey. REST, tokens, faults, captured traffic and matchers belong
 * to the sandbox; the real Redis runs the commands and keeps the data. The sandbox listens on a free loopback port, and
 * its queue, workflows and statistics use the real clock.
 * @param url `redis://127.0.0.1:6379`, or any node of a Cluster. The Redis must be empty. `reset()` and `close()` flush
 *   it
 * @throws Error if the real Redis is unavailable, not empty, or used by another sandbox; TypeError if it is not on this
 *   machine, and for options that are not possible with a real Redis
 * @example
 * await using sandbox = await createRealRedisSandbox('redis://127.0.0.1:6379')
 * Object.assign(process.env, sandbox.env)
 */
export async function createRealRedisSandbox(
  url: string,
  options: RealRedisSandboxOptions = {},
): Promise<RealRedisSandbox> {
  return served(await startServer({ port: 0, ...options, realRedis: url }))
}

/** A sandbox that is compared with a real Redis. */
export interface ShadowSandbox extends RealRedisSandbox {
  /**
   * Waits until all commands so far were compared. Returns all differences.
   * @example
   * await using sandbox = await createShadowSandbox('redis://127.0.0.1:6379')
   * await sandbox.store.run('SET', 'greeting', 'hello')
   * expect(await sandbox.differences()).toEqual([])
   */
  differences(): Promise<readonly ShadowDifference[]>
}

/**
 * Creates a sandbox with a real Redis or Valkey as its shadow: each command runs on both in the same order, on the real
 * clock. The app gets the reply of the double. If the real Redis replies differently, both replies are kept. A known
 * difference that explains the replies is kept, too. For random and time-dependent commands only the shape is compared.
 * @param url as for `createRealRedisSandbox()`
 * @throws Error, TypeError as `createRealRedisSandbox()`
 * @example
 * await using sandbox = await createShadowSandbox('redis://127.0.0.1:6379')
 * await sandbox.store.run('SET', 'greeting', 'hello')
 * const unknown = (await sandbox.differences()).filter(({ known }) => known === undefined)
 */
export async function createShadowSandbox(url: string, options: RealRedisSandboxOptions = {}): Promise<ShadowSandbox> {
  const seen: ShadowDifference[] = []
  const server = await startServer({
    port: 0,
    ...options,
    shadowRedis: url,
    onDifference: (difference) => seen.push(difference),
  })
  const differences = async (): Promise<readonly ShadowDifference[]> => {
    await server.shadowSettled()
    return [...seen]
  }
  return Object.assign(await served(server), { differences })
}

async function served(server: StuntdoubleServer): Promise<RealRedisSandbox> {
  const { origin, controlToken } = server
  const close = (): Promise<void> => server.close()
  try {
    const sandbox = await connect(origin, controlToken === undefined ? {} : { controlToken })
    return Object.assign(sandbox, { close, [Symbol.asyncDispose]: close })
  } catch (error) {
    await close()
    throw error
  }
}
