import * as scripts from './cluster-scripts.js'
import { type ClusterStore, type LuaScript, type ScriptReply, StoreUnreachable } from './cluster-store.js'
import { bytesOf, concatenated, numberOf, textOf } from './replies.js'

/** One process of a cluster. */
export interface ClusterNode {
  /** ID of the process. Every start creates a new one. */
  readonly id: string
  /** URL of this node for other nodes, without a slash at the end, such as `http://10.0.0.5:4010`. */
  readonly address: string
}

/** Clock, timers and random numbers of the machine on which a node runs. */
export interface NodeHost {
  /** Returns the time of the local clock in milliseconds. The clock may be wrong, drift, or be set back. */
  now(): number
  after(ms: number, run: () => void): () => void
  /** Returns a random number from 0 up to, but not including, 1. */
  random(): number
}

/** The owner of a tenant according to Redis. */
export interface LeaseHolder {
  readonly node: ClusterNode
  readonly fence: number
}

/** This node does not own the tenant. Effects of requests in progress on this node are not saved. */
export class NotOwner extends Error {
  /** Current owner, if Redis returned it. */
  readonly holder: LeaseHolder | undefined
  /** Fence of the latest owner, if Redis returned it. */
  readonly fence: number | undefined

  constructor(
    why: string,
    { holder, fence, ...options }: ErrorOptions & { holder?: LeaseHolder; fence?: number } = {},
  ) {
    super(why, options)
    this.name = 'NotOwner'
    this.holder = holder
    this.fence = fence
  }
}

/** The owner has deleted the tenant. */
export class Deleted extends NotOwner {
  constructor(tenant: string) {
    super(`tenant ${tenant} was deleted.`)
  }
}

/** The saved data of a tenant: a snapshot, and the records after it. */
export interface TenantRecords {
  readonly snapshot: Uint8Array | undefined
  readonly records: readonly Uint8Array[]
}

/** Another node owns the tenant. Without a renewal, the lease of that node expires after `left` milliseconds. */
export interface HeldElsewhere {
  readonly holder: LeaseHolder
  readonly left: number
}

/**
 * Fraction of the lease for which a node relies on its ownership. After a renewal, at least two thirds of the lease are
 * left in Redis. The margin covers a clock that is up to a fifth too slow.
 */
const countedOn = 0.5
const partBytes = 1_048_576

/**
 * The ownership of one tenant by one node, under one fence. Redis rejects every script of an owner with an older fence.
 */
export class TenantLease {
  /** Number of records that Redis has confirmed since the creation of the tenant. */
  length: number
  /** Time at which the last script was sent to Redis, on the clock of the node. */
  askedAt: number
  /** Bytes of the latest snapshot in Redis; 0 without a snapshot. */
  snapshotLength: number
  #sureUntil: number
  readonly tenant: string
  readonly fence: number
  readonly #engine: ClusterStore
  readonly #host: NodeHost
  readonly #lease: number
  readonly #holder: string
  readonly #base: number

  private constructor(given: LeaseRequest, tenant: string, askedAt: number, reply: readonly ScriptReply[]) {
    const [, fence, base, records, snapshotLength] = reply
    this.tenant = tenant
    this.fence = numberOf(fence)
    this.#engine = given.engine
    this.#host = given.host
    this.#lease = given.lease
    this.#holder = `${nameOf(given.node)}#${this.fence}`
    this.#base = numberOf(base)
    this.length = this.#base + numberOf(records)
    this.snapshotLength = numberOf(snapshotLength)
    this.askedAt = askedAt
    this.#sureUntil = askedAt + given.lease * countedOn
  }

  /**
   * Takes a tenant if no other node owns it.
   * @returns the lease of this node, or the node that owns the tenant
   */
  static async acquire(given: LeaseRequest, tenant: string): Promise<TenantLease | HeldElsewhere> {
    const askedAt = given.host.now()
    const args = [nameOf(given.node), String(given.lease)]
    const reply = (await given.engine.run(scripts.acquire, tenant, args)) as readonly ScriptReply[]
    if (textOf(reply[0]) === 'mine') return new TenantLease(given, tenant, askedAt, reply)
    return { holder: holderOf(textOf(reply[1])), left: numberOf(reply[2]) }
  }

  /** Whether this node certainly still owns the tenant. This is certain for half a lease after each renewal. */
  get isSure(): boolean {
    return this.#host.now() < this.#sureUntil
  }

  /**
   * Appends records to the journal. Without records, it only checks that this node still owns the tenant. If the call
   * is repeated after a lost reply, no record is written twice.
   */
  async append(records: readonly Uint8Array[]): Promise<void> {
    const mark = new TextEncoder().encode(`${this.fence}:`)
    const marked = records.map((record) => concatenated([mark, record]))
    await this.#ask(scripts.append, String(this.length), ...marked)
    this.length += records.length
  }

  /** Reads the saved data of the tenant, in parts of limited size. */
  async read(): Promise<TenantRecords> {
    const parts: Uint8Array[] = []
    for (let at = 0; at < this.snapshotLength; at += partBytes) {
      const [, part] = await this.#ask(scripts.readSnapshot, String(at), String(at + partBytes - 1))
      parts.push(bytesOf(part))
    }
    const records: Uint8Array[] = []
    while (this.#base + records.length < this.length) {
      const [, part] = await this.#ask(scripts.readRecords, String(this.#base + records.length), String(partBytes))
      const read = part as readonly ScriptReply[]
      if (read.length === 0) throw new Error(`The journal of ${this.tenant} has fewer records than expected.`)
      for (const record of read) records.push(unmarked(bytesOf(record)))
    }
    return { snapshot: this.snapshotLength === 0 ? undefined : concatenated(parts), records }
  }

  /**
   * Saves a snapshot.
   * @param stands number of records in the snapshot, counted from the creation of the tenant
   */
  async compact(stands: number, snapshot: Uint8Array): Promise<void> {
    await this.#ask(scripts.compact, String(stands), snapshot)
    this.snapshotLength = snapshot.length
  }

  async release(): Promise<void> {
    await this.#ask(scripts.release)
  }

  /** Deletes the tenant. Only its fence stays, so that later owners get higher fences. */
  async drop(): Promise<void> {
    await this.#ask(scripts.drop)
  }

  async #ask(script: LuaScript, ...args: (string | Uint8Array)[]): Promise<readonly ScriptReply[]> {
    const askedAt = this.#host.now()
    this.askedAt = askedAt
    const reply = await this.#engine.run(script, this.tenant, [this.#holder, String(this.#lease), ...args])
    const [said, ...more] = reply as readonly ScriptReply[]
    if (textOf(said) === 'lost') {
      const [held = null, fence] = more
      const told = { ...(held !== null && { holder: holderOf(textOf(held)) }), fence: numberOf(fence) }
      throw new NotOwner(`tenant ${this.tenant} has another owner now.`, told)
    }
    if (textOf(said) === 'astray')
      throw new Error(`The journal of ${this.tenant} does not have the number of records that its owner wrote.`)
    this.#sureUntil = askedAt + this.#lease * countedOn
    return reply as readonly ScriptReply[]
  }
}

/** A node that requests leases of tenants, with its clock and its Redis. */
export interface LeaseRequest {
  readonly engine: ClusterStore
  readonly host: NodeHost
  readonly node: ClusterNode
  /** Duration of the lease, in milliseconds on the clock of Redis. */
  readonly lease: number
}

/** Returns whether an error means that Redis was unavailable. */
export function isAway(error: unknown): error is StoreUnreachable {
  return error instanceof StoreUnreachable
}

function nameOf({ id, address }: ClusterNode): string {
  return `${id}@${address}`
}

function holderOf(text: string): LeaseHolder {
  const [, id = '', address = '', fence = ''] = /^([^@]*)@(.*)#(\d+)$/s.exec(text) ?? []
  return { node: { id, address }, fence: Number(fence) }
}

/** Removes the fence in front of a record. */
function unmarked(record: Uint8Array): Uint8Array {
  return record.subarray(record.indexOf(0x3a) + 1)
}
