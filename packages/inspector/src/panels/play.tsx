import type { JSX } from 'preact'
import type { PanelProps } from './panel-view.js'
import { Failure } from './parts.js'
import { playerOf } from './player.js'

const speeds = [1, 60, 3600]

/** Buttons that start and stop the continuous movement of time. */
export function Play({ view }: PanelProps): JSX.Element {
  const player = playerOf(view)
  const speed = player.speed.value
  return (
    <>
      <fieldset class="pn-group pn-play" aria-label="Play">
        {speeds.map((one) => (
          <button key={one} type="button" aria-pressed={speed === one} onClick={() => player.play(one)}>
            {one.toLocaleString('en')}×
          </button>
        ))}
        <button type="button" disabled={speed === 0} onClick={() => player.pause()}>
          Pause
        </button>
      </fieldset>
      <Failure of={{ failure: player.failure.value }} />
    </>
  )
}
