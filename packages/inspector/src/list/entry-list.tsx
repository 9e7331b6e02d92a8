import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { plural } from '../../../../src/kernel/plural.js'
import type { AxisState } from '../axis/axis-state.js'
import type { PageView } from '../view.js'
import type { ListFilter, Rows } from './list-rows.js'
import { ListTools } from './list-tools.js'
import { ListRow, rowHeight } from './row.js'

interface ListProps {
  readonly view: PageView
  readonly axis: AxisState
  readonly filter: ListFilter
  readonly rows: ReadonlySignal<Rows>
}

/**
 * Number of additional lines that are drawn above and below the visible part. They appear immediately when the list is
 * scrolled.
 */
const margin = 8
/** Number of row elements. No screen shows as many lines. */
const elements = 256

/** Shows the entries as lines with time bars. Only the visible lines are drawn. */
export function List({ view, axis, filter, rows }: ListProps): JSX.Element {
  const all = view.entries.value.length
  const { count } = rows.value
  return (
    <section class="entries" aria-labelledby="entries-title">
      <div class="entries-head">
        <h2 id="entries-title">Entries</h2>
        <ListTools view={view} filter={filter} />
        <output id="count">
          {view.connection.value.state === 'loading'
            ? `Loading: ${plural(all, 'entry', 'entries')}`
            : count === all
              ? plural(all, 'entry', 'entries')
              : `${count} of ${plural(all, 'entry', 'entries')}`}
        </output>
      </div>
      <Lines view={view} axis={axis} rows={rows} />
    </section>
  )
}

function Lines({ view, axis, rows }: Omit<ListProps, 'filter'>): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const scroll = useSignal(0)
  const height = useSignal(600)
  useEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [height])
  useFollowing(view, rows, box)
  const selected = view.selectedSeq.value
  const lines = rows.value
  const first = Math.max(0, Math.floor(scroll.value / rowHeight) - margin)
  const last = Math.min(lines.length, Math.ceil((scroll.value + height.value) / rowHeight) + margin)
  const drawn: JSX.Element[] = []
  const sight = axis.sight.value
  const scale = axis.scale.value
  for (let row = first; row < last; row++) {
    const entry = lines.entry(row)
    const kind = lines.kind(row)
    drawn.push(
      <ListRow
        // A line that leaves the visible part and a line that enters it share a key. Its element is reused, so
        // scrolling creates no elements.
        key={row % elements}
        row={row}
        kind={kind}
        entry={entry}
        isSelected={kind === 'entry' && entry.seq === selected}
        size={lines.length}
        scale={scale}
        sight={sight}
      />,
    )
  }
  return (
    <div
      id="list"
      class="list"
      role="listbox"
      tabIndex={0}
      aria-label="Entries of the traffic"
      aria-activedescendant={selected === undefined ? undefined : `row-${selected}`}
      ref={box}
      onScroll={({ currentTarget }) => {
        scroll.value = currentTarget.scrollTop
      }}
      onClick={(event) => {
        const element = (event.target as HTMLElement).closest<HTMLElement>('[data-seq]')
        if (element) view.selectedSeq.value = Number(element.dataset.seq)
      }}
    >
      <div role="none" style={{ height: `${lines.length * rowHeight}px` }}>
        {drawn}
      </div>
    </div>
  )
}

/** Scrolls to the selected entry, once for each selection. An entry that a link selects may arrive later. */
function useFollowing(view: PageView, rows: ReadonlySignal<Rows>, box: { readonly current: HTMLElement | null }): void {
  const followed = useRef<number | undefined>(undefined)
  useSignalEffect(() => {
    const seq = view.selectedSeq.value
    const lines = rows.value
    const element = box.current
    if (seq === followed.current || seq === undefined || element === null) return
    const row = lines.rowOf(seq)
    if (row >= lines.length || lines.entry(row).seq !== seq) return
    followed.current = seq
    // The list can scroll only after its new height is applied.
    requestAnimationFrame(() => scrollTo(element, row * rowHeight))
  })
}

function scrollTo(element: HTMLElement, top: number): void {
  if (top < element.scrollTop) element.scrollTop = Math.max(0, top - rowHeight)
  else if (top + 2 * rowHeight > element.scrollTop + element.clientHeight) {
    element.scrollTop = top + 2 * rowHeight - element.clientHeight
  }
}

/** Moves the selection by this many lines. Lines without an entry are skipped. */
export function moveSelection(view: PageView, lines: Rows, by: number): void {
  if (lines.count === 0) return
  const { value: seq } = view.selectedSeq
  const direction = by < 0 ? -1 : 1
  let row = seq === undefined ? (by < 0 ? lines.length : -1) : lines.rowOf(seq)
  // An entry that the filter hides has no line of its own. `rowOf()` returns the line after it.
  if (seq !== undefined && by > 0 && (row >= lines.length || lines.entry(row).seq !== seq)) row--
  row = Math.min(lines.length - 1, Math.max(0, row + by))
  while (lines.kind(row) !== 'entry' && row + direction >= 0 && row + direction < lines.length) row += direction
  while (lines.kind(row) !== 'entry') row -= direction
  view.selectedSeq.value = lines.entry(row).seq
}
