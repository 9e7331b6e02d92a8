import { hostSetTimeout, unref } from '../../../../src/kernel/host.js'
import type { ClusterNode } from './tenant-lease.js'

/** A request that was forwarded to another node. */
export interface Watched {
  /** Aborted when that node no longer owns the tenant. */
  readonly signal: AbortSignal
  /** Ends the watch, because the request has finished. */
  end(): void
}

interface Watching {
  readonly abort: AbortController
  requests: number
}

/** Checks whether another node still owns a tenant, because a node that hangs closes no connection. */
export class OwnerWatch {
  readonly #isOwner: (tenant: string, node: ClusterNode) => Promise<boolean>
  readonly #every: number
  readonly #watching = new Map<string, Watching>()
  #isClosed = false

  /** @param every interval in host milliseconds */
  constructor(isOwner: (tenant: string, node: ClusterNode) => Promise<boolean>, every: number) {
    this.#isOwner = isOwner
    this.#every = every
  }

  /** Watches all requests for one tenant on one node together. */
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

  /**
   * Forgets a tenant without requests at the next check and not immediately, because the next request may arrive soon.
   */
  #look(key: string, watching: Watching, tenant: string, node: ClusterNode): void {
    const timer = hostSetTimeout(async () => {
      if (this.#isClosed || watching.requests === 0) {
        this.#watching.delete(key)
        return
      }
      // If the Redis is unavailable, ownership cannot have changed.
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
