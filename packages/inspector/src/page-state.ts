import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { AxisState } from './axis/axis-state.js'
import { ListFilter, type Rows, rowsOf } from './list/list-rows.js'
import type { PageView } from './view.js'

/** State of the page that panels do not read. `PageView` has the state that they read. */
export class PageState {
  readonly axis: AxisState
  readonly filter: ListFilter = new ListFilter()
  readonly rows: ReadonlySignal<Rows>
  readonly isHelpOpen: Signal<boolean> = signal(false)
  /** Text that a screen reader announces next. */
  readonly said: Signal<string> = signal('')

  constructor(readonly view: PageView) {
    this.axis = new AxisState(view)
    this.rows = rowsOf(view, this.filter)
  }

  /** Selects an entry, and scrolls the list to it. */
  select(seq: number): void {
    const { view, rows, filter } = this
    const isListed = (): boolean => {
      const lines = rows.value
      const row = lines.rowOf(seq)
      return row < lines.length && lines.entry(row).seq === seq
    }
    if (!isListed()) {
      filter.clear()
      if (!isListed()) view.range.value = undefined
      if (!isListed()) filter.echoes.value = true
    }
    view.selectedSeq.value = seq
    const entry = view.entry(seq)
    if (entry !== undefined) this.axis.show(entry.at)
  }
}
