import { vi } from 'vitest'

/** The clock of a host, in the hands of a test: its time, and the timers that were set at it. */
export interface HostClock {
  now: number
  /** Longest wait that a timer was set for, as far as hosts can tell it from none. */
  readonly longest: number
  /** Moves time to where the earliest timer is due, and fires it; `false` when there is none up to then. */
  fire(until?: number): boolean
}

interface Waiting {
  readonly at: number
  readonly run: () => void
}

/**
 * A host whose time stands unless a test moves it, for modules that are imported while `load` runs.
 * @param load imports what shall live there
 */
export async function underHostClock<T>(
  start: number,
  load: () => Promise<T>,
): Promise<T & { readonly host: HostClock }> {
  const waiting = new Set<Waiting>()
  let longest = 0
  const host = {
    now: start,
    get longest() {
      return longest
    },
    fire(until = Number.POSITIVE_INFINITY) {
      const [first] = [...waiting].sort((a, b) => a.at - b.at)
      if (first === undefined || first.at > until) return false
      waiting.delete(first)
      host.now = Math.max(host.now, first.at)
      first.run()
      return true
    },
  }
  const { setTimeout, clearTimeout } = globalThis
  const { now } = Date
  Date.now = () => host.now
  globalThis.setTimeout = ((run: () => void, wait = 0) => {
    longest = Math.max(longest, wait)
    // What hosts do with a wait that does not fit.
    const timer = { at: host.now + (wait > 0x7fff_ffff ? 1 : wait), run, unref: () => undefined }
    waiting.add(timer)
    return timer
  }) as never
  globalThis.clearTimeout = ((timer: Waiting) => void waiting.delete(timer)) as never
  vi.resetModules()
  try {
    return { ...(await load()), host }
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout })
    Date.now = now
  }
}
