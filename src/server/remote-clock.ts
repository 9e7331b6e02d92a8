import type { VirtualClock } from '../kernel/clock.js'
import type { Duration } from '../kernel/duration.js'
import { type Instant, instant } from '../kernel/instant.js'
import type { ControlWire } from './control-wire.js'
import type { Twin } from './twin.js'

/** `sandbox.clock` of a tenant on a server. */
export class RemoteClock implements Twin<VirtualClock, 'now' | 'advance' | 'advanceTo' | 'drain' | 'settled'> {
  readonly #wire: ControlWire

  constructor(wire: ControlWire) {
    this.#wire = wire
  }

  async now(): Promise<number> {
    return ((await this.#wire.get('/clock')) as { milliseconds: number }).milliseconds
  }

  async pending(): Promise<readonly { readonly at: number; readonly label: string; readonly background: boolean }[]> {
    const { pending } = (await this.#wire.get('/clock')) as {
      pending: { at: string; label: string; background: boolean }[]
    }
    return pending.map((timer) => ({ ...timer, at: instant(timer.at) }))
  }

  async advance(by: Duration): Promise<void> {
    await this.#wire.post('/clock/advance', { by })
  }

  async advanceTo(at: Instant): Promise<void> {
    await this.#wire.post('/clock/advance-to', { at: instant(at) })
  }

  async drain(options: { budget?: number } = {}): Promise<void> {
    await this.#wire.post('/clock/drain', options)
  }

  async settled(): Promise<void> {
    await this.#wire.post('/clock/settled')
  }
}
