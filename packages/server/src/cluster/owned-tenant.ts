import { StoreUnreachable } from './cluster-store.js'
import { GroupCommit, type Patience } from './group-commit.js'
import { Deleted, type LeaseRequest, NotOwner, type TenantLease, type TenantRecords } from './tenant-lease.js'

/** A tenant's world, as its owner needs it. */
export interface JournaledTenant {
  /** Records not taken yet, in order. */
  take(): readonly Uint8Array[]
  /** Called when there is something to take, once until it is taken, and not at once. */
  onRecords: (() => void) | undefined
  /** Work outside begins only after this has resolved; it rejects where the world is void. */
  gate: (() => Promise<void>) | undefined
  /** @returns `undefined` when it cannot be made now */
  snapshot(): Promise<Snapshot | undefined>
  /** Nothing is noted after it. */
  dispose(): void
}

export interface Snapshot {
  readonly bytes: Uint8Array
  /** How many records since the world was opened it stands for, in their order, whether they are taken or not. */
  readonly records: number
}

/** What was noted since the last snapshot that makes a new one worth its while: one of them, and as many bytes as it has. */
export interface SnapshotAfter {
  readonly records: number
  readonly bytes: number
}

/** A tenant that this node owns: nothing that its world says is true before `commit()` has resolved. */
export class OwnedTenant<W extends JournaledTenant = JournaledTenant> {
  readonly tenant: string
  readonly world: W
  readonly #tenure: TenantLease
  readonly #journal: GroupCommit
  readonly #ended = new AbortController()
  readonly #snapshotAfter: SnapshotAfter
  readonly #patience: number
  /** Records before the world was opened. */
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
    // Not in the middle of what the world does, when its records are not all there.
    world.gate = () => Promise.resolve().then(() => this.commit(Number.POSITIVE_INFINITY))
    world.onRecords = () => queueMicrotask(() => journal.write())
    journal.from({ take: () => this.#taken() })
  }

  /**
   * Opens the world that the journal tells of, and keeps the lease meanwhile.
   * @throws NotOwner, EngineAway, and whatever `open` throws
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
      journal.close(new NotOwner(`The tenant ${tenure.tenant} could not be opened.`))
      throw error
    }
  }

  get fence(): number {
    return this.#tenure.fence
  }

  /** Aborted when the tenant is no longer this node's: what still flows out of it is to be cut. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * Resolves when all that the world noted up to now is kept, and the tenant was still this node's after this call, so that
   * an answer that only read is as good.
   * @throws EngineAway what was asked may be kept later, or not
   * @throws NotOwner the world is void
   */
  commit(patience?: number): Promise<void> {
    // A world that has ended notes nothing: what happened to it since must not pass for kept.
    if (this.#isDisposed)
      return Promise.reject(this.#journal.end ?? new NotOwner(`The tenant ${this.tenant} is being handed over.`))
    return this.#journal.commit(patience)
  }

  /**
   * Before new work: whether the engine answers, which may take as long as a request has patience, or no time at all where
   * it has been away for longer; and where the lease may have run out, whether it is still held.
   * @throws EngineAway nothing was done
   * @throws NotOwner
   */
  async ready(): Promise<void> {
    const { awayFor, away } = this.#journal
    if (awayFor > this.#patience) throw away ?? new StoreUnreachable('it has not answered for a while.')
    if (awayFor > 0 || !this.#tenure.isSure || this.#isDisposed) await this.commit()
  }

  /** The world ends here, and whoever asks first goes on with it. */
  async handOver(): Promise<void> {
    try {
      this.#journal.write()
      this.#dispose()
      await this.#journal.commit()
      await this.#tenure.release()
    } finally {
      this.#journal.close(new NotOwner(`The tenant ${this.tenant} was handed over.`))
    }
  }

  /** Nothing is left of the tenant, here or in the engine. */
  async drop(): Promise<void> {
    this.#dispose()
    try {
      await this.#tenure.drop()
    } catch (error) {
      this.#journal.close(new NotOwner(`The tenant ${this.tenant} was given up while it was being deleted.`))
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
    // A snapshot that is as long as the life of its tenant would otherwise cost more and more.
    if (isDue && this.#since.bytes >= this.#tenure.snapshotLength) void this.#compact()
    return records
  }

  /** What fails here is tried again later, or was lost anyway: the journal is whole without it. */
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

/** What is needed to open a world. */
export interface OpenOptions<W extends JournaledTenant> extends LeaseRequest {
  readonly patience: Patience
  readonly snapshotAfter: SnapshotAfter
  readonly open: (tenant: string, kept: TenantRecords) => Promise<W>
  readonly lost: (owned: OwnedTenant<W>, why: NotOwner) => void
}

/** Asks for the lease again whenever a third of it has passed without a word to the engine. @returns stops it */
function renewed({ host, lease }: LeaseRequest, tenure: TenantLease, journal: GroupCommit): () => void {
  const third = lease / 3
  let cancel = (): void => {}
  const wait = (ms: number): void => {
    cancel = host.after(ms, () => {
      const left = tenure.askedAt + third - host.now()
      // More than a third: somebody has set the clock back.
      if (left > 1 && left <= third) return wait(left)
      if (journal.awayFor === 0) journal.commit(Number.POSITIVE_INFINITY).catch(() => {})
      wait(third)
    })
  }
  wait(third)
  return () => cancel()
}
