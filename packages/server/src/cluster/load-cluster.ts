import type { Server } from 'node:http'
import type { SandboxOptions } from '../../../../src/sandbox/sandbox.js'
import type { ServerLimits } from '../server-limits.js'
import { lastAnswers } from '../sockets.js'
import type { Tenants } from '../tenants.js'
import type { ClusterOptions } from './cluster-options.js'
import type { ClusterRuntime } from './cluster-runtime.js'
import { clause } from './sentences.js'

/** Joins the cluster. The code is loaded on demand, because only a node of a cluster needs it. */
export async function nodeOf(
  cluster: ClusterOptions,
  world: SandboxOptions,
  tenants: Tenants,
  { maxTenants: most }: ServerLimits,
  listening: string,
  origin: string,
  tell: (text: string) => void,
): Promise<ClusterRuntime> {
  const [{ openNode }, { originOf, reachableAt }] = await Promise.all([
    import('./cluster-runtime.js'),
    import('./cluster-options.js'),
  ])
  const address = cluster.nodeUrl === undefined ? reachableAt(listening, origin) : originOf(cluster.nodeUrl)
  const report = (text: string): void => tell(`stuntdouble: ${clause(text)}.`)
  return await openNode({
    cluster,
    world: { ...world, urls: { base: tenants.origin } },
    address,
    tenants,
    most,
    report,
  })
}

export async function handedOver(
  node: ClusterRuntime | undefined,
  servers: readonly Server[],
  tell: (text: string) => void,
): Promise<void> {
  if (node === undefined) return
  await node.close().catch((error: Error) => tell(`stuntdouble: tenants were not handed over: ${error.message}`))
  await lastAnswers(servers, node.askedFor)
}
