import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Control } from '../source.js'
import { moved } from './moved.js'
import type { PanelProps } from './panel-view.js'
import { Failure, useAct } from './parts.js'

const speeds = [1, 60, 3600]

/** Lets time go by itself, in pieces as long as a frame, until it is paused. */
export function Play({ view, control }: PanelProps & { readonly control: Control }): JSX.Element {
  const speed = useSignal(0)
  const act = useAct()
  const chosen = speed.value
  useEffect(() => {
    if (chosen === 0) return
    let frame = 0
    let isOver = false
    let last = performance.now()
    // The next piece begins when the one before has settled: what a slow app takes is not made up for.
    const play = async (): Promise<void> => {
      const passed = Math.min(performance.now() - last, 250)
      last = performance.now()
      const isMoved = await act.run(() => moved(view, control, 'advance', { by: Math.round(passed * chosen) }))
      if (!isMoved) speed.value = 0
      else if (!isOver) frame = requestAnimationFrame(() => void play())
    }
    frame = requestAnimationFrame(() => void play())
    return () => {
      isOver = true
      cancelAnimationFrame(frame)
    }
  }, [chosen, control])
  return (
    <>
      <fieldset class="pn-group pn-play" aria-label="Play">
        {speeds.map((one) => (
          <button key={one} type="button" aria-pressed={chosen === one} onClick={() => (speed.value = one)}>
            {one.toLocaleString('en')}×
          </button>
        ))}
        <button type="button" disabled={chosen === 0} onClick={() => (speed.value = 0)}>
          Pause
        </button>
      </fieldset>
      <Failure of={act} />
    </>
  )
}
