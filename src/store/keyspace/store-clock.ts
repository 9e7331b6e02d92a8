import type { Timer, TimerOptions } from '../../kernel/time.js'

export interface StoreClock {
  now(): number
  /** Sets a timer. Without this function, expirations cause no events and waits have no timeout. */
  schedule?(at: number, label: string, run: () => void, options: TimerOptions): Timer
  readonly isDraining?: boolean
  readonly mode?: string
}
