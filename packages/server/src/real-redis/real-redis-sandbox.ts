import { connect, type RemoteSandbox } from '../../../../src/client/connect.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../server.js'
import type { ShadowDifference } from './shadow.js'

export type { RemoteSandbox } from '../../../../src/client/connect.js'
export type { KnownDifference } from '../../../../src/store/differences.js'
export type { ServerOptions } from '../server.js'
export type { ShadowDifference } from './shadow.js'

/** Options of a server, without those that its engine decides. */
export type RealRedisSandboxOptions = Omit<
  ServerOptions,
  'realRedis' | 'state' | 'rebaseTime' | 'scenario' | 'redisPort' | 'redisTls'
>

/** A sandbox whose data store is a real engine; everything is promised, as of a sandbox on a server. */
export interface RealRedisSandbox extends RemoteSandbox {
  /**
   * Empties the engine, as far as it is still this sandbox's own, and gives it back.
   * @example
   * const sandbox = await createRealRedisSandbox('redis://127.0.0.1:6379')
   * await sandbox.close()
   */
  close(): Promise<void>
}

/**
 * The three services with a real Redis or Valkey in the place of the data store: REST, tokens, faults, captured traffic and
 * matchers are the sandbox's, commands and what they store are the engine's. It listens on a free loopback port; queue,
 * workflows and statistics are on the real clock.
 * @param url `redis://127.0.0.1:6379`, of a Cluster any node. It has to be empty, and is flushed by `reset()` and `close()`
 * @throws Error where it is away, not empty, or taken by another sandbox; TypeError where it is not on this machine, and for
 * options that an engine cannot have
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

/** A sandbox that is compared with a real engine. */
export interface ShadowSandbox extends RealRedisSandbox {
  /**
   * What both have answered differently so far, when everything that has run was compared.
   * @example
   * await using sandbox = await createShadowSandbox('redis://127.0.0.1:6379')
   * await sandbox.store.run('SET', 'greeting', 'hello')
   * expect(await sandbox.differences()).toEqual([])
   */
  differences(): Promise<readonly ShadowDifference[]>
}

/**
 * The double with a real Redis or Valkey beside it: each command runs on both, in the same order, on the real clock. The
 * double answers; what the engine answers otherwise is kept, with the row of the reference that names it, if one does. Of
 * commands of chance and time only the shape is compared.
 * @param url as of `createRealRedisSandbox()`
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
