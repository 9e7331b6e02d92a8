import { batch, type Signal, signal } from '@preact/signals'
import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'
import type { Connection, PageFacts, PageSource } from './source.js'

export type Theme = 'system' | 'light' | 'dark'

/** A range of virtual time, both ends included. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** Maximum number of entries that the page keeps of a running sandbox; beyond it the older half is dropped. */
const maxEntries = 400_000

/**
 * Data and selection of the page. Panels read the signals, and write `selectedSeq`, `instant`, `range`, `tenant` and
 * `tab`.
 */
export class PageView {
  /** In the order of `seq`; a new array after each update. */
  readonly entries: Signal<readonly TraceEntry[]> = signal([])
  readonly changes: Signal<readonly KeyChange[]> = signal([])
  readonly facts: Signal<PageFacts | undefined> = signal(undefined)
  /** The entry whose details are shown. */
  readonly selectedSeq: Signal<number | undefined> = signal(undefined)
  /** The instant that is shown; `undefined` for the present. */
  readonly instant: Signal<number | undefined> = signal(undefined)
  /** The range to which every panel is narrowed; `undefined` for everything. */
  readonly range: Signal<TimeRange | undefined> = signal(undefined)
  readonly tenant: Signal<string>
  readonly theme: Signal<Theme> = signal('system')
  /** Name of the open panel. */
  readonly tab: Signal<string> = signal('Entry')
  readonly connection: Signal<Connection> = signal({ state: 'loading' })
  /** Whether the waiting test has continued, so its sandbox is not served any more. */
  readonly hasGoneOn: Signal<boolean> = signal(false)
  /** Counts the sandboxes: a reset or a load begins another one. */
  readonly world: Signal<number> = signal(0)
  readonly #source: Signal<PageSource>
  #forget: () => void = () => {}

  constructor(source: PageSource) {
    this.#source = signal(source)
    this.tenant = signal(source.control?.tenant ?? '')
  }

  /** Source of the data, which changes with the tenant. */
  get source(): PageSource {
    return this.#source.value
  }

  /** Whether the sandbox can be changed: not in a recording. */
  get isLive(): boolean {
    return this.source.control !== undefined
  }

  /** Returns the entry with a number; undefined if the log has dropped it. */
  entry(seq: number | undefined): TraceEntry | undefined {
    if (seq === undefined) return undefined
    const list = this.entries.value
    const place = placeOf(list, seq)
    return list[place]?.seq === seq ? list[place] : undefined
  }

  /** Starts listening, and follows `tenant` from one sandbox to another. @returns a function that stops listening */
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

/** Returns the index of the first entry with this number or a later one. */
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
