import { batch, type Signal, signal } from '@preact/signals'
import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'
import type { Connection, PageFacts, PageSource } from './source.js'

export type Theme = 'system' | 'light' | 'dark'

/** A part of virtual time, both ends included. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** Entries that the page keeps of a world that goes on; beyond it the older half goes. */
const maxEntries = 400_000

/**
 * What the page knows and where it looks. Panels read the signals, and write `selectedSeq`, `instant`, `range`, `tenant`
 * and `tab`.
 */
export class PageView {
  /** In the order of `seq`; another array whenever something came. */
  readonly entries: Signal<readonly TraceEntry[]> = signal([])
  readonly changes: Signal<readonly KeyChange[]> = signal([])
  readonly facts: Signal<PageFacts | undefined> = signal(undefined)
  /** The entry whose details are shown. */
  readonly selectedSeq: Signal<number | undefined> = signal(undefined)
  /** The instant at which the world is looked at; the present without one. */
  readonly instant: Signal<number | undefined> = signal(undefined)
  /** What every panel is narrowed to; everything without one. */
  readonly range: Signal<TimeRange | undefined> = signal(undefined)
  readonly tenant: Signal<string>
  readonly theme: Signal<Theme> = signal('system')
  /** Which panel is open. */
  readonly tab: Signal<string> = signal('Entry')
  readonly connection: Signal<Connection> = signal({ state: 'loading' })
  /** The test that waited has gone on: its world is not served any more. */
  readonly hasGoneOn: Signal<boolean> = signal(false)
  /** Counts the worlds: a reset or a load begins another one. */
  readonly world: Signal<number> = signal(0)
  readonly #source: Signal<PageSource>
  #forget: () => void = () => {}

  constructor(source: PageSource) {
    this.#source = signal(source)
    this.tenant = signal(source.control?.tenant ?? '')
  }

  /** Where the facts come from; another one when the tenant is changed. */
  get source(): PageSource {
    return this.#source.value
  }

  /** Whether the world can be told to do something: not in a recording. */
  get isLive(): boolean {
    return this.source.control !== undefined
  }

  /** The entry with a number; undefined where the log has forgotten it. */
  entry(seq: number | undefined): TraceEntry | undefined {
    if (seq === undefined) return undefined
    const list = this.entries.value
    const place = placeOf(list, seq)
    return list[place]?.seq === seq ? list[place] : undefined
  }

  /** Begins to listen, and follows `tenant` from one world to another. @returns what ends it */
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

/** Where the first entry stands that has this number or a later one. */
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
