import type { ReadonlySignal, Signal } from '@preact/signals'
import type { TraceEntry } from '../../report/trace.js'
import type { StoredChange } from '../../store/history/stored-change.js'
import type { Source, WorldFacts } from '../source.js'

/** What panels need of the page's state. */
export interface PanelView {
  readonly source: Source
  readonly entries: ReadonlySignal<readonly TraceEntry[]>
  readonly changes: ReadonlySignal<readonly StoredChange[]>
  readonly facts: Signal<WorldFacts | undefined>
  readonly selectedSeq: Signal<number | undefined>
  /** The instant at which the world is looked at; the present without one. */
  readonly instant: Signal<number | undefined>
  readonly range: ReadonlySignal<{ readonly from: number; readonly to: number } | undefined>
  readonly tenant: Signal<string>
  /** Counts the worlds: a reset or a load begins another one. */
  readonly world: ReadonlySignal<number>
}

export interface PanelProps {
  readonly view: PanelView
}
