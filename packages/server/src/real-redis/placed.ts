import type { ExternalStore } from '../../../../src/sandbox/core-plan.js'
import { RealRedis } from './real-redis.js'
import type { RealRedisChoice } from './real-redis-options.js'
import { Shadow, shadowDifferenceText } from './shadow.js'
import { elsewhereOn } from './tenant.js'

/** The real Redis that a server uses as its store or as a shadow. */
export interface LocatedRedis {
  /** Resolves when all commands so far were compared with the shadow. Resolves immediately without a shadow. */
  compared(): Promise<void>
  /** Releases the real Redis. With a shadow, all commands so far are compared first. */
  close(): Promise<void>
}

/**
 * Connects to a real Redis. The real Redis becomes the store of the only tenant, or the shadow of this store.
 * @param tell receives the differences if there is no `onDifference`
 */
export async function placed(
  url: string,
  { realRedis: instead, onDifference, allowRedisHosts = [] }: RealRedisChoice,
  tenants: { elsewhere: ExternalStore | undefined },
  tell: (text: string) => void,
): Promise<LocatedRedis> {
  const option = instead === undefined ? 'shadowRedis (--shadow-redis)' : 'realRedis (--real-redis)'
  const engine = await RealRedis.open(url, { option, allowed: allowRedisHosts })
  if (instead !== undefined) {
    tenants.elsewhere = elsewhereOn(engine)
    return { compared: async () => undefined, close: () => engine.close() }
  }
  const twin = new Shadow(
    engine,
    onDifference ?? ((difference) => tell(`shadow: ${shadowDifferenceText(difference)}`)),
    tell,
  )
  tenants.elsewhere = twin.beside
  return { compared: () => twin.idle(), close: () => twin.idle().then(() => engine.close()) }
}
