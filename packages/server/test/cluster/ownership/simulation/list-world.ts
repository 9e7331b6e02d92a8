import type { JournaledTenant, Snapshot } from '../../../../src/cluster/owned-tenant.js'
import { bytesOf, textOf } from '../../../../src/cluster/replies.js'
import type { NodeHost, TenantRecords } from '../../../../src/cluster/tenant-lease.js'

/** State of a list: the number of writes, and a digest of all of them in order. */
export interface Stand {
  readonly length: number
  readonly digest: number
}

interface State extends Stand {
  /** Work outside that was ordered and not confirmed. */
  readonly orders: readonly string[]
}

/**
 * An input: a write, which may order work outside; the confirmation of such work; or the opening of the list by a node.
 */
type Input =
  | { readonly write: string; readonly orders: boolean }
  | { readonly done: string }
  | { readonly opened: string }
/** An input with the digest before it, so that a replay in another order is detected. */
type Recorded = Input & { readonly before: number }

const empty: State = { length: 0, digest: 7, orders: [] }

function after(state: State, input: Input): State {
  if ('opened' in input) return state
  if ('done' in input) return { ...state, orders: state.orders.filter((order) => order !== input.done) }
  let { digest } = state
  for (const char of input.write) digest = (Math.imul(digest, 31) + char.charCodeAt(0)) | 0
  const orders = input.orders ? [...state.orders, input.write] : state.orders
  return { length: state.length + 1, digest, orders }
}

/** Replays records. @throws if they are not in their original order */
export function replayed(records: readonly string[], from: State = empty): State {
  return records.reduce((state, text, at) => {
    const { before, ...input } = JSON.parse(text) as Recorded
    if (before !== state.digest) throw new Error(`record ${at} strays: ${text}`)
    return after(state, input)
  }, from)
}

/** Returns the writes in records, in order. */
export function writesOf(records: readonly string[]): string[] {
  return records.flatMap((text) => {
    const recorded = JSON.parse(text) as Recorded
    return 'write' in recorded ? [recorded.write] : []
  })
}

export function shown({ length, digest, orders }: State): string {
  return JSON.stringify({ length, digest, orders })
}

/** The smallest possible tenant: an ordered list of writes, some of which order work outside. */
export class ListWorld implements JournaledTenant {
  gate: (() => Promise<void>) | undefined
  onRecords: (() => void) | undefined
  #state: State
  #noted: Uint8Array[] = []
  #count = 0
  #isDisposed = false
  #isBusy = false
  readonly #place: Place

  /** Unconfirmed work is done again. */
  constructor(place: Place, { snapshot, records }: TenantRecords) {
    this.#place = place
    const from = snapshot === undefined ? empty : (JSON.parse(textOf(snapshot)) as State)
    this.#state = replayed(records.map(textOf), from)
    this.#note({ opened: place.node })
    // The gate is set a moment later.
    place.host.after(0, () => {
      for (const order of this.#state.orders) void this.#work(order)
    })
  }

  get stand(): Stand {
    return { length: this.#state.length, digest: this.#state.digest }
  }

  write(id: string, orders: boolean): Stand {
    this.#note({ write: id, orders })
    this.#isBusy = true
    if (orders && this.gate !== undefined) void this.#work(id)
    this.#isBusy = false
    return this.stand
  }

  take(): readonly Uint8Array[] {
    if (this.#isBusy) throw new Error('Taken in the middle of what the world does.')
    return this.#noted.splice(0)
  }

  /** Contains the records at its start, however long it takes. */
  async snapshot(): Promise<Snapshot | undefined> {
    const { host } = this.#place
    if (host.random() < 0.3) return undefined
    const made = { bytes: bytesOf(shown(this.#state)), records: this.#count }
    await new Promise<void>((resolve) => host.after(host.random() * 30, resolve))
    return made
  }

  dispose(): void {
    this.#isDisposed = true
  }

  async #work(order: string): Promise<void> {
    try {
      await this.gate!()
    } catch {
      return
    }
    const { host, outside } = this.#place
    if (this.#isDisposed || !outside(order)) return
    host.after(20 + host.random() * 400, () => this.#note({ done: order }))
  }

  #note(input: Input): void {
    if (this.#isDisposed) return
    const recorded = { ...input, before: this.#state.digest }
    this.#state = after(this.#state, input)
    this.#noted.push(bytesOf(JSON.stringify(recorded)))
    this.#count++
    this.#isBusy = true
    if (this.#noted.length === 1) this.onRecords?.()
    this.#isBusy = false
  }
}

/** The environment of a list. */
export interface Place {
  readonly node: string
  readonly host: NodeHost
  /** Does the work. @returns whether the process is alive to do it */
  readonly outside: (order: string) => boolean
}
