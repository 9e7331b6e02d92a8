/** A Lua script that runs atomically on the Redis. */
export interface LuaScript {
  readonly source: string
  /** Its keys in order, by the last part of their names: `stuntdouble:{tag}:part`. */
  readonly keys: readonly string[]
}

/** A status is a text, and a string is bytes. */
export type ScriptReply = null | number | string | Uint8Array | readonly ScriptReply[]

/** Redis or Valkey, a single server or several that share the keys. All keys of one tag are on one server. */
export interface ClusterStore {
  /**
   * @throws StoreUnreachable if there was no reply: the script may have run
   * @throws Error if the reply is an error
   */
  run(script: LuaScript, tag: string, args: readonly (string | Uint8Array)[]): Promise<ScriptReply>
}

/** The Redis is not reachable, did not reply in time, or is not ready: it is loading, or has lost its masters. */
export class StoreUnreachable extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`The Redis that keeps the tenants is unavailable: ${why}`, options)
    this.name = 'EngineAway'
  }
}
