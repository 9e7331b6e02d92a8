import { StoreUnreachable } from './cluster-store.js'
import { isAway, type NodeHost, NotOwner, type TenantLease } from './tenant-lease.js'

/** A source of records: a sandbox. */
export interface RecordSource {
  /** Returns new records in order. */
  take(): readonly Uint8Array[]
}

interface Waiter {
  /** Length of the journal when it contains everything that was recorded before. */
  readonly target: number
  readonly since: number
  readonly patience: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Maximum size of one append; a longer record is sent alone. */
const most = { records: 1_000, bytes: 1_048_576 }
const firstPause = 20

/** How long to wait for the Redis, in ms of the clock of the node. */
export interface Patience {
  /** Time after which a waiting request fails because the Redis is unavailable. */
  readonly ofRequests: number
  /** Time after which the sandbox is given up: its changes are neither saved nor sent to a client. */
  readonly ofWorlds: number
}

/**
 * Writes the records of one sandbox to its journal. One append runs at a time, and records that are added meanwhile go
 * into the next one. While the Redis is unavailable it retries, because no other node can have written as long as the
 * fence is the same.
 */
export class GroupCommit {
  readonly #tenure: TenantLease
  readonly #host: NodeHost
  readonly #patience: Patience
  readonly #ended: (why: NotOwner) => void
  #source: RecordSource = { take: () => [] }
  #backlog: Uint8Array[] = []
  /** Number of records since the creation of the tenant that were recorded, and that were sent. */
  #noted: number
  #sent: number
  /** Waiting requests, ordered by their targets. */
  #waiters: Waiter[] = []
  #isRunning = false
  /** Since when the Redis has saved nothing, and its last error. */
  #away: { readonly since: number; readonly error: StoreUnreachable } | undefined
  #end: NotOwner | undefined

  /** @param ended called once when nothing more will be written */
  constructor(tenure: TenantLease, host: NodeHost, patience: Patience, ended: (why: NotOwner) => void) {
    this.#tenure = tenure
    this.#noted = this.#sent = tenure.length
    this.#host = host
    this.#patience = patience
    this.#ended = ended
  }

  /** How long the Redis has not replied, in ms of the clock of the node; 0 if its last reply arrived. */
  get awayFor(): number {
    return this.#away === undefined ? 0 : Math.max(1, this.#host.now() - this.#away.since)
  }

  /** The last error of the Redis. */
  get away(): StoreUnreachable | undefined {
    return this.#away?.error
  }

  get end(): NotOwner | undefined {
    return this.#end
  }

  /** Sets the source of further records. */
  from(source: RecordSource): void {
    this.#source = source
    this.write()
  }

  /** Writes new records, if there are any. */
  write(): void {
    this.#collect()
    this.#start()
  }

  /**
   * Resolves when everything that was recorded so far is in the journal, with a fence that was valid after this call.
   * @throws StoreUnreachable the records may be saved later, or not
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
      // Requests from here on wait for the next append, even without records, because this append may already have been
      // checked.
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

  /** Retries until the Redis replies. Returns why the records will never be written, or `undefined`. */
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

  /** Returns the reason for giving up. A tenant without pending records is only reopened, so no loss is reported. */
  #givenUp(batch: readonly Uint8Array[]): NotOwner {
    const { tenant } = this.#tenure
    const cause = new Error('the Redis was unavailable for too long')
    if (batch.length + this.#backlog.length > 0) return lossOf(cause, tenant)
    return new NotOwner(`tenant ${tenant} was given up: ${cause.message}.`)
  }

  /** Rejects waiting requests after their timeout. Returns the others. */
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
 * Returns the reason of a loss. Failures that no other node caused, such as a full Redis, are reported to the user who
 * runs the node.
 */
function lossOf(cause: unknown, tenant: string): NotOwner {
  if (cause instanceof NotOwner) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  return new NotOwner(`tenant ${tenant}: its last changes may be lost: ${why}`, { cause })
}
