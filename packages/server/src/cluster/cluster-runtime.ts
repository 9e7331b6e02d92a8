import { randomBytes } from 'node:crypto'
import { hostClearTimeout, hostSetTimeout, unref } from '../../../../src/kernel/host.js'
import type { SandboxOptions } from '../../../../src/sandbox/sandbox.js'
import type { Tenants } from '../tenants.js'
import { type ClusterOptions, leaseOf } from './cluster-options.js'
import { type LuaScript, StoreUnreachable } from './cluster-store.js'
import { Forwarder } from './forward.js'
import { JournaledSandbox } from './journaled-sandbox.js'
import { checkNodeOptions } from './node-options.js'
import { Signer, Verifier } from './node-signature.js'
import { OwnerWatch } from './owner-watch.js'
import { Ownership } from './ownership.js'
import { RedisEngine } from './redis-engine.js'
import { RequestRouter } from './request-router.js'
import type { ClusterNode, NodeHost, TenantRecords } from './tenant-lease.js'
import { warningsOf } from './warnings.js'

/** The parts of a server that make it a node of a cluster. */
export interface ClusterRuntime {
  readonly node: ClusterNode
  readonly front: RequestRouter
  /** Hands over the tenants to other nodes, and rejects later requests. */
  close(): Promise<void>
  /** Time after `close()` in which forwarded requests still get a response, in milliseconds of host time. */
  readonly askedFor: number
  /** Closes everything except the tenants. */
  end(): void
}

export interface NodeParts {
  readonly cluster: ClusterOptions
  /** Options of the sandbox of each tenant. */
  readonly world: SandboxOptions
  readonly address: string
  readonly tenants: Tenants
  /** Maximum number of tenants on this node. */
  readonly most: number
  readonly report: (text: string) => void
}

/** Maximum of `askedFor`, in milliseconds of host time. */
const maxAskedFor = 1_000

const exists: LuaScript = {
  keys: ['lease', 'journal', 'snapshot'],
  source: "return redis.call('EXISTS', unpack(KEYS))",
}

/**
 * Joins the cluster.
 * @throws TypeError if the options differ from the options of other nodes; StoreUnreachable if Redis is unavailable
 */
export async function openNode({ cluster, world, address, tenants, most, report }: NodeParts): Promise<ClusterRuntime> {
  const { secret } = cluster
  const lease = leaseOf(cluster)
  const engine = await RedisEngine.open({
    urls: cluster.url.split(','),
    patience: Math.max(1_000, lease * 0.6),
    report,
  })
  try {
    await patiently(() => checkNodeOptions(engine, secret, world))
    for (const warning of await warningsOf(engine)) report(warning)
  } catch (error) {
    engine.close()
    throw error
  }
  const node: ClusterNode = { id: randomBytes(6).toString('hex'), address }
  tenants.node = node.id
  const open = (tenant: string, kept: TenantRecords): Promise<JournaledSandbox> =>
    JournaledSandbox.open(() => tenants.fresh(tenant), kept)
  const dropped = (tenant: string, { sandbox }: JournaledSandbox): void => {
    if (tenants.all.get(tenant) === sandbox) tenants.release(tenant)
  }
  const ownership = new Ownership<JournaledSandbox>({ engine, node, lease, host: nodeHost, open, report, dropped })
  const signer = new Signer(secret, node.id, Date.now)
  const verifier = new Verifier(secret, node.id, Date.now)
  const forwarder = new Forwarder(signer)
  const isOwner = async (tenant: string, { id }: ClusterNode): Promise<boolean> => {
    const found = await ownership.where(tenant)
    return found.node?.id === id
  }
  // The interval can be short. A check usually uses the last known owner, and asks Redis only if that owner may be
  // outdated.
  const watch = new OwnerWatch(isOwner, lease / 8)
  const front = new RequestRouter({
    ...{ tenants, ownership, forwarder, verifier, watch, node, most },
    exists: async (tenant) => (await engine.run(exists, tenant, [])) !== 0,
    patience: 4 * lease + 2_000,
  })
  return {
    node,
    front,
    close: () => ownership.close(),
    askedFor: Math.min(lease / 2, maxAskedFor),
    end: () => {
      watch.close()
      forwarder.close()
      engine.close()
    },
  }
}

/** Repeats `work` while Redis is unavailable, because Redis may still be starting. Gives up after 10 seconds. */
async function patiently(work: () => Promise<void>): Promise<void> {
  for (let left = 40; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreUnreachable) || left === 0) throw error
      await new Promise((resolve) => hostSetTimeout(resolve, 250))
    }
  }
}

const nodeHost: NodeHost = {
  // Use a monotonic clock, which does not jump when the system time is changed.
  now: performance.now.bind(performance),
  after: (ms, run) => {
    const timer = hostSetTimeout(run, ms)
    unref(timer)
    return () => hostClearTimeout(timer)
  },
  random: () => Math.random(),
}
