import { bindMethods } from '../kernel/bind-methods.js'
import type { AdvanceOptions, Clock, ClockMove } from '../kernel/clock.js'
import { type Duration, milliseconds } from '../kernel/duration.js'
import { type Instant, instant } from '../kernel/instant.js'
import { checkMove } from '../kernel/move.js'
import type { ControlClient } from './control-client.js'
import type { Remote } from './remote-type.js'

/** The clock of a tenant: `sandbox.clock`. */
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
   * Returns the virtual time in milliseconds since the epoch.
   * @example new Date(await sandbox.clock.now()).toISOString()
   */
  async now(): Promise<number> {
    return ((await this.#wire.get('/clock')) as { milliseconds: number }).milliseconds
  }

  /** The waiting timers, earliest first. */
  get pending(): Promise<readonly { readonly at: number; readonly label: string; readonly background: boolean }[]> {
    return this.#wire.list('/clock/pending').then((pending) =>
      (pending as { at: string; label: string; background: boolean }[]).map((timer) => ({
        ...timer,
        at: instant(timer.at),
      })),
    )
  }

  /**
   * Moves time by a duration and runs every timer that is due on the way.
   * @example await sandbox.clock.advance('1h')
   */
  async advance(by: Duration, given: AdvanceOptions = {}): Promise<void> {
    checkMove('advance', given)
    const { signal, ...options } = given
    // JSON would turn an invalid number such as `NaN` into `null`. Reject such a number before the request is sent.
    milliseconds(by)
    await this.#wire.post('/clock/advance', { by, ...options }, signal)
  }

  /**
   * Moves time to an instant and runs every timer that is due on the way.
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
   * Interrupts the running clock move. Returns the name of the interrupted call, or `undefined` if time was not moving.
   * @example await sandbox.clock.interrupt()
   */
  async interrupt(): Promise<ClockMove | undefined> {
    const { interrupted } = (await this.#wire.post('/clock/interrupt')) as { interrupted: ClockMove | null }
    return interrupted ?? undefined
  }

  /**
   * Always throws, because the clock of a server cannot wait for timers of this process. Requests that such a timer
   * sends could still be in transit when the server's time moves on.
   * @throws Error always; the message suggests alternatives
   * @example expect(() => sandbox.clock.follow()).toThrow('only in the process of the sandbox')
   */
  follow(): never {
    throw new Error(
      'clock.follow() works only in the process of the sandbox, because the clock of a server cannot wait for timers of this process. Use createSandbox() in this process, or call clock.advance() for each step of your timers.',
    )
  }

  /**
   * Waits until no work runs, without moving time.
   * @example await sandbox.clock.settle()
   */
  async settle(): Promise<void> {
    await this.#wire.post('/clock/settle')
  }
}
