import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Timer } from '../../kernel/time.js'
import type { CommandDescription } from '../command/command-description.js'
import type { Database, EventClass } from './database.js'
import { type EventFlags, noEvents } from './keyspace-events.js'
import type { PubSub } from './pubsub.js'
import type { StoreClock } from './store-clock.js'

/**
 * Publishes what happens to keys, as far as CONFIG SET notify-keyspace-events asks for it. [store.md 5.1]
 * Nobody looks at a key that has expired, so whoever wants to hear of it needs an alarm at its deadline.
 */
export class Notifications {
  /** Whether there may be an alarm to set after a command. */
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
    /** Hears that the clock had it look for what has expired. */
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

  /** Somebody waits for keys to go, although no event is published. */
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
    // An event is no reason to fail, but what its subscribers cost begins anew with the next request.
    if (this.db.work.left > 0) this.db.work.left--
    if (this.#flags.has('K')) this.pubsub.announce(latin1(`__keyspace@0__:${key}`), latin1(event))
    if (this.#flags.has('E')) this.pubsub.announce(latin1(`__keyevent@0__:${event}`), key)
  }

  /** Misses of a reading command are told once for each key, however often its body looks. */
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

  /** To be called when deadlines may have changed. */
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
