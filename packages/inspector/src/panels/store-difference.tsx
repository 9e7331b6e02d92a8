import type { JSX } from 'preact'
import type { PortableString } from '../../../../src/kernel/portable.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'
import { rowEditing } from '../models/edits.js'
import { shownKey } from '../models/key-tree.js'
import type { KeyDifference, StoreInstant } from '../models/store-model.js'
import type { PageView, TimeRange } from '../view.js'
import { modelsOf } from './models-of.js'
import { Bytes, EntryLink, Instant, Most, shownTime } from './parts.js'
import { kept } from './stored-setting.js'

interface StoreDifferenceProps {
  readonly view: PageView
  readonly onChoose: (key: PortableString) => void
}

/** Shows which keys the current event changed. If an instant is marked, shows the differences since then. */
export function StoreDifference({ view, onChoose }: StoreDifferenceProps): JSX.Element {
  const { store, point } = modelsOf(view)
  const mark = kept<StoreInstant | undefined>(view, 'mark', undefined)
  const here = point.value
  const range = view.range.value
  const isSpan = mark.value !== undefined || range !== undefined
  const event = isSpan ? undefined : eventAt(view, here)
  const [from, to] =
    mark.value !== undefined
      ? inOrder(mark.value, here)
      : range !== undefined
        ? endsOf(range)
        : [event?.before, event?.point]
  const differences = from === undefined || to === undefined ? [] : store.value.model.difference(from, to)
  return (
    <section class="pn-difference" aria-label="Difference">
      <h2>Difference</h2>
      <p class="pn-line">
        {from === undefined || to === undefined ? (
          'No event has changed the store up to this instant.'
        ) : event !== undefined ? (
          <>
            by the event <EntryLink view={view} seq={event.point.seq} /> at <Instant at={event.point.at} />
          </>
        ) : (
          <>
            from <Instant at={from.at} /> to <Instant at={to.at} />
          </>
        )}{' '}
        <button
          type="button"
          onClick={() => {
            // Set the mark after the last known entry. Later entries at the same instant then count as changes.
            const seq = Math.min(here.seq, view.entries.value.at(-1)?.seq ?? 0)
            mark.value = mark.value === undefined ? { seq, at: here.at } : undefined
          }}
        >
          {mark.value === undefined ? 'Compare from here' : 'Remove the mark'}
        </button>
      </p>
      {isSpan && differences.length === 0 && <p class="pn-none">No difference.</p>}
      <Most items={differences} of="keys" most={100}>
        {(shown) => (
          <ul class="pn-diff">
            {shown.map((difference) => (
              <li key={shownKey(difference.key)} class={wordFor(difference)}>
                <button type="button" class="pn-link" onClick={() => onChoose(difference.key)}>
                  <Bytes value={difference.key} />
                </button>{' '}
                <small>{wordFor(difference)}</small>
                <Sides {...difference} />
              </li>
            ))}
          </ul>
        )}
      </Most>
    </section>
  )
}

/** Returns the last point before a range, and the last point in it. */
function endsOf({ from, to }: TimeRange): readonly [StoreInstant, StoreInstant] {
  const seq = Number.POSITIVE_INFINITY
  return [
    { seq, at: from - 1 },
    { seq, at: to },
  ]
}

function inOrder(one: StoreInstant, other: StoreInstant): readonly [StoreInstant, StoreInstant] {
  return one.at < other.at || (one.at === other.at && one.seq <= other.seq) ? [one, other] : [other, one]
}

/** Returns the event whose changes are shown: the selected one, or the last one that changed the store. */
function eventAt(
  view: PageView,
  point: StoreInstant,
): { readonly point: StoreInstant; readonly before: StoreInstant } | undefined {
  const pinned = Number.isFinite(point.seq) ? point : modelsOf(view).store.value.model.lastChange(point)
  if (pinned === undefined) return undefined
  const previous = view.entries.value.findLast((entry) => entry.seq < pinned.seq)
  return {
    point: { seq: pinned.seq, at: pinned.at },
    before: { seq: pinned.seq - 1, at: previous?.at ?? pinned.at - 1 },
  }
}

function wordFor({ before, after }: KeyDifference): string {
  return before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
}

export function Sides({ before, after }: KeyDifference): JSX.Element {
  return (
    <div class="pn-sides">
      {before && (
        <div>
          <small>before</small>
          <pre>{contentOf(before)}</pre>
        </div>
      )}
      {after && (
        <div>
          <small>after</small>
          <pre>{contentOf(after)}</pre>
        </div>
      )}
    </div>
  )
}

/** Formats the value of a key in several lines. */
function contentOf(key: DumpedKey): string {
  const rows = rowEditing[key.type]?.rows(key).map((cells) => cells.map(shownKey).join('  '))
  const text = rows?.join('\n') ?? shownKey((key as { value: PortableString }).value)
  const deadline = key.expiresAt === undefined ? '' : `\nexpires ${shownTime(key.expiresAt)}`
  return (text.length > 1000 ? `${text.slice(0, 1000)}…` : text) + deadline
}
