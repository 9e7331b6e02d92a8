import { type Bytes, fromArray, toArray, utf8 } from '../../../../../src/kernel/bytes.js'
import { createRandom } from '../../../../../src/kernel/random.js'
import { defaultPolicy } from '../../../../../src/policy/policy.js'
import { AccessControl } from '../../../../../src/store/access/access-control.js'
import { NilArray, type Reply, ReplyError, Status } from '../../../../../src/store/command/reply.js'
import { StoreEngine } from '../../../../../src/store/store-engine.js'
import type { ClusterStore, LuaScript, ScriptReply } from '../../../src/cluster/cluster-store.js'

/** The store of a sandbox as the Redis of a cluster, with any clock. */
export class MemoryClusterStore implements ClusterStore {
  readonly #store: StoreEngine

  constructor(now: () => number) {
    this.#store = new StoreEngine({
      clock: { now },
      random: createRandom('engine'),
      access: new AccessControl({ standard: 'standard-token', readOnly: 'read-only-token' }),
      policy: { ...defaultPolicy, commands: 'all' },
      docs: 'docs.test',
    })
  }

  /** Runs one command, for tests that check the data of the scripts. */
  command(...words: readonly (string | Uint8Array)[]): ScriptReply {
    try {
      return shown(this.#store.execute(words.map(bytes)))
    } catch (error) {
      throw error instanceof ReplyError ? new Error(error.message) : error
    }
  }

  runNow({ source, keys }: LuaScript, tag: string, args: readonly (string | Uint8Array)[]): ScriptReply {
    const named = keys.map((key) => `stuntdouble:{${tag}}:${key}`)
    return this.command('EVAL', source, String(keys.length), ...named, ...args)
  }

  async run(script: LuaScript, tag: string, args: readonly (string | Uint8Array)[]): Promise<ScriptReply> {
    return this.runNow(script, tag, args)
  }
}

function bytes(word: string | Uint8Array): Bytes {
  return typeof word === 'string' ? utf8(word) : fromArray(word)
}

function shown(reply: Reply): ScriptReply {
  if (typeof reply === 'string') return toArray(reply as Bytes)
  if (reply === null || reply instanceof NilArray) return null
  if (reply instanceof Status) return reply.text
  if (typeof reply === 'object') return reply.map(shown)
  return Number(reply)
}
