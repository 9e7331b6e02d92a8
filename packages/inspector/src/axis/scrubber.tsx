import type { JSX } from 'preact'
import { shownDate, shownTime } from '../shown-dates.js'
import type { PageView } from '../view.js'
import type { AxisState } from './axis-state.js'

interface ScrubberProps {
  readonly view: PageView
  readonly axis: AxisState
  readonly width: number
}

/**
 * A slider that sets the current instant. It can be dragged. The arrow keys move it to the next or previous instant
 * with an entry.
 */
export function Scrubber({ view, axis, width }: ScrubberProps): JSX.Element {
  const scale = axis.scale.value
  const { from, to } = axis.sight.value
  const instant = view.instant.value
  const now = axis.now.value
  const at = instant ?? now
  const place = (scale.place(at) - from) / (to - from)
  const step = (direction: 1 | -1): void => {
    const next = Math.min(now, scale.neighbor(at, direction))
    axis.lookAt(next)
    axis.show(next)
  }
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => step(-1),
    ArrowDown: () => step(-1),
    ArrowRight: () => step(1),
    ArrowUp: () => step(1),
    Home: () => {
      axis.lookAt(scale.first)
      axis.show(scale.first)
    },
    End: () => {
      view.instant.value = undefined
      axis.show(now)
    },
  }
  return (
    <div
      class={`scrubber${instant === undefined ? ' is-now' : ''}`}
      role="slider"
      tabIndex={0}
      aria-label="Instant"
      aria-valuemin={0}
      aria-valuemax={Math.max(1, now - scale.first)}
      aria-valuenow={at - scale.first}
      aria-valuetext={instant === undefined ? 'now' : `${shownDate(at)} ${shownTime(at)}`}
      hidden={place < 0 || place > 1}
      style={{ transform: `translateX(${place * width}px)` }}
      onKeyDown={(event) => {
        const move = keys[event.key]
        if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return
        event.preventDefault()
        event.stopPropagation()
        move()
      }}
    />
  )
}
