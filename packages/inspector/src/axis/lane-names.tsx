import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { plural } from '../../../../src/kernel/plural.js'
import { axisRows, faultRow, isEcho, isInjectedByScript, kindOf, spanOf, toneOf } from '../entry-kinds.js'
import { shownFrom, shownTime } from '../shown-dates.js'
import type { PageView } from '../view.js'

interface LaneNamesProps {
  readonly view: PageView
  /** Heights of the lanes in pixels. */
  readonly heights: readonly number[]
  readonly top: number
}

interface Sum {
  count: number
  failed: number
  first: number
  last: number
}

function add(sum: Sum, from: number, to: number): void {
  if (sum.count++ === 0) sum.first = from
  sum.last = Math.max(sum.last, to)
}

const shortNames = ['Requests', 'Messages', 'Store', 'Faults'] as const

/** Shows the name of each lane, and a summary of its entries as text, which screen readers can read. */
export function LaneNames({ view, heights, top }: LaneNamesProps): JSX.Element {
  const sums = useComputed(() => {
    const range = view.range.value
    const found: Sum[] = axisRows.map(() => ({ count: 0, failed: 0, first: 0, last: 0 }))
    for (const entry of view.entries.value) {
      const { lane } = kindOf(entry)
      if (lane === undefined || isEcho(entry)) continue
      const { from, to, until = to } = spanOf(entry)
      if (range !== undefined && (from > range.to || until < range.from)) continue
      add(found[lane]!, from, to)
      if (toneOf(entry) === 'bad') found[lane]!.failed++
      if (isInjectedByScript(entry)) add(found[faultRow]!, from, from)
    }
    return found
  })
  return (
    <ul class="lane-names" style={{ paddingTop: `${top}px` }} aria-label="Lanes">
      {sums.value.map(({ count, failed, first, last }, lane) => (
        <li key={lane} style={{ height: `${heights[lane]}px` }}>
          <span aria-hidden="true">
            {shortNames[lane]} <small>{count}</small>
          </span>
          <span class="unseen">
            {axisRows[lane]!.name}: {plural(count, 'entry', 'entries')}
            {failed > 0 && `, ${failed} failed`}
            {count > 0 && `, ${shownTime(first)} to ${shownFrom(last, first)}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
