import type { ExternalStore } from '../../../../src/sandbox/core-plan.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { copyOf } from './copy-keys.js'
import type { RealRedis } from './real-redis.js'
import { engineService, RedisService } from './redis-service.js'

// Uses a real Redis as the store of a tenant. Methods that need a local store then throw an error.

const onTheEngine =
  'The store of this sandbox is a real Redis: its data is not in this process and has no past instants.'

/** Methods that a sandbox with a real Redis does not support, each with the advice for its error message. */
const refusals: Readonly<Record<string, string>> = {
  run: 'Use REST, or await store.run() of createRealRedisSandbox() or connect().',
  get: 'Use REST, or await store.get() of createRealRedisSandbox() or connect().',
  connection: 'Connect a Redis client directly to the real Redis.',
  dump: 'Read single keys with store.run(), or everything with await sandbox.snapshot().',
  load: 'Write the data with commands.',
  diff: 'Compare replies of commands.',
}

/** Returns a function that makes a real Redis the store of a sandbox, at the start and after each reset. */
export function elsewhereOn(engine: RealRedis): ExternalStore {
  return (own) => {
    const door = new RedisService(own.state, engine)
    return {
      service: engineService(own, door),
      attach(store) {
        let copied: StoreDump | undefined
        for (const [name, instead] of Object.entries(refusals)) {
          const refuse = (): never => {
            throw new Error(`${onTheEngine} ${instead}`)
          }
          const value = name === 'dump' ? () => copied ?? refuse() : refuse
          Object.defineProperty(store, name, { value })
        }
        storeInternals.of(store).elsewhere = {
          run: (argv) => door.direct(argv),
          peek: (argv) => engine.run(argv),
          reset: () => engine.reset(),
          async copied(take) {
            const copy = await copyOf(engine, own.state.store)
            copied = copy
            try {
              return take()
            } finally {
              copied = undefined
            }
          },
        }
      },
    }
  }
}
