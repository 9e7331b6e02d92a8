import { batch, type Signal, signal } from '@preact/signals'
import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'
import type { Connection, PageFacts, PageSource } from './source.js'

export type Theme = 'system' | 'light' | 'dark'

/** A range of virtual time. It includes both ends. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** Maximum number of entries of a running sandbox that the page keeps. If there are more, the older half is dropped. */
const maxEntries = 400_000

/**
 * Data and selection of the page, as signals that the panels read. Panels may write only `selectedSeq`, `instant`,
 * `range`, `tenant`, `database` and `tab`.
 */
export class PageView {
  /** Entries, sorted by `seq`. Each update creates a new array. */
  readonly entries: Signal<readonly TraceEntry[]> = signal([])
  readonly changes: Signal<readonly KeyChange[]> = signal([])
  readonly facts: Signal<PageFacts | undefined> = signal(undefined)
  /** The entry whose details are shown. */
  readonly selectedSeq: Signal<number | undefined> = signal(undefined)
  /** The instant that is shown, or `undefined` for the present. */
  readonly instant: Signal<number | undefined> = signal(undefined)
  /** Range of time to which all panels limit their data. `undefined`: no limit. */
  readonly range: Signal<TimeRange | undefined> = signal(undefined)
  readonly tenant: Signal<string>
  /** Name of the added database that the panels of the store show. `undefined`: the first database. */
  readonly database: Signal<string | undefined> = signal(undefined)
  readonly theme: Signal<Theme> = signal('system')
  /** Name of the open panel. */
  readonly tab: Signal<string> = signal('Entry')
  readonly connection: Signal<Connection> = signal({ state: 'loading' })
  /** Whether the waiting test has continued. Its sandbox is then no longer on the server. */
  readonly hasGoneOn: Signal<boolean> = signal(false)
  /** Number of the current sandbox. A reset or a load increases it. */
  readonly world: Signal<number> = signal(0)
  readonly #source: Signal<PageSource>
  #forget: () => void = () => {}

  constructor(source: PageSource) {
    this.#source = signal(source)
    this.tenant = signal(source.control?.tenant ?? '')
  }

  /** Source of the data. It changes when the user selects another tenant. */
  get source(): PageSource {
    return this.#source.value
  }

  /** Whether the sandbox can be changed. False for a recording. */
  get isLive(): boolean {
    return this.source.control !== undefined
  }

  /** Returns the entry with this `seq`, or `undefined` if the log has dropped it. */
  entry(seq: number | undefined): TraceEntry | undefined {
    if (seq === undefined) return undefined
    const list = this.entries.value
    const place = placeOf(list, seq)
    return list[place]?.seq === seq ? list[place] : undefined
  }

  /**
   * Follows the sandbox of `tenant`. When `tenant` changes, follows the new one.
   * @returns a function that stops following
   */
  start(): () => void {
    const forgetTenant = this.tenant.subscribe((tenant) => {
      const { control } = this.source
      if (control !== undefined && tenant !== control.tenant) this.#source.value = control.of(tenant)
      this.#follow()
    })
    return () => {
      forgetTenant()
      this.#forget()
    }
  }

  #follow(): void {
    this.#forget()
    this.#begin()
    this.#forget = this.source.follow({
      facts: (facts) => {
        this.facts.value = facts
      },
      entries: (entries) => {
        this.entries.value = merged(this.entries.value, entries)
      },
      changes: (changes) => {
        this.changes.value = [...this.changes.value, ...changes]
      },
      renewed: () => this.#begin(),
      connection: (connection) => {
        this.connection.value = connection
      },
    })
  }

  #begin(): void {
    batch(() => {
      this.entries.value = []
      this.changes.value = []
      this.selectedSeq.value = undefined
      this.instant.value = undefined
      this.range.value = undefined
      this.world.value++
    })
  }
}

/** Returns the index of the first entry whose number is `seq` or higher. */
export function placeOf(entries: readonly { readonly seq: number }[], seq: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle]!.seq < seq) low = middle + 1
    else high = middle
  }
  return low
}

function merged(known: readonly TraceEntry[], fresh: readonly TraceEntry[]): readonly TraceEntry[] {
  const all = known.slice()
  for (const entry of fresh) {
    const last = all.at(-1)
    if (last === undefined || last.seq < entry.seq) all.push(entry)
    else {
      const place = placeOf(all, entry.seq)
      all.splice(place, all[place]?.seq === entry.seq ? 1 : 0, entry)
    }
  }
  return all.length > maxEntries ? all.slice(all.length >> 1) : all
}
