import { StoreUnreachable } from './cluster-store.js'
import { isAway, type NodeHost, NotOwner, type TenantLease } from './tenant-lease.js'

/** Source of the records to write: a sandbox. */
export interface RecordSource {
  /** Returns the records since the last call, in order. */
  take(): readonly Uint8Array[]
}

interface Waiter {
  /** Number of records that must be in the journal before this commit resolves. */
  readonly target: number
  readonly since: number
  readonly patience: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Maximum records and bytes of one append. A record with more bytes is sent alone. */
const most = { records: 1_000, bytes: 1_048_576 }
const firstPause = 20

/** Timeouts while Redis is unavailable, in milliseconds on the clock of the node. */
export interface Patience {
  /** Time after which a waiting request fails. */
  readonly ofRequests: number
  /**
   * Time after which this node gives up the sandbox. Unsaved changes are lost, but no client has received a response
   * that depends on them.
   */
  readonly ofWorlds: number
}

/**
 * Writes the records of one sandbox to its journal. One append runs at a time, and the next append contains all records
 * that were added in the meantime. While Redis is unavailable, the append is retried. Retrying is safe, because no
 * other node can have written to the journal while the fence is unchanged.
 */
export class GroupCommit {
  readonly #tenure: TenantLease
  readonly #host: NodeHost
  readonly #patience: Patience
  readonly #ended: (why: NotOwner) => void
  #source: RecordSource = { take: () => [] }
  #backlog: Uint8Array[] = []
  /** Numbers of records since the creation of the tenant: taken from the sandbox, and sent to Redis. */
  #noted: number
  #sent: number
  /** Waiting requests, ordered by `target`. */
  #waiters: Waiter[] = []
  #isRunning = false
  /** Start of the current outage of Redis, and its last error; `undefined` without an outage. */
  #away: { readonly since: number; readonly error: StoreUnreachable } | undefined
  #end: NotOwner | undefined

  /** @param ended called once with the reason, when no more records will be written */
  constructor(tenure: TenantLease, host: NodeHost, patience: Patience, ended: (why: NotOwner) => void) {
    this.#tenure = tenure
    this.#noted = this.#sent = tenure.length
    this.#host = host
    this.#patience = patience
    this.#ended = ended
  }

  /** Duration of the current outage of Redis, in milliseconds on the clock of the node; 0 without an outage. */
  get awayFor(): number {
    return this.#away === undefined ? 0 : Math.max(1, this.#host.now() - this.#away.since)
  }

  /** Last error of the current outage of Redis; `undefined` without an outage. */
  get away(): StoreUnreachable | undefined {
    return this.#away?.error
  }

  get end(): NotOwner | undefined {
    return this.#end
  }

  /** Sets the source of all later records. */
  from(source: RecordSource): void {
    this.#source = source
    this.write()
  }

  write(): void {
    this.#collect()
    this.#start()
  }

  /**
   * Resolves when all records so far are in the journal, and Redis has confirmed after this call that this node still
   * owns the tenant.
   * @throws StoreUnreachable after the timeout; the records may still be saved later
   * @throws NotOwner if another node owns the tenant
   */
  commit(patience: number = this.#patience.ofRequests): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end)
    this.#collect()
    return new Promise((resolve, reject) => {
      this.#waiters.push({ target: this.#noted, since: this.#host.now(), patience, resolve, reject })
      this.#start()
    })
  }

  /** Stops writing, and rejects all waiting requests with the reason. */
  close(why: NotOwner): void {
    if (this.#end !== undefined) return
    this.#end = why
    this.#source = { take: () => [] }
    this.#backlog = []
    for (const { reject } of this.#waiters.splice(0)) reject(why)
    this.#ended(why)
  }

  #collect(): void {
    for (const record of this.#source.take()) {
      this.#backlog.push(record)
      this.#noted++
    }
  }

  #start(): void {
    if (this.#isRunning || this.#end !== undefined) return
    this.#isRunning = true
    void this.#run()
  }

  async #run(): Promise<void> {
    while (this.#end === undefined && this.#waiters.length + this.#backlog.length > 0) {
      const batch = this.#batch()
      this.#sent += batch.length
      // A request that arrives during this append waits for the next append, even if it adds no records. Redis may have
      // checked the fence for this append before the request arrived.
      let together = this.#waiters.filter(({ target }) => target <= this.#sent)
      this.#waiters = this.#waiters.slice(together.length)
      const tell = (): void => {
        together = this.#impatient(together)
        this.#waiters = this.#impatient(this.#waiters)
      }
      const why = await this.#written(batch, tell)
      if (why === undefined) for (const { resolve } of together) resolve()
      else {
        for (const { reject } of together) reject(why)
        this.close(why)
      }
    }
    this.#isRunning = false
  }

  #batch(): Uint8Array[] {
    let [records, bytes] = [0, 0]
    for (const { length } of this.#backlog) {
      if (records > 0 && (records === most.records || bytes + length > most.bytes)) break
      records++
      bytes += length
    }
    return this.#backlog.splice(0, records)
  }

  /**
   * Appends records, and retries until Redis replies. Returns `undefined` when the records are written. Otherwise
   * returns the reason why they will never be written.
   */
  async #written(batch: readonly Uint8Array[], failed: () => void): Promise<NotOwner | undefined> {
    for (let pause = firstPause; ; pause = Math.min(2 * pause, this.#patience.ofRequests / 4)) {
      try {
        await this.#tenure.append(batch)
        this.#away = undefined
        return this.#end
      } catch (error) {
        if (this.#end !== undefined) return this.#end
        if (!isAway(error)) return lossOf(error, this.#tenure.tenant)
        this.#away = { since: this.#away?.since ?? this.#host.now(), error }
      }
      failed()
      if (this.awayFor > this.#patience.ofWorlds) return this.#givenUp(batch)
      await new Promise<void>((resolve) => this.#host.after(pause * (0.5 + this.#host.random()), resolve))
      if (this.#end !== undefined) return this.#end
    }
  }

  /**
   * Returns the error for a sandbox that this node gives up. The error reports lost changes only if there are pending
   * records.
   */
  #givenUp(batch: readonly Uint8Array[]): NotOwner {
    const { tenant } = this.#tenure
    const cause = new Error('the Redis was unavailable for too long')
    if (batch.length + this.#backlog.length > 0) return lossOf(cause, tenant)
    return new NotOwner(`tenant ${tenant} was given up: ${cause.message}.`)
  }

  /** Rejects the waiting requests whose timeout has passed. Returns the remaining requests. */
  #impatient(waiters: readonly Waiter[]): Waiter[] {
    const now = this.#host.now()
    return waiters.filter(({ since, patience, reject }) => {
      if (now - since < patience) return true
      reject(this.#away?.error ?? new StoreUnreachable('it did not reply in time.'))
      return false
    })
  }
}

/**
 * Returns the error that ends the sandbox on this node. An error with a `cause`, such as an error of Redis, is reported
 * to the user who runs the node. If another node has taken over the tenant, the error has no `cause`.
 */
function lossOf(cause: unknown, tenant: string): NotOwner {
  if (cause instanceof NotOwner) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  return new NotOwner(`tenant ${tenant}: its last changes may be lost: ${why}`, { cause })
}
