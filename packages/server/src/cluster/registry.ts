import * as scripts from './cluster-scripts.js'
import type { LuaScript, ScriptReply } from './cluster-store.js'
import { textOf } from './replies.js'
import type { ClusterNode, LeaseRequest } from './tenant-lease.js'

/** What the registry knows; it is always a little behind the leases. */
export interface RegistryView {
  readonly nodes: readonly (ClusterNode & { readonly isAlive: boolean })[]
  /** `owner`: the id of a node, `undefined` where nobody is known. */
  readonly tenants: readonly { readonly name: string; readonly owner: string | undefined }[]
}

/** How many tenants are looked at, or told of, at a time. */
const pageSize = 1_000

/**
 * All nodes and all tenants, at one place of the engine. It serves those who want to look, and the watch for orphans; who
 * owns a tenant is decided by its lease alone. What could not be told is told again with the next beat.
 */
export class Registry {
  readonly #given: LeaseRequest
  readonly #adopt: (tenants: readonly string[]) => Promise<void>
  readonly #news = new Map<string, { readonly fence: number; readonly id: string }>()
  #cursor = '0'
  #stop: (() => void) | undefined
  #isAdopting = false
  #isClosed = false

  /** @param adopt is given orphans, and more of them when it is done */
  constructor(given: LeaseRequest, adopt: (tenants: readonly string[]) => Promise<void>) {
    this.#given = given
    this.#adopt = adopt
    void this.#beat()
  }

  /** @param id of its owner; '' when it is nobody's, `-` when it is no more */
  tell(tenant: string, fence: number, id: string): void {
    const known = this.#news.get(tenant)
    if (known === undefined || known.fence <= fence) this.#news.set(tenant, { fence, id })
  }

  /** @throws EngineAway it is told with a later beat */
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

  /** The node is taken out at once, as far as the engine can be reached: its tenants are orphans. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop?.()
    try {
      await this.flush()
      await this.#run(scripts.leave, this.#given.node.id)
    } catch {
      // It is believed dead when its time has passed.
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
      // The engine is away: the next beat tries again.
    }
    if (!this.#isClosed) this.#stop = host.after(lease / 3, () => void this.#beat())
  }

  /** A few at a time; the node says meanwhile that it lives. */
  #found(orphans: readonly string[]): void {
    if (this.#isAdopting || this.#isClosed || orphans.length === 0) return
    this.#isAdopting = true
    void this.#adopt(this.#shuffled(orphans)).finally(() => {
      this.#isAdopting = false
    })
  }

  /** So that the nodes do not all run for the same one. */
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
