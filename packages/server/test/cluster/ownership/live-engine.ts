import { type LiveRedis, startRedis } from '../../../../../test/support/live-redis.js'
import type { RespReply } from '../../../../../test/support/resp.js'
import type { ClusterStore, LuaScript, ScriptReply } from '../../../src/cluster/cluster-store.js'

/** A separate redis-server as the Redis of a cluster. */
export class LiveEngine implements ClusterStore {
  private constructor(readonly redis: LiveRedis) {}

  static async start(): Promise<LiveEngine> {
    return new LiveEngine(await startRedis())
  }

  async command(...words: readonly (string | Uint8Array)[]): Promise<ScriptReply> {
    return shown(await this.redis.client.send(words.map((word) => Buffer.from(word as string).toString('latin1'))))
  }

  run({ source, keys }: LuaScript, tag: string, args: readonly (string | Uint8Array)[]): Promise<ScriptReply> {
    const named = keys.map((key) => `stuntdouble:{${tag}}:${key}`)
    return this.command('EVAL', source, String(keys.length), ...named, ...args)
  }
}

function shown(reply: RespReply): ScriptReply {
  if ('error' in reply) throw new Error(reply.error)
  if ('status' in reply) return reply.status
  if ('integer' in reply) return Number(reply.integer)
  if ('bulk' in reply) return new Uint8Array(Buffer.from(reply.bulk, 'latin1'))
  if ('array' in reply) return reply.array.map(shown)
  return null
}
