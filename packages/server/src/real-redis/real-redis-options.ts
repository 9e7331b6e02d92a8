import type { SandboxOptions } from '../../../../src/sandbox/sandbox-options.js'
import type { ShadowDifference } from './shadow.js'

/** A real engine in the place of the data store. */
export interface RealRedisChoice {
  /**
   * A Redis or Valkey that holds what the data store holds, such as `redis://127.0.0.1:6379`, of a Cluster any node. It has
   * to be empty, and is this server's own until `close()`, which empties it. One tenant, on a real clock.
   */
  readonly realRedis?: string
  /**
   * A Redis or Valkey beside the data store: it is told every command that the double ran, in the same order, and what it
   * answers otherwise is told. Empty, this server's own, one tenant and a real clock, as `realRedis`.
   */
  readonly shadowRedis?: string
  /** Receives each difference between the double and its twin; default: one text each for `onError`. */
  readonly onDifference?: (difference: ShadowDifference) => void
  /** Hosts of engines that may be elsewhere than on this machine: they are written to and flushed. */
  readonly allowRedisHosts?: readonly string[]
}

interface RealRedisInput extends RealRedisChoice, Pick<SandboxOptions, 'clock'> {
  readonly redisPort?: number
  readonly state?: string
  readonly scenario?: unknown
}

/**
 * Options of a world whose store is an engine. What comes in is not written down: it could not be played again.
 * @throws TypeError for what cannot be had with one
 */
export function withRealRedis<T extends SandboxOptions>(given: RealRedisInput, world: T): T {
  if (given.realRedis !== undefined && given.shadowRedis !== undefined) {
    throw new TypeError(
      'An engine is in the place of the store (realRedis, --real-redis) or beside it (shadowRedis, --shadow-redis), not both.',
    )
  }
  const refuse = (what: string, instead: string): never => {
    throw new TypeError(
      `With a real engine (realRedis, --real-redis; shadowRedis, --shadow-redis) a server has no ${what}. ${instead}`,
    )
  }
  if ((given.clock ?? 'real') !== 'real') {
    refuse(
      `clock: '${given.clock}'`,
      "Deadlines pass on the engine's own clock: leave clock out, or give clock: 'real'.",
    )
  }
  if (given.redisPort !== undefined) refuse('redisPort (--redis-port)', 'Connect clients with the engine itself.')
  if (given.state !== undefined) refuse('state (--state)', 'The engine keeps what it holds as it is configured to.')
  if (given.scenario !== undefined) {
    refuse('scenario (--scenario)', 'Write what it begins with by commands, and add its faults with faults.add().')
  }
  return { ...world, clock: 'real', ...(given.realRedis !== undefined && { journal: false }) }
}
