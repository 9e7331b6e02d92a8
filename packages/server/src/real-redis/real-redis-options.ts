import type { SandboxOptions } from '../../../../src/sandbox/sandbox-options.js'
import type { ShadowDifference } from './shadow.js'

/** Options that use a real Redis. */
export interface RealRedisChoice {
  /**
   * URL of a Redis or Valkey, empty at the start, in which the store keeps its data, such as `redis://127.0.0.1:6379`.
   * For a Cluster, use the URL of any node. The Redis belongs to this server until `close()` empties it. The server
   * must use the real clock, and can have only one tenant.
   */
  readonly realRedis?: string
  /**
   * URL of an empty Redis or Valkey that becomes a shadow. The shadow also receives every command, in the same order,
   * and differing replies are reported. The requirements of `realRedis` apply.
   */
  readonly shadowRedis?: string
  /**
   * Receives each difference between the double and its shadow. Default: each difference is passed to `onError` as
   * text.
   */
  readonly onDifference?: (difference: ShadowDifference) => void
  /**
   * Hosts other than this machine that are allowed in `realRedis` and `shadowRedis`. The Redis on such a host is
   * written to and flushed.
   */
  readonly allowRedisHosts?: readonly string[]
}

interface RealRedisInput extends RealRedisChoice, Pick<SandboxOptions, 'clock' | 'embed' | 'databases'> {
  readonly redisPort?: number
  readonly state?: string
  readonly scenario?: unknown
}

/**
 * Returns the sandbox options for a real Redis. The sandbox has no journal, because the commands on a real Redis cannot
 * be replayed.
 * @throws TypeError for options that are not possible with a real Redis
 */
export function withRealRedis<T extends SandboxOptions>(given: RealRedisInput, world: T): T {
  if (given.realRedis !== undefined && given.shadowRedis !== undefined) {
    throw new TypeError(
      'realRedis (--real-redis) and shadowRedis (--shadow-redis) exclude each other. Use only one of them.',
    )
  }
  const refuse = (what: string, instead: string): never => {
    throw new TypeError(
      `With a real Redis (realRedis, --real-redis; shadowRedis, --shadow-redis) a server cannot have ${what}. ${instead}`,
    )
  }
  if ((given.clock ?? 'real') !== 'real') {
    refuse(`clock: '${given.clock}'`, "Keys expire on the clock of the real Redis: omit clock, or use clock: 'real'.")
  }
  if (given.redisPort !== undefined) refuse('redisPort (--redis-port)', 'Connect clients directly to the real Redis.')
  if (given.embed !== undefined) refuse('embed', 'The real Redis runs all commands: omit embed.')
  if (given.databases !== undefined) {
    refuse('databases (--databases)', 'Start another server for each further Redis, and omit databases.')
  }
  if (given.state !== undefined) refuse('state (--state)', 'The real Redis persists its data as it is configured to.')
  if (given.scenario !== undefined) {
    refuse('scenario (--scenario)', 'Write its initial state with commands, and add its faults with faults.add().')
  }
  return { ...world, clock: 'real', ...(given.realRedis !== undefined && { journal: false }) }
}
