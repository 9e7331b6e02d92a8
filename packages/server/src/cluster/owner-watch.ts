import { hostSetTimeout, unref } from '../../../../src/kernel/host.js'
import type { ClusterNode } from './tenant-lease.js'

/** A request that was forwarded to another node. */
export interface Watched {
  /** Aborted when the other node no longer owns the tenant. */
  readonly signal: AbortSignal
  /** Ends the watch, because the request has finished. */
  end(): void
}

interface Watching {
  readonly abort: AbortController
  requests: number
}

/**
 * Checks regularly whether another node still owns the tenant of a forwarded request. The check is needed because a
 * node that hangs does not close its connections.
 */
export class OwnerWatch {
  readonly #isOwner: (tenant: string, node: ClusterNode) => Promise<boolean>
  readonly #every: number
  readonly #watching = new Map<string, Watching>()
  #isClosed = false

  /** @param every interval between two checks, in milliseconds of host time */
  constructor(isOwner: (tenant: string, node: ClusterNode) => Promise<boolean>, every: number) {
    this.#isOwner = isOwner
    this.#every = every
  }

  /** Starts to watch a request. All requests for one tenant on one node share one check. */
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
   * Checks ownership after every interval. If no requests are left, the watch ends only at the next check, because
   * another request may arrive soon.
   */
  #look(key: string, watching: Watching, tenant: string, node: ClusterNode): void {
    const timer = hostSetTimeout(async () => {
      if (this.#isClosed || watching.requests === 0) {
        this.#watching.delete(key)
        return
      }
      // While Redis is unavailable, ownership cannot have changed.
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
