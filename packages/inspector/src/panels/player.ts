import { type Signal, signal } from '@preact/signals'
import type { PageView } from '../view.js'
import { moved } from './last-move.js'

/**
 * Maximum host time of one step of the clock, in milliseconds. Without this limit, virtual time would leap after the
 * page was in the background.
 */
const maxFrame = 250

/** Moves virtual time continuously, one step per frame. It continues while the user opens another panel. */
export class TimePlayer {
  /** Virtual time per host time. 0 while time is paused. */
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

  /** Waits until the sandbox has settled before it starts the next step. If the app is slow, time moves more slowly. */
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
