import { type Signal, signal } from '@preact/signals'
import type { PageView } from '../view.js'
import { moved } from './last-move.js'

/** The longest piece of host time that is played at once, so that a page that was away does not leap. */
const maxFrame = 250

/** Lets time go by itself, in pieces as long as a frame. It goes on while another panel is open. */
export class TimePlayer {
  /** Times as fast as the host; 0 while it is paused. */
  readonly speed: Signal<number> = signal(0)
  readonly failure: Signal<string | undefined> = signal(undefined)
  #isRunning = false

  constructor(readonly view: PageView) {}

  play(speed: number): void {
    this.speed.value = speed
    this.failure.value = undefined
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#run()
  }

  pause(): void {
    this.speed.value = 0
  }

  /** The next piece begins when the one before has settled: what a slow app takes is not made up for. */
  async #run(): Promise<void> {
    const { control } = this.view.source
    let last = performance.now()
    try {
      while (this.speed.value > 0 && control !== undefined && this.view.source.control === control) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
        const passed = Math.min(performance.now() - last, maxFrame)
        last = performance.now()
        if (this.speed.value > 0)
          await moved(this.view, control, 'advance', { by: Math.round(passed * this.speed.value) })
      }
    } catch (error) {
      this.failure.value = error instanceof Error ? error.message : String(error)
    } finally {
      this.#isRunning = false
      this.speed.value = 0
    }
  }
}

const players = new WeakMap<PageView, TimePlayer>()

export function playerOf(view: PageView): TimePlayer {
  const player = players.get(view) ?? new TimePlayer(view)
  players.set(view, player)
  return player
}
