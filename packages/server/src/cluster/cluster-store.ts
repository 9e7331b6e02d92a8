export interface LuaScript {
  readonly source: string
  /**
   * Suffixes of the keys that the script uses, in the order of KEYS. The suffix `lease` means the key
   * `stuntdouble:{tag}:lease`.
   */
  readonly keys: readonly string[]
}

/** Reply of a script. A status reply is a string, and a bulk string is a `Uint8Array`. */
export type ScriptReply = null | number | string | Uint8Array | readonly ScriptReply[]

/**
 * The Redis or Valkey that stores the tenants: a single server, or a Redis Cluster whose servers share the keys. All
 * keys with the same tag are on the same server.
 */
export interface ClusterStore {
  /**
   * Runs a script on the keys of a tag.
   * @throws StoreUnreachable if Redis did not reply; the script may have run
   * @throws Error if the reply is an error
   */
  run(script: LuaScript, tag: string, args: readonly (string | Uint8Array)[]): Promise<ScriptReply>
}

/**
 * Redis is not reachable, did not reply in time, or is not ready, for example because it is loading or has lost its
 * masters.
 */
export class StoreUnreachable extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`The Redis that keeps the tenants is unavailable: ${why}`, options)
    this.name = 'EngineAway'
  }
}
