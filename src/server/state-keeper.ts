import type { Sandbox } from '../sandbox.js'
import { type ServerState, writeState } from './state-file.js'

/** How long after the end of one write the next one may begin, in host milliseconds. */
export const flushInterval = 200

/** Writes the state of all tenants to a file while the server runs, and once more at its end. */
export class StateKeeper {
  readonly #path: string
  readonly #tenants: () => ReadonlyMap<string, Sandbox>
  readonly #report: (text: string) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()
  #written = ''

  constructor(path: string, tenants: () => ReadonlyMap<string, Sandbox>, report: (text: string) => void) {
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
    const tenants = this.#tenants()
    const stamp = stampOf(tenants)
    if (stamp === this.#written) return
    try {
      await writeState(this.#path, stateOf(tenants))
      this.#written = stamp
    } catch (error) {
      this.#report(`stuntdouble: the state could not be written to ${this.#path}: ${(error as Error).message}`)
    }
  }
}

function stateOf(tenants: ReadonlyMap<string, Sandbox>): ServerState {
  return Object.fromEntries([...tenants].map(([name, sandbox]) => [name, sandbox.dump()]))
}

/** Differs whenever anything happened: nothing happens without an entry of the traffic, but the passing of time. */
function stampOf(tenants: ReadonlyMap<string, Sandbox>): string {
  return [...tenants]
    .map(([name, { traffic, clock }]) => `${name} ${traffic.mark()} ${clock.mode === 'real' ? '' : clock.now()}`)
    .join('\n')
}
