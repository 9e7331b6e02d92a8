/** A Lua script that runs atomically in Redis. */
export interface LuaScript {
  readonly source: string
  /** Last parts of the names of its keys, in the order of KEYS. A complete name is `stuntdouble:{tag}:part`. */
  readonly keys: readonly string[]
}

/** Reply of a script. A status reply is a string, and a bulk string is a `Uint8Array`. */
export type ScriptReply = null | number | string | Uint8Array | readonly ScriptReply[]

/**
 * The Redis or Valkey that keeps the tenants: a single server, or several servers that share the keys. One server has
 * all keys of a tag.
 */
export interface ClusterStore {
  /**
   * Runs a script on the keys of a tag. @throws StoreUnreachable if Redis did not reply; the script may have run
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
