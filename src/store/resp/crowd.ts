import { Account } from '../../kernel/account.js'
import type { Bytes } from '../../kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout, hostTime, unref } from '../../kernel/host.js'

/** Whoever makes the process hold memory: a connection, a body that arrives, an answer that was not taken. */
export interface MemoryHolder {
  /** Bytes that are held for it: commands that are not whole, rows that wait, names, output that was not taken. */
  readonly held: number
  /** Changes whenever the other end takes something of what waits for it, or sends something of what is awaited. */
  readonly progress: number
  /** Breaks it off; what was held for it is given back at once. */
  sendAway(): void
}

/** Bytes that a holder may hold whatever the others do: a command and its reply, so that it is heard at all. */
const always = 16_384

/** Host milliseconds after which a holder without progress has none any more. */
export const stalledAfter = 5_000

/** Host milliseconds in which progress tells nothing: the buffers of the system take and send some megabytes by themselves. */
const beginning = 1_000

/** Host milliseconds between two looks. */
const lookEvery = 250

interface Watched {
  progress: number
  /** When it began to hold more than everybody may. */
  since: number
  /** When its progress was last seen. */
  moved: number
}

/**
 * All that share one limit of memory. When it is reached, those are sent away first that have made no progress for
 * longest, or none since their beginning; then those that hold most, if it is more than is asked for. So who reads, or
 * sends, stays as long as others do not.
 */
export class Crowd {
  readonly #now: () => number
  readonly #watched = new Map<MemoryHolder, Watched>()
  /** Of those who took everything, when they did: they are no newcomers. */
  readonly #before = new WeakMap<MemoryHolder, Watched>()
  #timer: unknown

  /** @param now host milliseconds */
  constructor(
    readonly buffered: Account = new Account(Number.POSITIVE_INFINITY),
    now: () => number = hostTime,
  ) {
    this.#now = now
  }

  /** To be called when a holder holds more, or less. */
  note(holder: MemoryHolder): void {
    if (this.buffered.limit === Number.POSITIVE_INFINITY) return
    if (Crowd.spares(holder.held)) this.leave(holder)
    else if (!this.#watched.has(holder)) this.#watch(holder)
  }

  leave(holder: MemoryHolder): void {
    const watched = this.#watched.get(holder)
    if (watched === undefined) return
    this.#watched.delete(holder)
    watched.moved = this.#now()
    this.#before.set(holder, watched)
    if (this.#watched.size > 0) return
    hostClearTimeout(this.#timer as ReturnType<typeof hostSetTimeout>)
    this.#timer = undefined
  }

  #watch(holder: MemoryHolder): void {
    const now = this.#now()
    const before = this.#before.get(holder)
    const since = before !== undefined && now - before.moved < stalledAfter ? before.since : now
    this.#watched.set(holder, { progress: holder.progress, since, moved: now })
    if (this.#timer === undefined) this.#lookLater()
  }

  #lookLater(): void {
    this.#timer = hostSetTimeout(() => {
      this.look()
      this.#lookLater()
    }, lookEvery)
    unref(this.#timer)
  }

  /** Sees who has made progress. */
  look(): void {
    const now = this.#now()
    for (const [holder, watched] of this.#watched) {
      const { progress } = holder
      if (progress === watched.progress) continue
      watched.progress = progress
      watched.moved = now
    }
  }

  /** Whether there is room for so many bytes more, after others were sent away; for a holder, if it is one already. */
  makesRoom(bytes: number, asking?: MemoryHolder): boolean {
    if (bytes <= this.buffered.left) return true
    const wanted = bytes + (asking?.held ?? 0)
    const leaving = this.#leaving(wanted, asking)
    let free = this.buffered.left
    for (const { held } of leaving) free += held
    // Nobody is sent away for what finds no room all the same.
    if (free < bytes) return false
    for (const holder of leaving) {
      holder.sendAway()
      if (bytes <= this.buffered.left) return true
    }
    return false
  }

  /** Who may be sent away for somebody who will hold so much, the first one first. */
  #leaving(wanted: number, asking: MemoryHolder | undefined): MemoryHolder[] {
    this.look()
    const now = this.#now()
    const still: [MemoryHolder, Watched][] = []
    const larger: MemoryHolder[] = []
    for (const [holder, watched] of this.#watched) {
      if (holder === asking) continue
      const { since, moved } = watched
      if (now - moved >= stalledAfter || moved - since < beginning) still.push([holder, watched])
      else if (holder.held > wanted) larger.push(holder)
    }
    still.sort(([one, a], [other, b]) => a.moved - b.moved || other.held - one.held)
    larger.sort((one, other) => other.held - one.held)
    return [...still.map(([holder]) => holder), ...larger]
  }

  /** Whether somebody who holds so much stays although there is no room. */
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
