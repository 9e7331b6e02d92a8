import * as scripts from './cluster-scripts.js'
import { type ClusterStore, type LuaScript, type ScriptReply, StoreUnreachable } from './cluster-store.js'
import { bytesOf, concatenated, numberOf, textOf } from './replies.js'

/** One process of the cluster. */
export interface ClusterNode {
  /** ID, new at every start of a process. */
  readonly id: string
  /** URL for other nodes without a slash at the end, such as `http://10.0.0.5:4010`. */
  readonly address: string
}

/** Clock and random numbers of the machine of a node. */
export interface NodeHost {
  /** Returns the milliseconds of a local clock, which may be wrong, drift, or be set back. */
  now(): number
  /** Runs a function later. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void
  /** Returns a random number from 0 up to, but not including, 1. */
  random(): number
}

/** The owner of a tenant according to the Redis. */
export interface LeaseHolder {
  readonly node: ClusterNode
  readonly fence: number
}

/** The tenant belongs to another node or to none. Work in progress on this node is void. */
export class NotOwner extends Error {
  /** The current owner, if the Redis returned it. */
  readonly holder: LeaseHolder | undefined
  /** The fence of the latest owner, if the Redis returned it. */
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

/** The owner deleted the tenant. */
export class Deleted extends NotOwner {
  constructor(tenant: string) {
    super(`tenant ${tenant} was deleted.`)
  }
}

/** What a sandbox is opened from: a snapshot, and the records after it. */
export interface TenantRecords {
  readonly snapshot: Uint8Array | undefined
  readonly records: readonly Uint8Array[]
}

/** Another node owns the tenant, for this many ms without renewal. */
export interface HeldElsewhere {
  readonly holder: LeaseHolder
  readonly left: number
}

/**
 * Share of a lease that a node relies on. At least two thirds are left after a renewal, and no clock is wrong by a
 * fifth.
 */
const countedOn = 0.5
const partBytes = 1_048_576

/** The ownership of one tenant by one node, from a fence to its end. The Redis checks every call against the fence. */
export class TenantLease {
  /** Number of records since the creation of the tenant that are known to be in the journal. */
  length: number
  /** Start of the last call to the Redis, on the clock of the node. */
  askedAt: number
  /** Bytes of the latest snapshot in the Redis; 0 without one. */
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

  /** Takes a tenant without an owner. */
  static async acquire(given: LeaseRequest, tenant: string): Promise<TenantLease | HeldElsewhere> {
    const askedAt = given.host.now()
    const args = [nameOf(given.node), String(given.lease)]
    const reply = (await given.engine.run(scripts.acquire, tenant, args)) as readonly ScriptReply[]
    if (textOf(reply[0]) === 'mine') return new TenantLease(given, tenant, askedAt, reply)
    return { holder: holderOf(textOf(reply[1])), left: numberOf(reply[2]) }
  }

  /** Whether no other node can own the tenant yet, by the clock of this node. */
  get isSure(): boolean {
    return this.#host.now() < this.#sureUntil
  }

  /**
   * Appends records; without records it checks that the tenant is still owned. A repeated call writes nothing twice.
   */
  async append(records: readonly Uint8Array[]): Promise<void> {
    const mark = new TextEncoder().encode(`${this.fence}:`)
    const marked = records.map((record) => concatenated([mark, record]))
    await this.#ask(scripts.append, String(this.length), ...marked)
    this.length += records.length
  }

  /** Reads the saved tenant in parts of limited size. */
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
      if (read.length === 0) throw new Error(`The journal of ${this.tenant} ends before its length.`)
      for (const record of read) records.push(unmarked(bytesOf(record)))
    }
    return { snapshot: this.snapshotLength === 0 ? undefined : concatenated(parts), records }
  }

  /** @param stands number of records since the creation of the tenant that the snapshot contains */
  async compact(stands: number, snapshot: Uint8Array): Promise<void> {
    await this.#ask(scripts.compact, String(stands), snapshot)
    this.snapshotLength = snapshot.length
  }

  async release(): Promise<void> {
    await this.#ask(scripts.release)
  }

  /** Deletes the tenant, except for the number of its owners. */
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
      throw new Error(`The journal of ${this.tenant} does not have the length that its owner left.`)
    this.#sureUntil = askedAt + this.#lease * countedOn
    return reply as readonly ScriptReply[]
  }
}

/** A node that requests tenants from the Redis. */
export interface LeaseRequest {
  readonly engine: ClusterStore
  readonly host: NodeHost
  readonly node: ClusterNode
  /** Milliseconds on the clock of the Redis. */
  readonly lease: number
}

/** Returns whether an error only means that the Redis did not reply. */
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

/** Returns a record without the fence in front of it. */
function unmarked(record: Uint8Array): Uint8Array {
  return record.subarray(record.indexOf(0x3a) + 1)
}
