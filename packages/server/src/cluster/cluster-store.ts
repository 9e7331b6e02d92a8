/** One Lua script that runs on the engine as a whole. */
export interface LuaScript {
  readonly source: string
  /** Its keys in order, by the last part of their names: `stuntdouble:{tag}:part`. */
  readonly keys: readonly string[]
}

/** A status is a text, a string of the engine bytes. */
export type ScriptReply = null | number | string | Uint8Array | readonly ScriptReply[]

/** Redis or Valkey, alone or many that share the keys: all keys of one tag are at one place. */
export interface ClusterStore {
  /**
   * @throws EngineAway where there was no reply: the script may have run
   * @throws Error what the script replied as an error
   */
  run(script: LuaScript, tag: string, args: readonly (string | Uint8Array)[]): Promise<ScriptReply>
}

/** The engine cannot be reached, gave no reply in time, or is not ready: it loads, or has lost its masters. */
export class StoreUnreachable extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`The engine that keeps the tenants is away: ${why}`, options)
    this.name = 'EngineAway'
  }
}
