import { StoreUnreachable } from './cluster-store.js'
import { GroupCommit, type Patience } from './group-commit.js'
import { Deleted, type LeaseRequest, NotOwner, type TenantLease, type TenantRecords } from './tenant-lease.js'

/** The sandbox of a tenant, as its owner needs it. */
export interface JournaledTenant {
  /** Returns new records in order. */
  take(): readonly Uint8Array[]
  /** Called once per `take()` when there are new records, and not synchronously. */
  onRecords: (() => void) | undefined
  /** Work outside begins only after this promise has resolved. It rejects if the sandbox is void. */
  gate: (() => Promise<void>) | undefined
  /** Returns a snapshot, or `undefined` if none is possible now. */
  snapshot(): Promise<Snapshot | undefined>
  /** Disposes the sandbox. It records nothing afterwards. */
  dispose(): void
}

export interface Snapshot {
  readonly bytes: Uint8Array
  /** Number of records since the sandbox was opened that it contains, in order, whether they were taken or not. */
  readonly records: number
}

/** Minimum records since the last snapshot for a new one, and minimum bytes: at least as many as the snapshot has. */
export interface SnapshotAfter {
  readonly records: number
  readonly bytes: number
}

/** A tenant that this node owns. Nothing that its sandbox returns is valid before `commit()` has resolved. */
export class OwnedTenant<W extends JournaledTenant = JournaledTenant> {
  readonly tenant: string
  readonly world: W
  readonly #tenure: TenantLease
  readonly #journal: GroupCommit
  readonly #ended = new AbortController()
  readonly #snapshotAfter: SnapshotAfter
  readonly #patience: number
  /** Number of records before the sandbox was opened. */
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
    // Wait for the end of the current step of the sandbox, when all its records exist.
    world.gate = () => Promise.resolve().then(() => this.commit(Number.POSITIVE_INFINITY))
    world.onRecords = () => queueMicrotask(() => journal.write())
    journal.from({ take: () => this.#taken() })
  }

  /**
   * Opens the sandbox from the journal, and renews the lease meanwhile.
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

  /** Aborted when this node no longer owns the tenant; pending responses must be cut off. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * Resolves when everything that the sandbox recorded so far is saved, and this node still owned the tenant after this
   * call. That makes read-only responses valid, too.
   * @throws StoreUnreachable the changes may be saved later, or not
   * @throws NotOwner the sandbox is void
   */
  commit(patience?: number): Promise<void> {
    // A disposed sandbox records nothing. Later changes must not count as saved.
    if (this.#isDisposed)
      return Promise.reject(this.#journal.end ?? new NotOwner(`tenant ${this.tenant} is being handed over.`))
    return this.#journal.commit(patience)
  }

  /**
   * Checks before new work that the Redis replies. It waits up to the timeout of a request, or not at all if the Redis
   * has been unavailable for longer. If the lease may have expired, it also checks that the lease is still held.
   * @throws StoreUnreachable nothing was done
   * @throws NotOwner if another node owns the tenant
   */
  async ready(): Promise<void> {
    const { awayFor, away } = this.#journal
    if (awayFor > this.#patience) throw away ?? new StoreUnreachable('it has not replied for a while.')
    if (awayFor > 0 || !this.#tenure.isSure || this.#isDisposed) await this.commit()
  }

  /** Ends the sandbox on this node. The next node that gets a request for it continues it. */
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

  /** Deletes the tenant here and in the Redis. */
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
    // A new snapshot must be worth its size, because the snapshot of an old tenant is long.
    if (isDue && this.#since.bytes >= this.#tenure.snapshotLength) void this.#compact()
    return records
  }

  /** Errors are ignored: the snapshot is retried later, and the journal is complete without it. */
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

/** Options for opening a sandbox. */
export interface OpenOptions<W extends JournaledTenant> extends LeaseRequest {
  readonly patience: Patience
  readonly snapshotAfter: SnapshotAfter
  readonly open: (tenant: string, kept: TenantRecords) => Promise<W>
  readonly lost: (owned: OwnedTenant<W>, why: NotOwner) => void
}

/** Renews the lease whenever a third of it has passed without a call to the Redis. Returns a function that stops it. */
function renewed({ host, lease }: LeaseRequest, tenure: TenantLease, journal: GroupCommit): () => void {
  const third = lease / 3
  let cancel = (): void => {}
  const wait = (ms: number): void => {
    cancel = host.after(ms, () => {
      const left = tenure.askedAt + third - host.now()
      // If more than a third is left, the clock was set back.
      if (left > 1 && left <= third) return wait(left)
      if (journal.awayFor === 0) journal.commit(Number.POSITIVE_INFINITY).catch(() => {})
      wait(third)
    })
  }
  wait(third)
  return () => cancel()
}
