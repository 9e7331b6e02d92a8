import type { Bytes } from '../../../src/kernel/bytes.js'
import { createRandom } from '../../../src/kernel/random.js'
import { defaultPolicy, type ResolvedPolicy } from '../../../src/policy/policy.js'
import { AccessControl } from '../../../src/store/access/access-control.js'
import type { User } from '../../../src/store/access/user.js'
import { type Reply, ReplyError } from '../../../src/store/command/reply.js'
import { resp2, resp2Error } from '../../../src/store/rest/rest-responses.js'
import { StoreEngine } from '../../../src/store/store-engine.js'

/** Separate store for tests of scripts. */
export interface ScriptStore {
  readonly store: StoreEngine
  /** Runs a command with arguments in UTF-8; throws `ReplyError`. */
  run(...words: readonly (string | number)[]): Reply
  /** Returns the text of the error of a command. */
  failure(...words: readonly (string | number)[]): string
  /** Runs a command whose arguments have one character per byte; returns the raw RESP2 reply. */
  execute(argv: readonly string[], user?: User): string
}

export function createScriptStore(policy: Partial<ResolvedPolicy> = {}): ScriptStore {
  const store = new StoreEngine({
    clock: { now: () => Date.UTC(2026, 0, 1) },
    random: createRandom('scripts'),
    access: new AccessControl({ standard: 'standard-token', readOnly: 'read-only-token' }),
    // Scripts are compared with redis-server, so all commands are enabled.
    policy: { ...defaultPolicy, commands: 'all', ...policy },
    docs: 'docs.test',
  })
  return {
    store,
    run: (...words) => store.run(...words),
    failure(...words) {
      try {
        return `no failure but ${JSON.stringify(store.run(...words))}`
      } catch (error) {
        if (error instanceof ReplyError) return error.message
        throw error
      }
    },
    execute(argv, user) {
      try {
        return resp2(store.execute(argv as readonly Bytes[], user))
      } catch (error) {
        if (error instanceof ReplyError) return resp2Error(error)
        throw error
      }
    },
  }
}
