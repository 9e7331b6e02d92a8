import { Component, type JSX } from 'preact'
import type { TraceEntry } from '../../../../src/report/trace.js'
import type { Sight } from '../axis/axis-state.js'
import type { Scale } from '../axis/scale.js'
import { spanOf, toneOf } from '../entry-kinds.js'
import { type EntryText, entryText, waitText } from '../entry-text.js'
import { shownDate, shownTime } from '../shown-dates.js'
import type { RowKind } from './list-rows.js'

/** Height of a line in pixels. The style sheet has the same value. */
export const rowHeight = 26

interface RowProps {
  readonly row: number
  readonly kind: RowKind
  readonly entry: TraceEntry
  readonly isSelected: boolean
  readonly size: number
  readonly scale: Scale
  readonly sight: Sight
}

/** One line of the list. It is redrawn only if its content changes. */
export class ListRow extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return (Object.keys(next) as (keyof RowProps)[]).some((name) => next[name] !== this.props[name])
  }

  override render(): JSX.Element {
    return line(this.props)
  }
}

function line(props: RowProps): JSX.Element {
  const { row, kind, entry, isSelected, size } = props
  const style = { transform: `translateY(${row * rowHeight}px)` }
  if (kind === 'day') {
    return (
      <div class="row row-day" role="presentation" style={style}>
        {shownDate(entry.at)}
      </div>
    )
  }
  if (kind === 'wait') {
    return (
      <div class="row row-wait" role="presentation" style={style} data-seq={entry.seq}>
        <span class="row-text">{waitText(entry)}</span>
        <Bar {...props} />
      </div>
    )
  }
  return (
    <div
      class={`row tone-${toneOf(entry)}`}
      id={`row-${entry.seq}`}
      role="option"
      aria-selected={isSelected}
      aria-setsize={size}
      aria-posinset={row + 1}
      style={style}
      data-seq={entry.seq}
    >
      <span class="row-number">#{entry.seq}</span>
      <time class="row-time">{shownTime(entry.at)}</time>
      <Words told={entryText(entry)} />
      <Bar {...props} />
    </div>
  )
}

/** Shows the text of an entry. If the line is narrow, the beginning of the URL is cut, and its end stays visible. */
function Words({ told: { head, url, end, database } }: { readonly told: EntryText }): JSX.Element {
  return (
    <span class="row-text">
      <span class={url === undefined ? 'row-head is-all' : 'row-head'}>{head}</span>
      {url !== undefined && (
        <span class="row-url">
          <bdi dir="ltr">{url}</bdi>
        </span>
      )}
      {end !== undefined && <span class="row-end">→ {end}</span>}
      {database !== undefined && <span class="row-end"> ({database})</span>}
    </span>
  )
}

/** Shows when the entry ran, as a bar. The width of the line represents the visible part of the axis. */
function Bar({ entry, kind, scale, sight }: RowProps): JSX.Element | null {
  const { from, to, until = to } = spanOf(entry)
  const part = (at: number): number =>
    Math.min(1.01, Math.max(-0.01, (scale.place(at) - sight.from) / (sight.to - sight.from)))
  const [left, right] = kind === 'wait' ? [part(to), part(until)] : [part(from), part(to)]
  if (right < 0 || left > 1) return <span class="row-bar" aria-hidden="true" />
  return (
    <span class="row-bar" aria-hidden="true">
      <span
        class={kind === 'wait' ? 'bar bar-wait' : 'bar'}
        // A bar has a minimum width. At the right edge, it must not extend beyond the line.
        style={{ left: `min(${left * 100}%, 100% - 2px)`, width: `${Math.max(0, right - left) * 100}%` }}
      />
    </span>
  )
}
