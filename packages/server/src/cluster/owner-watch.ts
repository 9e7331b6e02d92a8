import { hostSetTimeout, unref } from '../../../../src/kernel/host.js'
import type { ClusterNode } from './tenant-lease.js'

/** A request that is with another node. */
export interface Watched {
  /** Aborted when that node is not the owner any more. */
  readonly signal: AbortSignal
  /** The request is over. */
  end(): void
}

interface Watching {
  readonly abort: AbortController
  requests: number
}

/** Whether the other node is still the owner: one that stands still closes no connection, and says nothing. */
export class OwnerWatch {
  readonly #isOwner: (tenant: string, node: ClusterNode) => Promise<boolean>
  readonly #every: number
  readonly #watching = new Map<string, Watching>()
  #isClosed = false

  /** @param every host milliseconds */
  constructor(isOwner: (tenant: string, node: ClusterNode) => Promise<boolean>, every: number) {
    this.#isOwner = isOwner
    this.#every = every
  }

  /** Requests to one tenant at one node are watched together. */
  on(tenant: string, node: ClusterNode): Watched {
    const key = `${node.id} ${tenant}`
    let watching = this.#watching.get(key)
    if (watching === undefined) {
      watching = { abort: new AbortController(), requests: 0 }
      this.#watching.set(key, watching)
      this.#look(key, watching, tenant, node)
    }
    watching.requests++
    const { abort } = watching
    let isOver = false
    const end = (): void => {
      if (!isOver) watching.requests--
      isOver = true
    }
    return { signal: abort.signal, end }
  }

  /** Who has no requests any more is forgotten at the next look, and not at once: the next one may come soon. */
  #look(key: string, watching: Watching, tenant: string, node: ClusterNode): void {
    const timer = hostSetTimeout(async () => {
      if (this.#isClosed || watching.requests === 0) {
        this.#watching.delete(key)
        return
      }
      // Nobody can tell while the engine is away: then nothing has changed either.
      if (await this.#isOwner(tenant, node).catch(() => true)) return this.#look(key, watching, tenant, node)
      this.#watching.delete(key)
      watching.abort.abort()
    }, this.#every)
    unref(timer)
  }

  close(): void {
    this.#isClosed = true
    for (const { abort } of this.#watching.values()) abort.abort()
    this.#watching.clear()
  }
}
