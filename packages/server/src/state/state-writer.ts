import type { FileSystem } from '@stuntdouble/command-line'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type ServerState, writeState } from './state-file.js'

/** How long after the end of one write the next one may begin, in host milliseconds. */
export const flushInterval = 200

/** The worlds that are kept, and how many orders they were given. */
export interface TenantSnapshot {
  readonly all: ReadonlyMap<string, Sandbox>
  readonly orders: number
}

export interface KeeperOptions {
  readonly files?: FileSystem
  /** Host milliseconds after which a hanging write is reported, and the server stops without waiting for it. */
  readonly patience?: number
  /** Longest wait before a write is tried again, in host milliseconds. */
  readonly longestWait?: number
}

/**
 * Writes the state of all tenants to a file while the server runs, and once more at its end: one write at a time, and
 * none beside one that hangs. A failure is reported once and retried, each time after twice as long.
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
   * Writes what has not been written yet.
   * @returns whether the file holds everything now
   */
  async close(): Promise<boolean> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#withPatience(this.#lastFlush())
    return this.#writing === undefined && this.#stamp() === this.#written
  }

  /** Resolves when no write is under way any more, which may be never. */
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

  /** Resolves with the work, or when it takes too long. */
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
      if (this.#isTold) this.#report(`stuntdouble: the state is written to ${this.#path} again.`)
      this.#isTold = false
    } catch (error) {
      this.#wait = Math.min(this.#wait * 2, this.#longestWait)
      this.#tell((error as Error).message)
    }
  }

  #tell(reason: string): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#report(`stuntdouble: the state could not be written to ${this.#path}: ${reason}. It keeps trying.`)
  }

  #stamp(): string {
    return `${this.#tenants.orders}\n${stampOf(this.#tenants.all)}`
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

const numbers = new WeakMap<Traffic, number>()
let latest = 0

/** A world that was made anew begins to count anew. */
function numberOf(traffic: Traffic): number {
  const known = numbers.get(traffic) ?? ++latest
  numbers.set(traffic, known)
  return known
}
