import type { FileSystem } from '@stuntdouble/command-line'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type ServerState, writeState } from './state-file.js'

/** Minimum time between two writes, in milliseconds of host time. */
export const flushInterval = 200

/** The tenants to save, and the number of control calls so far. */
export interface TenantSnapshot {
  readonly all: ReadonlyMap<string, Sandbox>
  readonly orders: number
}

export interface KeeperOptions {
  readonly files?: FileSystem
  /**
   * Time after which a write that has not finished is reported, in milliseconds of host time. A server that is stopping
   * does not wait longer for the write.
   */
  readonly patience?: number
  /** Longest wait before a failed write is retried, in milliseconds of host time. */
  readonly longestWait?: number
}

/**
 * Saves all tenants to a file while the server runs, and once more when it ends. A write begins only after the previous
 * write has finished, even if the previous write hangs. A failure is reported once and retried, with a delay that
 * doubles each time.
 */
export class StateWriter {
  readonly #path: string
  readonly #tenants: TenantSnapshot
  readonly #report: (text: string) => void
  readonly #files: FileSystem | undefined
  readonly #patience: number
  readonly #longestWait: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> | undefined
  #written = ''
  #isTold = false
  #wait = flushInterval
  #isClosed = false

  constructor(path: string, tenants: TenantSnapshot, report: (text: string) => void, options: KeeperOptions = {}) {
    this.#path = path
    this.#tenants = tenants
    this.#report = report
    this.#files = options.files
    this.#patience = options.patience ?? 5_000
    this.#longestWait = options.longestWait ?? 30_000
    this.#plan()
  }

  /**
   * Writes all pending changes.
   * @returns whether the file contains all changes
   */
  async close(): Promise<boolean> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#withPatience(this.#lastFlush())
    return this.#writing === undefined && this.#stamp() === this.#written
  }

  /** Resolves when no write is running. If a write hangs, it never resolves. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async #lastFlush(): Promise<void> {
    await this.#writing
    await this.#flush()
  }

  #plan(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => void this.#turn(), this.#wait)
    this.#timer.unref()
  }

  async #turn(): Promise<void> {
    await this.#withPatience(this.#flush())
    await this.#writing
    this.#plan()
  }

  /** Resolves when the work has finished, or after the timeout. A timeout is reported. */
  async #withPatience(work: Promise<void>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#tell(`a write has taken ${this.#patience / 1000} s and is still running`)
        resolve()
      }, this.#patience)
    })
    await Promise.race([work, late])
    clearTimeout(timer)
  }

  #flush(): Promise<void> {
    const stamp = this.#stamp()
    if (stamp === this.#written) return Promise.resolve()
    this.#writing ??= this.#write(stamp).finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #write(stamp: string): Promise<void> {
    try {
      await writeState(this.#path, stateOf(this.#tenants.all), this.#files)
      this.#written = stamp
      this.#wait = flushInterval
      if (this.#isTold) this.#report(`stuntdouble: the state is saved to ${this.#path} again.`)
      this.#isTold = false
    } catch (error) {
      this.#wait = Math.min(this.#wait * 2, this.#longestWait)
      this.#tell((error as Error).message)
    }
  }

  #tell(reason: string): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#report(`stuntdouble: the state could not be saved to ${this.#path}: ${reason}. Saving is retried.`)
  }

  #stamp(): string {
    return `${this.#tenants.orders}\n${stampOf(this.#tenants.all)}`
  }
}

function stateOf(tenants: ReadonlyMap<string, Sandbox>): ServerState {
  return Object.fromEntries([...tenants].map(([name, sandbox]) => [name, sandbox.dump()]))
}

/**
 * Returns a text that is different after every change of a tenant. Changes by control calls are counted separately.
 * Every other change adds an entry to the traffic log, so the text contains the time and the number of entries.
 */
function stampOf(tenants: ReadonlyMap<string, Sandbox>): string {
  return [...tenants]
    .map(([name, { traffic, clock }]) => {
      const now = clock.mode === 'real' ? '' : clock.now()
      return `${name} ${numberOf(traffic)} ${traffic.mark()} ${now}`
    })
    .join('\n')
}

const numbers = new WeakMap<Traffic, number>()
let latest = 0

/**
 * Returns a number that is different for each traffic log. The number is needed because the entries of a reset sandbox
 * count from 1 again.
 */
function numberOf(traffic: Traffic): number {
  const known = numbers.get(traffic) ?? ++latest
  numbers.set(traffic, known)
  return known
}
