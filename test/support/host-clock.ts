import { vi } from 'vitest'

/** A host clock that a test controls: its time and its timers. */
export interface HostClock {
  now: number
  /** Longest delay of a timer that hosts support. */
  readonly longest: number
  /** Moves time to the earliest timer and fires it; `false` if there is none until then. */
  fire(until?: number): boolean
}

interface Waiting {
  readonly at: number
  readonly run: () => void
}

/**
 * Creates a host whose time moves only by the test, for modules that are imported while `load` runs.
 * @param load imports the modules
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
    // Hosts fire a timer with a larger delay immediately.
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
