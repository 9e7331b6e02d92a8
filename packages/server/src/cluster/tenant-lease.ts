import * as scripts from './cluster-scripts.js'
import { type ClusterStore, type LuaScript, type ScriptReply, StoreUnreachable } from './cluster-store.js'
import { bytesOf, concatenated, numberOf, textOf } from './replies.js'

/** One process of the cluster. */
export interface ClusterNode {
  /** New at every start of a process. */
  readonly id: string
  /** Where the others reach it, without a slash at the end: `http://10.0.0.5:4010`. */
  readonly address: string
}

/** Time and chance of the machine that a node runs on. */
export interface NodeHost {
  /** Milliseconds of a clock of its own, which may be wrong, drift, and be set back. */
  now(): number
  /** @returns cancels it */
  after(ms: number, run: () => void): () => void
  /** From 0 up to, not including, 1. */
  random(): number
}

/** Who holds a tenant, as the engine says. */
export interface LeaseHolder {
  readonly node: ClusterNode
  readonly fence: number
}

/** The tenant is another node's by now, or nobody's: what was under way here is void. */
export class NotOwner extends Error {
  /** Who has it, as far as the engine said. */
  readonly holder: LeaseHolder | undefined
  /** The fence of the latest owner, where that was said. */
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

/** Its owner deleted it. */
export class Deleted extends NotOwner {
  constructor(tenant: string) {
    super(`The tenant ${tenant} was deleted.`)
  }
}

/** What a world is made of: a snapshot, and the records behind it. */
export interface TenantRecords {
  readonly snapshot: Uint8Array | undefined
  readonly records: readonly Uint8Array[]
}

/** Another node holds it, for so many ms if it does nothing. */
export interface HeldElsewhere {
  readonly holder: LeaseHolder
  readonly left: number
}

/** The part of a lease in which a node counts on it: two thirds are left at least, and no clock runs wrong by a fifth. */
const countedOn = 0.5
const partBytes = 1_048_576

/** One node's time as the owner of one tenant, from a fence to its end. All it does is checked against the fence, in the engine. */
export class TenantLease {
  /** Records since the tenant began, as far as they are known to be in the journal. */
  length: number
  /** When it last began to ask the engine, by the node's own clock. */
  askedAt: number
  /** Of the latest snapshot in the engine; 0 without one. */
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

  /** Takes a tenant that nobody holds. */
  static async acquire(given: LeaseRequest, tenant: string): Promise<TenantLease | HeldElsewhere> {
    const askedAt = given.host.now()
    const args = [nameOf(given.node), String(given.lease)]
    const reply = (await given.engine.run(scripts.acquire, tenant, args)) as readonly ScriptReply[]
    if (textOf(reply[0]) === 'mine') return new TenantLease(given, tenant, askedAt, reply)
    return { holder: holderOf(textOf(reply[1])), left: numberOf(reply[2]) }
  }

  /** Whether nobody else can have it yet, by the node's own clock. */
  get isSure(): boolean {
    return this.#host.now() < this.#sureUntil
  }

  /** Writes records behind the others; with none, looks whether the tenant is still its own. Asking again writes nothing twice. */
  async append(records: readonly Uint8Array[]): Promise<void> {
    const mark = new TextEncoder().encode(`${this.fence}:`)
    const marked = records.map((record) => concatenated([mark, record]))
    await this.#ask(scripts.append, String(this.length), ...marked)
    this.length += records.length
  }

  /** What is kept of the tenant, in parts of bounded size. */
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

  /** @param stands for how many records since the tenant began */
  async compact(stands: number, snapshot: Uint8Array): Promise<void> {
    await this.#ask(scripts.compact, String(stands), snapshot)
    this.snapshotLength = snapshot.length
  }

  async release(): Promise<void> {
    await this.#ask(scripts.release)
  }

  /** Nothing is left of the tenant but the count of its owners. */
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
      throw new NotOwner(`The tenant ${this.tenant} has another owner by now.`, told)
    }
    if (textOf(said) === 'astray') throw new Error(`The journal of ${this.tenant} is not as long as its owner left it.`)
    this.#sureUntil = askedAt + this.#lease * countedOn
    return reply as readonly ScriptReply[]
  }
}

/** Who asks the engine for tenants. */
export interface LeaseRequest {
  readonly engine: ClusterStore
  readonly host: NodeHost
  readonly node: ClusterNode
  /** Milliseconds of the engine's clock. */
  readonly lease: number
}

/** Whether a failure only says that the engine did not answer. */
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

/** Without the fence in front. */
function unmarked(record: Uint8Array): Uint8Array {
  return record.subarray(record.indexOf(0x3a) + 1)
}
