import type { TrafficView } from '../report/traffic-view.js'
import type { Sandbox } from '../sandbox.js'
import { type ServerState, writeState } from './state-file.js'

/** How long after the end of one write the next one may begin, in host milliseconds. */
export const flushInterval = 200

/** The worlds that are kept, and how many orders they were given. */
export interface Kept {
  readonly all: ReadonlyMap<string, Sandbox>
  readonly orders: number
}

/** Writes the state of all tenants to a file while the server runs, and once more at its end. */
export class StateKeeper {
  readonly #path: string
  readonly #tenants: Kept
  readonly #report: (text: string) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()
  #written = ''

  constructor(path: string, tenants: Kept, report: (text: string) => void) {
    this.#path = path
    this.#tenants = tenants
    this.#report = report
    this.#plan()
  }

  /** Writes what has not been written yet. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writing
    await this.#flush()
  }

  #plan(): void {
    this.#timer = setTimeout(() => {
      this.#writing = this.#flush().finally(() => this.#plan())
    }, flushInterval)
    this.#timer.unref()
  }

  async #flush(): Promise<void> {
    const { all, orders } = this.#tenants
    const stamp = `${orders}\n${stampOf(all)}`
    if (stamp === this.#written) return
    try {
      await writeState(this.#path, stateOf(all))
      this.#written = stamp
    } catch (error) {
      this.#report(`stuntdouble: the state could not be written to ${this.#path}: ${(error as Error).message}`)
    }
  }
}

function stateOf(tenants: ReadonlyMap<string, Sandbox>): ServerState {
  return Object.fromEntries([...tenants].map(([name, sandbox]) => [name, sandbox.dump()]))
}

/** Differs whenever anything happened: beside orders, nothing does without an entry of the traffic but that time passes. */
function stampOf(tenants: ReadonlyMap<string, Sandbox>): string {
  return [...tenants]
    .map(([name, { traffic, clock }]) => {
      const now = clock.mode === 'real' ? '' : clock.now()
      return `${name} ${numberOf(traffic)} ${traffic.mark()} ${now}`
    })
    .join('\n')
}

const numbers = new WeakMap<TrafficView, number>()
let latest = 0

/** A world that was made anew begins to count anew. */
function numberOf(traffic: TrafficView): number {
  const known = numbers.get(traffic) ?? ++latest
  numbers.set(traffic, known)
  return known
}
