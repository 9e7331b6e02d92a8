import { type ClusterStore, StoreUnreachable } from './cluster-store.js'
import type { Patience } from './group-commit.js'
import { type JournaledTenant, type OpenOptions, OwnedTenant, type SnapshotAfter } from './owned-tenant.js'
import { Registry, type RegistryView } from './registry.js'
import {
  type ClusterNode,
  Deleted,
  type HeldElsewhere,
  type LeaseHolder,
  type NodeHost,
  NotOwner,
  TenantLease,
  type TenantRecords,
} from './tenant-lease.js'

/** What a node of a cluster is made with. */
export interface OwnershipOptions<W extends JournaledTenant> {
  readonly engine: ClusterStore
  readonly node: ClusterNode
  /** How long a tenant stays with a node that says nothing, in ms of the engine's clock. Default 1,500. */
  readonly lease?: number
  readonly host: NodeHost
  /** Makes a world, new or as it was. */
  readonly open: (tenant: string, kept: TenantRecords) => Promise<W>
  /** A sentence for whoever runs the node. */
  readonly report: (sentence: string) => void
  /** A world is given up: it is disposed of already. */
  readonly dropped?: (tenant: string, world: W) => void
  readonly patience?: Partial<Patience>
  /** Default 2,000 records or 4 MiB. */
  readonly snapshotAfter?: Partial<SnapshotAfter>
}

/** Where a tenant is: here, or at another node. */
export type TenantLocation<W extends JournaledTenant> =
  | { readonly own: OwnedTenant<W>; readonly node?: never }
  | { readonly node: ClusterNode; readonly own?: never }

/** The journal of a tenant cannot be played: somebody has to look. */
export class CannotOpen extends Error {
  constructor(tenant: string, options: ErrorOptions) {
    const { cause } = options
    super(
      `The tenant ${tenant} cannot be opened from its journal: ${cause instanceof Error ? cause.message : String(cause)}`,
      options,
    )
    this.name = 'CannotOpen'
  }
}

/** How many orphans are taken over side by side. */
const orphansAtOnce = 8
/** In ms: after a failure to open a tenant it is let alone for a while, each time twice as long. */
const alone = { first: 1_000, most: 60_000 }

/**
 * Who owns which tenant, as one node sees it. A tenant has one owner at a time, judged by the engine's clock and fenced by
 * the engine; a node's own clock only makes it ask earlier.
 *
 * @example
 * const { own, node } = await ownership.where('w1')
 * if (own === undefined) return forward(call, node)
 * const answer = await own.world.sandbox.exchange(call)
 * await own.commit()
 * return answer
 */
export class Ownership<W extends JournaledTenant> {
  readonly #opening: OpenOptions<W>
  readonly #registry: Registry
  readonly #report: (sentence: string) => void
  readonly #dropped: (tenant: string, world: W) => void
  readonly #owned = new Map<string, OwnedTenant<W>>()
  readonly #looking = new Map<string, Promise<OwnedTenant<W> | HeldElsewhere>>()
  readonly #pauses = new Map<string, Promise<void>>()
  readonly #elsewhere = new Map<string, { readonly holder: LeaseHolder; readonly until: number }>()
  readonly #broken = new Map<string, { readonly error: CannotOpen; readonly until: number; readonly pause: number }>()
  #isClosed = false

  constructor(options: OwnershipOptions<W>) {
    const { engine, node, host, lease = 1_500, open, patience, snapshotAfter } = options
    this.#opening = {
      ...{ engine, node, host, lease, open },
      patience: { ofRequests: 1_000, ofWorlds: 20 * lease, ...patience },
      snapshotAfter: { records: 2_000, bytes: 4_194_304, ...snapshotAfter },
      lost: (owned, why) => this.#lost(owned, why),
    }
    this.#report = options.report
    this.#dropped = options.dropped ?? (() => {})
    this.#registry = new Registry(this.#opening, (tenants) => this.#adopt(tenants))
  }

  /**
   * Where a tenant is, which this node takes over where nobody holds it.
   * @param options `again`: the node that was named before did not have it or could not be reached; the answer is then
   * another one, or that the same node has renewed its lease since: it waits for that, a lease at most
   * @throws EngineAway nothing was done
   * @throws CannotOpen
   */
  async where(tenant: string, { again = false }: { readonly again?: boolean } = {}): Promise<TenantLocation<W>> {
    const before = this.#elsewhere.get(tenant)
    for (let left = Number.POSITIVE_INFINITY; ; ) {
      const own = await this.#ready(tenant)
      if (own !== undefined) return { own }
      if (!again && before !== undefined && before.until > this.#opening.host.now()) return { node: before.holder.node }
      const found = await this.#look(tenant)
      if (found === undefined || found instanceof OwnedTenant) continue
      const isSame = again && found.holder.fence === before?.holder.fence
      if (!isSame || found.left > left) return { node: found.holder.node }
      left = found.left
      await this.#pause(tenant, Math.min(left + 1, this.#opening.lease / 15))
    }
  }

  owns(tenant: string): boolean {
    return this.#owned.has(tenant)
  }

  /**
   * Nothing is left of a tenant that this node owns, or that nobody holds: it is not opened for that, since perhaps it
   * cannot be.
   * @throws NotOwner nothing was done
   * @throws EngineAway it may have happened
   */
  async drop(tenant: string): Promise<void> {
    await this.#looking.get(tenant)?.catch(() => {})
    const owned = this.#owned.get(tenant)
    await (owned === undefined ? this.#dropUnopened(tenant) : owned.drop())
    // With a later beat, where the engine is away just now.
    await this.#registry.flush().catch(() => {})
  }

  async #dropUnopened(tenant: string): Promise<void> {
    const found = await TenantLease.acquire(this.#opening, tenant)
    if (!(found instanceof TenantLease))
      throw new NotOwner(`The tenant ${tenant} is another node's.`, { holder: found.holder })
    await found.drop()
    this.#broken.delete(tenant)
    this.#registry.tell(tenant, found.fence + 1, '-')
  }

  /** Hands its tenants over: whoever is asked first goes on with them. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await Promise.allSettled(this.#looking.values())
    await Promise.allSettled([...this.#owned.values()].map((owned) => owned.handOver()))
    await this.#registry.close()
  }

  /** All nodes, and all tenants with the ids of their owners. */
  describe(): Promise<RegistryView> {
    return this.#registry.list()
  }

  /** This node's own one that new work may be given to. */
  async #ready(tenant: string): Promise<OwnedTenant<W> | undefined> {
    if (this.#isClosed) throw new NotOwner('This node ends, and takes nothing more.')
    const owned = this.#owned.get(tenant)
    try {
      await owned?.ready()
    } catch (error) {
      if (!(error instanceof NotOwner)) throw error
      return undefined
    }
    return owned
  }

  /** Who looks at the same time looks together. */
  async #look(tenant: string): Promise<OwnedTenant<W> | HeldElsewhere | undefined> {
    let looking = this.#looking.get(tenant)
    if (looking === undefined) {
      looking = this.#acquire(tenant).finally(() => this.#looking.delete(tenant))
      this.#looking.set(tenant, looking)
    }
    try {
      return await looking
    } catch (error) {
      if (error instanceof NotOwner && !this.#isClosed) return undefined
      throw error
    }
  }

  async #acquire(tenant: string): Promise<OwnedTenant<W> | HeldElsewhere> {
    const { host, lease } = this.#opening
    const broken = this.#broken.get(tenant)
    if (broken !== undefined && host.now() < broken.until) throw broken.error
    const found = await TenantLease.acquire(this.#opening, tenant)
    if (found instanceof TenantLease) return this.#open(found)
    // Not longer than its lease: whoever is dead or stands still is not asked again.
    this.#elsewhere.set(tenant, { holder: found.holder, until: host.now() + Math.min(found.left, lease / 2) })
    return found
  }

  async #open(tenure: TenantLease): Promise<OwnedTenant<W>> {
    const { tenant, fence, length } = tenure
    this.#elsewhere.delete(tenant)
    this.#registry.tell(tenant, fence, this.#opening.node.id)
    try {
      // A tenant that the registry never heard of would be nobody's when this node dies.
      if (length === 0) await this.#registry.flush()
      const owned = await OwnedTenant.open(this.#opening, tenure)
      owned.signal.throwIfAborted()
      this.#owned.set(tenant, owned)
      this.#broken.delete(tenant)
      return owned
    } catch (error) {
      this.#registry.tell(tenant, fence + 1, '')
      tenure.release().catch(() => {})
      if (error instanceof NotOwner || error instanceof StoreUnreachable) throw error
      throw this.#cannotOpen(tenant, error)
    }
  }

  #cannotOpen(tenant: string, cause: unknown): CannotOpen {
    const before = this.#broken.get(tenant)
    const error = new CannotOpen(tenant, { cause })
    const pause = before === undefined ? alone.first : Math.min(2 * before.pause, alone.most)
    this.#broken.set(tenant, { error, pause, until: this.#opening.host.now() + pause })
    if (before === undefined) this.#report(error.message)
    return error
  }

  #lost(owned: OwnedTenant<W>, why: NotOwner): void {
    const { tenant } = owned
    const { holder, fence, cause } = why
    if (this.#owned.get(tenant) === owned) this.#owned.delete(tenant)
    if (cause !== undefined) this.#report(why.message)
    if (why instanceof Deleted) this.#registry.tell(tenant, owned.fence + 1, '-')
    else if (holder !== undefined) this.#registry.tell(tenant, holder.fence, holder.node.id)
    else this.#registry.tell(tenant, fence ?? owned.fence + 1, '')
    this.#dropped(tenant, owned.world)
  }

  /** Their owners died or handed them over: what is scheduled there goes on although nobody asks for it. */
  async #adopt(tenants: readonly string[]): Promise<void> {
    const waiting = tenants.filter((tenant) => !this.#owned.has(tenant))
    const one = async (): Promise<void> => {
      for (let tenant = waiting.pop(); tenant !== undefined && !this.#isClosed; tenant = waiting.pop()) {
        const found = await this.#look(tenant).catch(() => undefined)
        if (found !== undefined && !(found instanceof OwnedTenant))
          this.#registry.tell(tenant, found.holder.fence, found.holder.node.id)
      }
    }
    await Promise.all(Array.from({ length: orphansAtOnce }, one))
  }

  /** Who waits for the same tenant waits together, and looks together afterwards. */
  #pause(tenant: string, ms: number): Promise<void> {
    let pause = this.#pauses.get(tenant)
    if (pause === undefined) {
      pause = new Promise<void>((resolve) => this.#opening.host.after(ms, resolve)).finally(() =>
        this.#pauses.delete(tenant),
      )
      this.#pauses.set(tenant, pause)
    }
    return pause
  }
}
