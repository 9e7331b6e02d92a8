import type { JSX } from 'preact'
import { modelsOf } from './models-of.js'
import type { PanelProps } from './panel-view.js'
import { Instant } from './parts.js'

/** Shows the instant of a panel, which is now or an earlier one, and buttons to change it. */
export function AsOf({ view }: PanelProps): JSX.Element {
  const { point, isPresent, present } = modelsOf(view)
  const selected = view.entry(view.selectedSeq.value)
  return (
    <span class="pn-as-of">
      {isPresent.value ? (
        'as it is now'
      ) : (
        <>
          as of <Instant at={point.value.at} />
          {Number.isFinite(point.value.seq) && `, behind #${point.value.seq}`}, read-only{' '}
          <button type="button" onClick={present}>
            Now
          </button>
        </>
      )}
      {selected !== undefined && selected.at !== view.instant.value && (
        <button
          type="button"
          onClick={() => {
            view.instant.value = selected.at
          }}
        >
          At #{selected.seq}
        </button>
      )}
    </span>
  )
}
