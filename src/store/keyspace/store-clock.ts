import type { Timer, TimerOptions } from '../../kernel/time.js'

export interface StoreClock {
  now(): number
  /** Sets alarms: without it nobody hears of expiry, and no wait ends by itself. */
  schedule?(at: number, label: string, run: () => void, options: TimerOptions): Timer
  readonly isDraining?: boolean
  readonly mode?: string
}
