import type { ExternalStore } from '../../../../src/sandbox/core.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { copyOf } from './copy-keys.js'
import type { RealRedis } from './real-redis.js'
import { engineService, RedisService } from './redis-service.js'

// A tenant whose data store is a real engine: what reaches into the store of this process is told where it is.

const onTheEngine =
  'The data store of this sandbox is a real engine: its content is not in this process, and has no past.'

/** What a sandbox on an engine cannot do at once, and what to do instead. */
const refusals: Readonly<Record<string, string>> = {
  run: 'Use REST, or await store.run() of createRealRedisSandbox() or connect().',
  get: 'Use REST, or await store.get() of createRealRedisSandbox() or connect().',
  connection: 'Connect a client of Redis with the engine itself.',
  dump: 'Look at single keys with store.run(), or at all of it with await sandbox.snapshot().',
  load: 'Write it with commands.',
  diff: 'Compare what commands answer.',
}

/** Puts an engine in the place of the store of every world of one sandbox. */
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
