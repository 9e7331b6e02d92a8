import type { RedisEngine } from './redis-engine.js'

const coverage = 'cluster-require-full-coverage'

/**
 * Required settings of Redis. With these values, Redis loses no acknowledged data. If a master fails, only the tenants
 * on that master are unavailable.
 */
const wanted: Readonly<Record<string, { readonly is: (value: string) => boolean; readonly otherwise: string }>> = {
  appendonly: {
    is: (value) => value === 'yes',
    otherwise: 'a crash loses all data since the last snapshot: start Redis with --appendonly yes --appendfsync always',
  },
  appendfsync: {
    is: (value) => value === 'always',
    otherwise: 'a crash of the machine can lose the data of the last second: start Redis with --appendfsync always',
  },
  'maxmemory-policy': {
    is: (value) => value === 'noeviction',
    otherwise: 'it deletes tenants when its memory is full: start Redis with --maxmemory-policy noeviction',
  },
  // This setting exists only in Cluster mode.
  [coverage]: {
    is: (value) => value === 'no',
    otherwise:
      'all tenants are unavailable when one master is unavailable: start Redis with --cluster-require-full-coverage no',
  },
}

/** Returns a warning for each setting of a server that does not have the required value. */
export async function warningsOf(engine: Pick<RedisEngine, 'settings' | 'isCluster'>): Promise<readonly string[]> {
  const warnings: string[] = []
  const untold = new Set<string>()
  let isFile = true
  for (const { server, name, value } of await engine.settings(Object.keys(wanted))) {
    if (name === 'appendonly') isFile = value !== 'no'
    if (name === coverage && !engine.isCluster) continue
    if (value === undefined) untold.add(server)
    else if (!wanted[name]!.is(value) && (name !== 'appendfsync' || isFile)) {
      warnings.push(`the Redis at ${server} has ${name} ${value}, so ${wanted[name]!.otherwise}`)
    }
  }
  for (const server of untold) {
    warnings.push(
      `the Redis at ${server} does not return its settings. Make sure that it has appendonly yes, appendfsync always and maxmemory-policy noeviction`,
    )
  }
  return warnings
}
