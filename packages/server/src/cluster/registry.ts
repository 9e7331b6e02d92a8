import * as scripts from './cluster-scripts.js'
import type { LuaScript, ScriptReply } from './cluster-store.js'
import { textOf } from './replies.js'
import type { ClusterNode, LeaseRequest } from './tenant-lease.js'

/** Content of the registry. A new owner is first in the lease, and slightly later in the registry. */
export interface RegistryView {
  readonly nodes: readonly (ClusterNode & { readonly isAlive: boolean })[]
  /** `owner` is the ID of a node; `undefined` if none is known. */
  readonly tenants: readonly { readonly name: string; readonly owner: string | undefined }[]
}

/** Maximum number of tenants that one command reads or writes. */
const pageSize = 1_000

/**
 * The list of all nodes and tenants, in Redis. It is used for overviews and to find orphans: tenants without an owner,
 * or whose owner is dead. Only the lease decides which node owns a tenant. Updates that fail are repeated with the next
 * heartbeat.
 */
export class Registry {
  readonly #given: LeaseRequest
  readonly #adopt: (tenants: readonly string[]) => Promise<void>
  readonly #news = new Map<string, { readonly fence: number; readonly id: string }>()
  #cursor = '0'
  #stop: (() => void) | undefined
  #isAdopting = false
  #isClosed = false

  /** @param adopt function that takes over orphans; it is not called again before it has finished */
  constructor(given: LeaseRequest, adopt: (tenants: readonly string[]) => Promise<void>) {
    this.#given = given
    this.#adopt = adopt
    void this.#beat()
  }

  /**
   * Queues a change of a tenant's owner for the next update.
   * @param id ID of the owner; '' without an owner, `-` for a deleted tenant
   */
  tell(tenant: string, fence: number, id: string): void {
    const known = this.#news.get(tenant)
    if (known === undefined || known.fence <= fence) this.#news.set(tenant, { fence, id })
  }

  /**
   * Sends all queued updates.
   * @throws StoreUnreachable if Redis is unavailable; a later heartbeat sends the updates
   */
  async flush(): Promise<void> {
    const news = [...this.#news]
    for (let at = 0; at < news.length; at += pageSize) {
      const page = news.slice(at, at + pageSize)
      const words = page.flatMap(([tenant, { fence, id }]) => [tenant, String(fence), id])
      await this.#run(scripts.tell, ...words)
      for (const [tenant, told] of page) if (this.#news.get(tenant) === told) this.#news.delete(tenant)
    }
  }

  async list(): Promise<RegistryView> {
    const [nodes = [], owners = []] = (await this.#run(scripts.list)) as readonly ScriptReply[]
    const known = pairs(nodes).map(([id, value]) => {
      const [left = '', address = ''] = value.split(' ')
      return { id, address, isAlive: Number(left) > 0 }
    })
    const tenants = pairs(owners).map(([name, value]) => ({ name, owner: value.split(' ')[1] || undefined }))
    return {
      nodes: known.sort((a, b) => (a.id < b.id ? -1 : 1)),
      tenants: tenants.sort((a, b) => (a.name < b.name ? -1 : 1)),
    }
  }

  /** Removes this node, so that its tenants become orphans immediately. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop?.()
    try {
      await this.flush()
      await this.#run(scripts.leave, this.#given.node.id)
    } catch {
      // Redis is unavailable. The entry of this node expires by itself after its lifetime.
    }
  }

  async #beat(): Promise<void> {
    const { node, lease, host } = this.#given
    try {
      const args = [node.id, node.address, String(lease), this.#cursor, String(pageSize)]
      const [cursor, orphans] = (await this.#run(scripts.beat, ...args)) as readonly ScriptReply[]
      this.#cursor = textOf(cursor)
      await this.flush()
      this.#found((orphans as readonly ScriptReply[]).map(textOf))
    } catch {
      // Redis is unavailable. The next heartbeat retries.
    }
    if (!this.#isClosed) this.#stop = host.after(lease / 3, () => void this.#beat())
  }

  /**
   * Starts to take over orphans, unless earlier orphans are still being taken over. Heartbeats continue in the
   * meantime.
   */
  #found(orphans: readonly string[]): void {
    if (this.#isAdopting || this.#isClosed || orphans.length === 0) return
    this.#isAdopting = true
    void this.#adopt(this.#shuffled(orphans)).finally(() => {
      this.#isAdopting = false
    })
  }

  /** Shuffles the orphans. Otherwise all nodes would try to take the same orphan first. */
  #shuffled(tenants: readonly string[]): string[] {
    const { host } = this.#given
    const keyed = tenants.map((tenant) => ({ tenant, key: host.random() }))
    return keyed.sort((a, b) => a.key - b.key).map(({ tenant }) => tenant)
  }

  #run(script: LuaScript, ...args: readonly string[]): Promise<ScriptReply> {
    return this.#given.engine.run(script, scripts.sharedTag, args)
  }
}

function pairs(reply: ScriptReply): (readonly [string, string])[] {
  const flat = (reply as readonly ScriptReply[]).map(textOf)
  return flat.flatMap((value, at) => (at % 2 === 0 ? [[value, flat[at + 1] ?? ''] as const] : []))
}
