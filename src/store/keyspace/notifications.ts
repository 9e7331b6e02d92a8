import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Timer } from '../../kernel/time.js'
import type { CommandDescription } from '../command/command-description.js'
import type { Database, EventClass } from './database.js'
import { type EventFlags, noEvents } from './keyspace-events.js'
import type { PubSub } from './pubsub.js'
import type { StoreClock } from './store-clock.js'

/**
 * Publishes the keyspace notifications that CONFIG SET notify-keyspace-events enables. [store.md 5.1] An expired key
 * may never be read again, so the event `expired` needs a timer.
 */
export class Notifications {
  /** Whether the expiration of keys must be noticed immediately. If so, commands must set a timer. */
  hearsExpiry = false
  hearsMisses = false
  /** Whether any event is published. */
  hearsAny = false
  #flags: EventFlags = noEvents
  #isAwaited = false
  #alarm: Timer | undefined

  constructor(
    private readonly db: Database,
    private readonly pubsub: PubSub,
    private readonly clock: StoreClock,
    /** Called after a timer of the clock removed what has expired. */
    private readonly swept: () => void,
  ) {}

  get flags(): EventFlags {
    return this.#flags
  }

  set flags(flags: EventFlags) {
    this.#flags = flags
    this.hearsAny = flags.size > 0
    this.hearsMisses = this.#isPublished && flags.has('m')
    this.#hearExpiry()
  }

  /** Sets whether a client waits for the expiration of keys. A timer is then needed even if no event is published. */
  set isAwaited(isAwaited: boolean) {
    this.#isAwaited = isAwaited
    this.#hearExpiry()
  }

  get #isPublished(): boolean {
    return this.#flags.has('K') || this.#flags.has('E')
  }

  #hearExpiry(): void {
    this.hearsExpiry = this.#isAwaited || (this.#isPublished && (this.#flags.has('x') || this.#flags.has('h')))
    this.setAlarm()
  }

  announce(eventClass: EventClass, event: string, key: Bytes): void {
    if (!this.#flags.has(eventClass)) return
    // An event must not fail the command, so at most one unit of work is charged for the event. Comparing channels with
    // the patterns of subscribers has its own budget.
    if (this.db.work.left > 0) this.db.work.left--
    if (this.#flags.has('K')) this.pubsub.announce(latin1(`__keyspace@0__:${key}`), latin1(event))
    if (this.#flags.has('E')) this.pubsub.announce(latin1(`__keyevent@0__:${event}`), key)
  }

  /**
   * Runs a read command and publishes one event for each key that is missing, even if the command looks the key up
   * several times.
   */
  watchMisses<T>(command: CommandDescription, run: () => T): T {
    if (!command.flags.includes('read')) return run()
    const missed = new Set<Bytes>()
    this.db.missed = missed
    try {
      return run()
    } finally {
      this.db.missed = undefined
      for (const key of missed) this.announce('m', 'keymiss', key)
    }
  }

  /** Sets the timer for the next expiration. Must be called when expirations may have changed. */
  setAlarm(): void {
    const at = this.hearsExpiry ? this.db.nextDeadline : undefined
    if (this.#alarm?.at === at) return
    this.#alarm?.cancel()
    this.#alarm =
      at === undefined
        ? undefined
        : this.clock.schedule?.(at, 'expiry of keys', () => this.#expire(), { background: true })
  }

  #expire(): void {
    this.#alarm = undefined
    this.db.sweepAtAlarm()
    this.swept()
    this.setAlarm()
  }
}
