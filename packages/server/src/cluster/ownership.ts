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

export interface OwnershipOptions<W extends JournaledTenant> {
  readonly engine: ClusterStore
  readonly node: ClusterNode
  /**
   * Time after which another node may take over the tenants of a silent node, in milliseconds on the clock of Redis.
   * Default 1,500.
   */
  readonly lease?: number
  readonly host: NodeHost
  /** Opens the sandbox of a tenant. Without records, the sandbox is new. */
  readonly open: (tenant: string, kept: TenantRecords) => Promise<W>
  /** Receives a message for the user who runs the node. */
  readonly report: (sentence: string) => void
  /** Called when this node has lost a tenant and has disposed its sandbox. */
  readonly dropped?: (tenant: string, world: W) => void
  readonly patience?: Partial<Patience>
  /** Number of records, or bytes of records, after which a snapshot is created. Default 2,000 records or 4 MiB. */
  readonly snapshotAfter?: Partial<SnapshotAfter>
}

/** Node on which a tenant is: this node or another one. */
export type TenantLocation<W extends JournaledTenant> =
  | { readonly own: OwnedTenant<W>; readonly node?: never }
  | { readonly node: ClusterNode; readonly own?: never }

/** The journal of a tenant cannot be replayed. A user must fix or drop the tenant. */
export class CannotOpen extends Error {
  constructor(tenant: string, options: ErrorOptions) {
    const { cause } = options
    super(
      `tenant ${tenant} cannot be opened from its journal: ${cause instanceof Error ? cause.message : String(cause)}`,
      options,
    )
    this.name = 'CannotOpen'
  }
}

const orphansAtOnce = 8
/** First and longest pause after a failure to open a tenant, in milliseconds. The pause doubles with each failure. */
const alone = { first: 1_000, most: 60_000 }

/**
 * Finds the owner of each tenant, and takes over tenants without an owner. The clock of Redis and the fences guarantee
 * that a tenant has only one owner at a time. The clock of the node only determines when the node checks its ownership.
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
   * Returns the location of a tenant. This node takes the tenant over if no node owns it.
   * @param options set `again` if the previously returned node did not own the tenant or could not be reached. Then the
   *   result is another node, or the same node after it has renewed its lease. The call takes at most the duration of
   *   one lease
   * @throws StoreUnreachable nothing was done
   * @throws CannotOpen the journal cannot be replayed
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
   * Deletes a tenant that this node owns or that no node owns. The tenant is not opened first, because its journal may
   * be damaged.
   * @throws NotOwner nothing was done
   * @throws StoreUnreachable the tenant may have been deleted
   */
  async drop(tenant: string): Promise<void> {
    await this.#looking.get(tenant)?.catch(() => {})
    const owned = this.#owned.get(tenant)
    await (owned === undefined ? this.#dropUnopened(tenant) : owned.drop())
    // If Redis is unavailable now, a later heartbeat updates the registry.
    await this.#registry.flush().catch(() => {})
  }

  async #dropUnopened(tenant: string): Promise<void> {
    const found = await TenantLease.acquire(this.#opening, tenant)
    if (!(found instanceof TenantLease))
      throw new NotOwner(`tenant ${tenant} is owned by another node.`, { holder: found.holder })
    await found.drop()
    this.#broken.delete(tenant)
    this.#registry.tell(tenant, found.fence + 1, '-')
  }

  /** Hands over all tenants. The next node that gets a request for a tenant continues the tenant. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await Promise.allSettled(this.#looking.values())
    await Promise.allSettled([...this.#owned.values()].map((owned) => owned.handOver()))
    await this.#registry.close()
  }

  /** Returns all nodes, and all tenants with the IDs of their owners. */
  describe(): Promise<RegistryView> {
    return this.#registry.list()
  }

  /** Returns the tenant if this node owns it and the tenant accepts requests now, otherwise `undefined`. */
  async #ready(tenant: string): Promise<OwnedTenant<W> | undefined> {
    if (this.#isClosed) throw new NotOwner('This node is stopping and accepts no more requests.')
    const owned = this.#owned.get(tenant)
    try {
      await owned?.ready()
    } catch (error) {
      if (!(error instanceof NotOwner)) throw error
      return undefined
    }
    return owned
  }

  /** Looks up the owner of a tenant. Simultaneous requests share one lookup. */
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
    // Use this result for at most half a lease. Otherwise requests would be forwarded to a node that is dead or hangs.
    this.#elsewhere.set(tenant, { holder: found.holder, until: host.now() + Math.min(found.left, lease / 2) })
    return found
  }

  async #open(tenure: TenantLease): Promise<OwnedTenant<W>> {
    const { tenant, fence, length } = tenure
    this.#elsewhere.delete(tenant)
    this.#registry.tell(tenant, fence, this.#opening.node.id)
    try {
      // Write a new tenant to the registry first. Otherwise no other node would continue the tenant if this node dies.
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

  /**
   * Takes over tenants of dead or stopped nodes. The schedules of these tenants continue even if no request arrives.
   */
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

  /** Waits before a retry. Simultaneous requests to one tenant share one wait. */
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
