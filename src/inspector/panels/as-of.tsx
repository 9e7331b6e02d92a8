import type { JSX } from 'preact'
import { modelsOf } from './models-of.js'
import type { PanelProps } from './panel-view.js'
import { Moment } from './parts.js'

/** Where a panel looks: now or an earlier instant, with the ways from one to the other. */
export function AsOf({ view }: PanelProps): JSX.Element {
  const { point, isPresent, pinned, present } = modelsOf(view)
  const selected = view.entries.value.find(({ seq }) => seq === view.selectedSeq.value)
  const isThere = selected !== undefined && pinned.value?.seq === selected.seq && !isPresent.value
  return (
    <span class="pn-as-of">
      {isPresent.value ? (
        'as it is now'
      ) : (
        <>
          as of <Moment at={point.value.at} />
          {Number.isFinite(point.value.seq) && `, behind #${point.value.seq}`}, read-only{' '}
          <button type="button" onClick={present}>
            Now
          </button>
        </>
      )}
      {selected !== undefined && !isThere && (
        <button
          type="button"
          onClick={() => {
            pinned.value = { seq: selected.seq, at: selected.at }
            view.instant.value = selected.at
          }}
        >
          At #{selected.seq}
        </button>
      )}
    </span>
  )
}
