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

  /**
   * Returns the virtual time in milliseconds since the Unix epoch.
   * @example new Date(await sandbox.clock.now()).toISOString()
   */
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

  /**
   * Moves time forward and runs everything that falls due, in order.
   * @example await sandbox.clock.advance('1h')
   */
  async advance(by: Duration, given: AdvanceOptions = {}): Promise<void> {
    checkMove('advance', given)
    const { signal, ...options } = given
    // Numbers that are none would not survive the way as JSON.
    milliseconds(by)
    await this.#wire.post('/clock/advance', { by, ...options }, signal)
  }

  /**
   * Moves time to an instant: milliseconds, an ISO text or a `Date`.
   * @example await sandbox.clock.advanceTo('2050-01-02T03:00:00Z')
   */
  async advanceTo(at: Instant, given: AdvanceOptions = {}): Promise<void> {
    checkMove('advanceTo', given)
    const { signal, ...options } = given
    await this.#wire.post('/clock/advance-to', { at: instant(at), ...options }, signal)
  }

  /**
   * Moves time until only recurring timers are left.
   * @example
   * await sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '10m' })
   * await sandbox.clock.drain()
   * expect(await sandbox.snapshot()).toHaveDelivered({ to: 'https://shop.test/orders' })
   */
  async drain(given: AdvanceOptions = {}): Promise<void> {
    checkMove('drain', given)
    const { signal, ...options } = given
    await this.#wire.post('/clock/drain', options, signal)
  }

  /**
   * Interrupts the call that moves time; that call rejects.
   * @example await sandbox.clock.interrupt()
   */
  async interrupt(): Promise<ClockMove | undefined> {
    const { interrupted } = (await this.#wire.post('/clock/interrupt')) as { interrupted: ClockMove | null }
    return interrupted ?? undefined
  }

  /**
   * Not from here: requests of timers would be on their way to the server when its time moves on.
   * @throws Error always, with what to do instead
   * @example expect(() => sandbox.clock.follow()).toThrow('in the process of the sandbox only')
   */
  follow(): never {
    throw new Error(
      'clock.follow() works in the process of the sandbox only: timers of this process cannot stop the clock of a server in time. Let the app that sets the timers run with createSandbox() in this process, or advance the server in the steps of your timers.',
    )
  }

  /**
   * Resolves once nothing runs. Time does not move.
   * @example await sandbox.clock.settle()
   */
  async settle(): Promise<void> {
    await this.#wire.post('/clock/settle')
  }
}
