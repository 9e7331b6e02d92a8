import { Account } from '../../kernel/account.js'
import type { Bytes } from '../../kernel/bytes.js'

/** A connection, as far as it holds memory. */
export interface Holder {
  /** Bytes that are held for it: commands that are not whole, rows that wait, names, output that was not taken. */
  readonly held: number
  /** Breaks the connection off; what was held for it is given back at once. */
  sendAway(): void
}

/** Bytes that a connection may hold whatever the others do: a command and its reply, so that it is heard at all. */
const always = 16_384

/**
 * The connections that share one limit of memory. When it is reached, those that hold most are closed until there is room,
 * as redis-server does it with `maxmemory-clients`: who reads its replies stays.
 */
export class Crowd {
  readonly #holders = new Set<Holder>()

  constructor(readonly buffered: Account = new Account(Number.POSITIVE_INFINITY)) {}

  join(holder: Holder): void {
    this.#holders.add(holder)
  }

  leave(holder: Holder): void {
    this.#holders.delete(holder)
  }

  /** Whether there is room for so many bytes more for a connection, after others were closed that hold more than it will. */
  makesRoom(bytes: number, asking: Holder): boolean {
    const wanted = asking.held + bytes
    if (bytes <= this.buffered.left) return true
    const larger = [...this.#holders].filter((holder) => holder !== asking && holder.held > wanted)
    for (const holder of larger.sort((a, b) => b.held - a.held)) {
      holder.sendAway()
      if (bytes <= this.buffered.left) return true
    }
    return false
  }

  /** Whether a connection that holds so much stays although there is no room. */
  static spares(held: number): boolean {
    return held <= always
  }
}

/** Bytes that many readers are sent: encoded once, held once. */
export class Shared {
  /** What the host sends. */
  array: Uint8Array | undefined
  #account: Account | undefined
  #readers = 0

  constructor(readonly bytes: Bytes) {}

  /** One more reader has not taken it; `false` when there is no room for it. */
  hold(buffered: Account): boolean {
    if (this.#readers === 0) {
      if (!buffered.take(this.bytes.length)) return false
      this.#account = buffered
    }
    this.#readers++
    return true
  }

  /** A reader has taken it, or is gone. */
  letGo(): void {
    if (--this.#readers > 0) return
    this.#account?.release(this.bytes.length)
    this.array = undefined
  }
}
