import type { Bytes } from '../../src/kernel/bytes.js'
import { createRandom } from '../../src/kernel/random.js'
import { defaultPolicy } from '../../src/policy/policy.js'
import { AccessControl } from '../../src/store/access/access-control.js'
import { ReplyError } from '../../src/store/command/reply.js'
import { resp2, resp2Error } from '../../src/store/rest/rest-responses.js'
import { StoreEngine } from '../../src/store/store-engine.js'

/** The part of the store that transcripts need. */
export interface Engine {
  /** Runs a command. Arguments have one character per byte; the result is the raw RESP2 reply. */
  execute(argv: readonly string[]): string
  advance(ms: number): void
  now(): number
}

/** `onEvent` hears of keyspace notifications, without those that redis sends only when asked for by their own flag. */
export function createEngine(onEvent?: (event: string, key: string) => void): Engine {
  let now = Date.UTC(2026, 0, 1)
  const store = new StoreEngine({
    clock: { now: () => now },
    random: createRandom('transcript'),
    access: new AccessControl({ standard: 'standard-token', readOnly: 'read-only-token' }),
    // The recordings come from a redis-server.
    policy: { ...defaultPolicy, commands: 'all' },
    docs: 'docs.test',
  })
  if (onEvent) {
    store.listen({
      keyspace(eventClass, event, key) {
        if (eventClass !== 'n' && eventClass !== 'm') onEvent(event, key)
      },
    })
  }
  return {
    execute(argv) {
      try {
        return resp2(store.execute(argv as readonly Bytes[]))
      } catch (error) {
        if (error instanceof ReplyError) return resp2Error(error)
        throw error
      }
    },
    advance(ms) {
      now += ms
    },
    now: () => now,
  }
}
