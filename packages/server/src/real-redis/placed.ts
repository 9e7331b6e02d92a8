import type { ExternalStore } from '../../../../src/sandbox/core.js'
import { RealRedis } from './real-redis.js'
import type { RealRedisChoice } from './real-redis-options.js'
import { Shadow, shadowDifferenceText } from './shadow.js'
import { elsewhereOn } from './tenant.js'

/** The real Redis of a server. */
export interface LocatedRedis {
  /** Resolves when everything that ran was compared, if there is a shadow. */
  compared(): Promise<void>
  /** Releases the real Redis, after everything was compared. */
  close(): Promise<void>
}

/**
 * Takes a real Redis as the store of the only tenant, or as its shadow.
 * @param tell receives differences if there is no `onDifference`
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
