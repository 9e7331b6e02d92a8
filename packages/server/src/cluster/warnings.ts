import type { RedisEngine } from './redis-engine.js'

const coverage = 'cluster-require-full-coverage'

/** What an engine has to be told so that it loses nothing that it has acknowledged, and one master stops no tenants of others. */
const wanted: Readonly<Record<string, { readonly is: (value: string) => boolean; readonly otherwise: string }>> = {
  appendonly: {
    is: (value) => value === 'yes',
    otherwise:
      'a crash of it loses what was answered since its last snapshot: start it with --appendonly yes --appendfsync always',
  },
  appendfsync: {
    is: (value) => value === 'always',
    otherwise: 'a crash of its machine can lose what was answered a second before: start it with --appendfsync always',
  },
  'maxmemory-policy': {
    is: (value) => value === 'noeviction',
    otherwise: 'it deletes tenants when its memory is full: start it with --maxmemory-policy noeviction',
  },
  // Of a Redis Cluster.
  [coverage]: {
    is: (value) => value === 'no',
    otherwise: 'when one master is away, all tenants are: start it with --cluster-require-full-coverage no',
  },
}

/** A sentence for each server and setting by which what was acknowledged may get lost, or more tenants be away than have to be. */
export async function warningsOf(engine: Pick<RedisEngine, 'settings' | 'isCluster'>): Promise<readonly string[]> {
  const warnings: string[] = []
  const untold = new Set<string>()
  let isFile = true
  for (const { server, name, value } of await engine.settings(Object.keys(wanted))) {
    if (name === 'appendonly') isFile = value !== 'no'
    if (name === coverage && !engine.isCluster) continue
    if (value === undefined) untold.add(server)
    else if (!wanted[name]!.is(value) && (name !== 'appendfsync' || isFile)) {
      warnings.push(`the engine at ${server} has ${name} ${value}, so ${wanted[name]!.otherwise}`)
    }
  }
  for (const server of untold) {
    warnings.push(
      `the engine at ${server} does not tell its settings, so it could not be checked that it runs with appendonly yes, appendfsync always and maxmemory-policy noeviction`,
    )
  }
  return warnings
}
