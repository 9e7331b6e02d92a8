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

/** This server as one node of a cluster. */
export interface ClusterRuntime {
  readonly node: ClusterNode
  readonly front: RequestRouter
  /** Hands its tenants over. What is asked of it from here on is refused. */
  close(): Promise<void>
  /** For so many host milliseconds after that others may still take it for an owner. */
  readonly askedFor: number
  /** What it holds beyond its tenants. */
  end(): void
}

export interface NodeParts {
  readonly cluster: ClusterOptions
  /** What tenants are made with. */
  readonly world: SandboxOptions
  /** Where the other nodes reach this one. */
  readonly address: string
  readonly tenants: Tenants
  /** Tenants of this node at most. */
  readonly most: number
  readonly report: (text: string) => void
}

/** No end of a process takes longer for the sake of the others. */
const maxAskedFor = 1_000

const exists: LuaScript = {
  keys: ['lease', 'journal', 'snapshot'],
  source: "return redis.call('EXISTS', unpack(KEYS))",
}

/** @throws TypeError for options that do not fit; EngineAway where there is no engine */
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
  // Often, and cheap: the engine is only asked when what it said last may have changed.
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

/** An engine that has just come up needs a moment. */
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
  // Stands still or jumps for nobody who sets the clock.
  now: performance.now.bind(performance),
  after: (ms, run) => {
    const timer = hostSetTimeout(run, ms)
    unref(timer)
    return () => hostClearTimeout(timer)
  },
  random: Math.random.bind(Math),
}
