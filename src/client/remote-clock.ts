import { bindMethods } from '../kernel/bind-methods.js'
import type { AdvanceOptions, Clock, ClockMove } from '../kernel/clock.js'
import { type Duration, milliseconds } from '../kernel/duration.js'
import { type Instant, instant } from '../kernel/instant.js'
import { checkMove } from '../kernel/move.js'
import type { ControlClient } from './control-client.js'
import type { Remote } from './remote-type.js'

/** `sandbox.clock` of a tenant on a server. */
export class RemoteClock implements Remote<Clock, 'now' | 'advance' | 'advanceTo' | 'drain' | 'interrupt' | 'settle'> {
  static {
    bindMethods(RemoteClock)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  async now(): Promise<number> {
    return ((await this.#wire.get('/clock')) as { milliseconds: number }).milliseconds
  }

  /** The timers that wait, earliest first. */
  get pending(): Promise<readonly { readonly at: number; readonly label: string; readonly background: boolean }[]> {
    return this.#wire.list('/clock/pending').then((pending) =>
      (pending as { at: string; label: string; background: boolean }[]).map((timer) => ({
        ...timer,
        at: instant(timer.at),
      })),
    )
  }

  async advance(by: Duration, given: AdvanceOptions = {}): Promise<void> {
    checkMove('advance', given)
    const { signal, ...options } = given
    // Numbers that are none would not survive the way as JSON.
    milliseconds(by)
    await this.#wire.post('/clock/advance', { by, ...options }, signal)
  }

  async advanceTo(at: Instant, given: AdvanceOptions = {}): Promise<void> {
    checkMove('advanceTo', given)
    const { signal, ...options } = given
    await this.#wire.post('/clock/advance-to', { at: instant(at), ...options }, signal)
  }

  async drain(given: AdvanceOptions = {}): Promise<void> {
    checkMove('drain', given)
    const { signal, ...options } = given
    await this.#wire.post('/clock/drain', options, signal)
  }

  async interrupt(): Promise<ClockMove | undefined> {
    const { interrupted } = (await this.#wire.post('/clock/interrupt')) as { interrupted: ClockMove | null }
    return interrupted ?? undefined
  }

  /**
   * Not from here: requests of timers would be on their way to the server when its time moves on.
   * @throws Error always, with what to do instead
   */
  follow(): never {
    throw new Error(
      'clock.follow() works in the process of the sandbox only: timers of this process cannot stop the clock of a server in time. Let the app that sets the timers run with createSandbox() in this process, or advance the server in the steps of your timers.',
    )
  }

  async settle(): Promise<void> {
    await this.#wire.post('/clock/settle')
  }
}
