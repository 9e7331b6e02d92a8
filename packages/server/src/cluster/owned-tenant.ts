import { StoreUnreachable } from './cluster-store.js'
import { GroupCommit, type Patience } from './group-commit.js'
import { Deleted, type LeaseRequest, NotOwner, type TenantLease, type TenantRecords } from './tenant-lease.js'

/** The methods of a tenant's sandbox that the owner of the tenant uses. */
export interface JournaledTenant {
  /** Returns the records of all inputs since the last call, in order. */
  take(): readonly Uint8Array[]
  /**
   * Function that is called asynchronously when there are new inputs. It is called again only after the next `take()`.
   */
  onRecords: (() => void) | undefined
  /**
   * Function that is called before work outside of the sandbox. The work begins when the returned promise resolves. The
   * promise rejects if another node owns the tenant.
   */
  gate: (() => Promise<void>) | undefined
  /** Returns a snapshot, or `undefined` if none can be created now. */
  snapshot(): Promise<Snapshot | undefined>
  /** Disposes the sandbox. A disposed sandbox records nothing. */
  dispose(): void
}

export interface Snapshot {
  readonly bytes: Uint8Array
  /** Number of records from the opening of the sandbox to the end of the snapshot. */
  readonly records: number
}

/**
 * A new snapshot is created when the records since the last snapshot reach one of these numbers. These records must
 * also have at least as many bytes as the last snapshot.
 */
export interface SnapshotAfter {
  readonly records: number
  readonly bytes: number
}

/** A tenant that this node owns. A response of its sandbox may be sent only after `commit()` has resolved. */
export class OwnedTenant<W extends JournaledTenant = JournaledTenant> {
  readonly tenant: string
  readonly world: W
  readonly #tenure: TenantLease
  readonly #journal: GroupCommit
  readonly #ended = new AbortController()
  readonly #snapshotAfter: SnapshotAfter
  readonly #patience: number
  /** Number of records in the journal when the sandbox was opened. */
  readonly #opened: number
  #since = { records: 0, bytes: 0 }
  #isCompacting = false
  #isDisposed = false

  private constructor(
    { snapshotAfter, patience }: OpenOptions<W>,
    tenure: TenantLease,
    journal: GroupCommit,
    world: W,
  ) {
    this.tenant = tenure.tenant
    this.world = world
    this.#tenure = tenure
    this.#journal = journal
    this.#snapshotAfter = snapshotAfter
    this.#patience = patience.ofRequests
    this.#opened = tenure.length
    // Commit after the current step of the sandbox, when all records of the step exist.
    world.gate = () => Promise.resolve().then(() => this.commit(Number.POSITIVE_INFINITY))
    world.onRecords = () => queueMicrotask(() => journal.write())
    journal.from({ take: () => this.#taken() })
  }

  /**
   * Opens the sandbox from its journal. The lease is renewed while the journal is being replayed.
   * @throws NotOwner, StoreUnreachable, and every error of `open`
   */
  static async open<W extends JournaledTenant>(given: OpenOptions<W>, tenure: TenantLease): Promise<OwnedTenant<W>> {
    let owned: OwnedTenant<W> | undefined
    const journal = new GroupCommit(tenure, given.host, given.patience, (why) => {
      stop()
      if (owned === undefined) return
      owned.#end(why)
      given.lost(owned, why)
    })
    const stop = renewed(given, tenure, journal)
    try {
      const world = await given.open(tenure.tenant, await tenure.read())
      if (journal.end !== undefined) {
        world.dispose()
        throw journal.end
      }
      owned = new OwnedTenant(given, tenure, journal, world)
      return owned
    } catch (error) {
      journal.close(new NotOwner(`tenant ${tenure.tenant} could not be opened.`))
      throw error
    }
  }

  get fence(): number {
    return this.#tenure.fence
  }

  /** Aborted when this node no longer owns the tenant. Event streams must then be ended. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * Resolves when all inputs so far are saved, and Redis has confirmed after this call that this node still owns the
   * tenant. Responses to reads need the confirmation, too.
   * @throws StoreUnreachable after the timeout; the inputs may still be saved later
   * @throws NotOwner if another node owns the tenant; this sandbox must not be used then
   */
  commit(patience?: number): Promise<void> {
    // A disposed sandbox records no inputs. A commit would resolve, although later changes are not saved.
    if (this.#isDisposed)
      return Promise.reject(this.#journal.end ?? new NotOwner(`tenant ${this.tenant} is being handed over.`))
    return this.#journal.commit(patience)
  }

  /**
   * Checks before a new request that Redis is available. This method waits up to the timeout of a request, or rejects
   * immediately if Redis has been unavailable for longer. If the lease may have expired, the method also checks that
   * this node still owns the tenant.
   * @throws StoreUnreachable nothing was done
   * @throws NotOwner if another node owns the tenant
   */
  async ready(): Promise<void> {
    const { awayFor, away } = this.#journal
    if (awayFor > this.#patience) throw away ?? new StoreUnreachable('it has not replied for a while.')
    if (awayFor > 0 || !this.#tenure.isSure || this.#isDisposed) await this.commit()
  }

  /**
   * Ends the sandbox on this node and releases the lease. The next node that gets a request for the tenant continues
   * the sandbox.
   */
  async handOver(): Promise<void> {
    try {
      this.#journal.write()
      this.#dispose()
      await this.#journal.commit()
      await this.#tenure.release()
    } finally {
      this.#journal.close(new NotOwner(`tenant ${this.tenant} was handed over.`))
    }
  }

  /** Deletes the tenant on this node and in Redis. */
  async drop(): Promise<void> {
    this.#dispose()
    try {
      await this.#tenure.drop()
    } catch (error) {
      this.#journal.close(new NotOwner(`tenant ${this.tenant} was given up while it was being deleted.`))
      throw error
    }
    this.#journal.close(new Deleted(this.tenant))
  }

  #end(why: NotOwner): void {
    this.world.gate = () => Promise.reject(why)
    this.#dispose()
    this.#ended.abort(why)
  }

  #dispose(): void {
    if (this.#isDisposed) return
    this.#isDisposed = true
    this.world.onRecords = undefined
    this.world.dispose()
  }

  #taken(): readonly Uint8Array[] {
    const records = this.world.take()
    this.#since.records += records.length
    for (const { length } of records) this.#since.bytes += length
    const { records: most, bytes } = this.#snapshotAfter
    const isDue = this.#since.records >= most || this.#since.bytes >= bytes
    // Each snapshot contains the previous snapshot. Write a new snapshot only when the new records are at least as long
    // as the previous snapshot. Otherwise an old tenant would often rewrite a long snapshot.
    if (isDue && this.#since.bytes >= this.#tenure.snapshotLength) void this.#compact()
    return records
  }

  /**
   * Replaces records of the journal by a snapshot. Errors are ignored, because the journal is complete without the
   * snapshot, and a later attempt succeeds.
   */
  async #compact(): Promise<void> {
    if (this.#isCompacting) return
    this.#isCompacting = true
    this.#since = { records: 0, bytes: 0 }
    try {
      const snapshot = await this.world.snapshot()
      if (snapshot === undefined || this.#journal.end !== undefined) return
      await this.commit()
      await this.#tenure.compact(this.#opened + snapshot.records, snapshot.bytes)
    } catch {
    } finally {
      this.#isCompacting = false
    }
  }
}

export interface OpenOptions<W extends JournaledTenant> extends LeaseRequest {
  readonly patience: Patience
  readonly snapshotAfter: SnapshotAfter
  readonly open: (tenant: string, kept: TenantRecords) => Promise<W>
  readonly lost: (owned: OwnedTenant<W>, why: NotOwner) => void
}

/**
 * Renews the lease when a third of its duration has passed without a command to Redis. Returns a function that stops
 * the renewals.
 */
function renewed({ host, lease }: LeaseRequest, tenure: TenantLease, journal: GroupCommit): () => void {
  const third = lease / 3
  let cancel = (): void => {}
  const wait = (ms: number): void => {
    cancel = host.after(ms, () => {
      const left = tenure.askedAt + third - host.now()
      // If `left` is longer than a third of the lease, the clock was set back. Then renew the lease immediately.
      if (left > 1 && left <= third) return wait(left)
      if (journal.awayFor === 0) journal.commit(Number.POSITIVE_INFINITY).catch(() => {})
      wait(third)
    })
  }
  wait(third)
  return () => cancel()
}
