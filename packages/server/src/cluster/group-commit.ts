import { StoreUnreachable } from './cluster-store.js'
import { isAway, type NodeHost, NotOwner, type TenantLease } from './tenant-lease.js'

/** What notes records: a world. */
export interface RecordSource {
  /** Records not taken yet, in order. */
  take(): readonly Uint8Array[]
}

interface Waiter {
  /** How long the journal is when all is in it that was noted before. */
  readonly target: number
  readonly since: number
  readonly patience: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Of one append; a record that is longer goes alone. */
const most = { records: 1_000, bytes: 1_048_576 }
const firstPause = 20

/** How long is waited for an engine, in ms of the node's clock. */
export interface Patience {
  /** Whoever waits for what it wrote is told then that the engine is away. */
  readonly ofRequests: number
  /** The world is given up then: what it did is neither kept nor told to anybody. */
  readonly ofWorlds: number
}

/**
 * The way from one world into its journal: one append is under way at a time, and what is noted meanwhile goes with the next
 * one. While the engine is away it tries again and again, since nobody else can have written where the fence still holds.
 */
export class GroupCommit {
  readonly #tenure: TenantLease
  readonly #host: NodeHost
  readonly #patience: Patience
  readonly #ended: (why: NotOwner) => void
  #source: RecordSource = { take: () => [] }
  #backlog: Uint8Array[] = []
  /** Records since the tenant began that were noted, and those of them that were sent. */
  #noted: number
  #sent: number
  /** In order of their targets. */
  #waiters: Waiter[] = []
  #isRunning = false
  /** Since when the engine has not kept anything, and what it said last. */
  #away: { readonly since: number; readonly error: StoreUnreachable } | undefined
  #end: NotOwner | undefined

  /** @param ended is told once that nothing more will be written */
  constructor(tenure: TenantLease, host: NodeHost, patience: Patience, ended: (why: NotOwner) => void) {
    this.#tenure = tenure
    this.#noted = this.#sent = tenure.length
    this.#host = host
    this.#patience = patience
    this.#ended = ended
  }

  /** How long the engine has not answered, in ms of the node's clock; 0 where it answered when it was asked last. */
  get awayFor(): number {
    return this.#away === undefined ? 0 : Math.max(1, this.#host.now() - this.#away.since)
  }

  /** What it said, or was said of it, last. */
  get away(): StoreUnreachable | undefined {
    return this.#away?.error
  }

  get end(): NotOwner | undefined {
    return this.#end
  }

  /** Records from here on come from a world. */
  from(source: RecordSource): void {
    this.#source = source
    this.write()
  }

  /** Something may have been noted. */
  write(): void {
    this.#collect()
    this.#start()
  }

  /**
   * Resolves when all that was noted up to now is in the journal, under a fence that was good after this call.
   * @throws EngineAway it may be kept later, or not
   * @throws NotOwner
   */
  commit(patience: number = this.#patience.ofRequests): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end)
    this.#collect()
    return new Promise((resolve, reject) => {
      this.#waiters.push({ target: this.#noted, since: this.#host.now(), patience, resolve, reject })
      this.#start()
    })
  }

  /** Nothing is written any more; who waits is told why. */
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
      // Who comes from here on waits for the next one, even with nothing to write: this one may be checked before.
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

  /** Tries until the engine answers. @returns why it will never be written */
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

  /** Nobody has to be told of a tenant that did nothing meanwhile: it is opened again. */
  #givenUp(batch: readonly Uint8Array[]): NotOwner {
    const { tenant } = this.#tenure
    const cause = new Error('the engine was away for too long')
    if (batch.length + this.#backlog.length > 0) return lossOf(cause, tenant)
    return new NotOwner(`The tenant ${tenant} was given up: ${cause.message}.`)
  }

  /** Tells those whose patience has ended. @returns the others */
  #impatient(waiters: readonly Waiter[]): Waiter[] {
    const now = this.#host.now()
    return waiters.filter(({ since, patience, reject }) => {
      if (now - since < patience) return true
      reject(this.#away?.error ?? new StoreUnreachable('it did not answer in time.'))
      return false
    })
  }
}

/** What nobody else caused, such as an engine that is full, is told to whoever runs the node. */
function lossOf(cause: unknown, tenant: string): NotOwner {
  if (cause instanceof NotOwner) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  return new NotOwner(`What the tenant ${tenant} did last may be lost: ${why}`, { cause })
}
