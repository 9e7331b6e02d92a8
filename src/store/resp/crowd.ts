import { Account } from '../../kernel/account.js'
import type { Bytes } from '../../kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout, hostTime, unref } from '../../kernel/host.js'

/** Holder of memory in the process: a connection, a body that arrives, a response that was not read. */
export interface MemoryHolder {
  /** Bytes held: incomplete commands, queued transaction commands, names, output that was not read. */
  readonly held: number
  /** Value that changes whenever the other end reads pending output or sends expected bytes. */
  readonly progress: number
  /** Disconnects the holder, which releases its memory immediately. */
  sendAway(): void
}

/** Bytes that a holder may always hold: enough for a command and its reply, so that every client is served. */
const always = 16_384

/** Host milliseconds without progress after which a holder counts as stalled. */
export const stalledAfter = 5_000

/**
 * Host milliseconds during which progress does not count: buffers of the operating system accept a few megabytes
 * anyway.
 */
const beginning = 1_000

/** Host milliseconds between two checks. */
const lookEvery = 250

interface Watched {
  progress: number
  /** Time at which it began to hold more than every holder may. */
  since: number
  /** Time of its last progress. */
  moved: number
}

/**
 * Holders that share one memory limit. When the limit is reached, holders are disconnected in this order: those without
 * progress for the longest time or since their beginning, then the largest, if they hold more than the requested bytes.
 * Clients that keep reading or sending therefore stay while others do not.
 */
export class Crowd {
  readonly #now: () => number
  readonly #watched = new Map<MemoryHolder, Watched>()
  /** Records of holders that left after reading everything. If they return, they are not new. */
  readonly #before = new WeakMap<MemoryHolder, Watched>()
  #timer: unknown

  /** @param now returns host milliseconds */
  constructor(
    readonly buffered: Account = new Account(Number.POSITIVE_INFINITY),
    now: () => number = hostTime,
  ) {
    this.#now = now
  }

  /** Must be called when a holder holds more or less than before. */
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

  /** Checks which holders have made progress. */
  look(): void {
    const now = this.#now()
    for (const [holder, watched] of this.#watched) {
      const { progress } = holder
      if (progress === watched.progress) continue
      watched.progress = progress
      watched.moved = now
    }
  }

  /**
   * Returns whether `bytes` more fit, disconnecting other holders if necessary. @param asking the holder that asks, if
   * it exists already
   */
  makesRoom(bytes: number, asking?: MemoryHolder): boolean {
    if (bytes <= this.buffered.left) return true
    const wanted = bytes + (asking?.held ?? 0)
    const leaving = this.#leaving(wanted, asking)
    let free = this.buffered.left
    for (const { held } of leaving) free += held
    // No holder is disconnected if the bytes still would not fit.
    if (free < bytes) return false
    for (const holder of leaving) {
      holder.sendAway()
      if (bytes <= this.buffered.left) return true
    }
    return false
  }

  /** Returns the holders that can be disconnected for one that will hold `wanted` bytes, in order. */
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

  /** Returns whether a holder of this many bytes stays although the limit is reached. */
  static spares(held: number): boolean {
    return held <= always
  }
}

/** Bytes that are sent to many readers; encoded and held once. */
export class Shared {
  /** Bytes in the form that the host sends. */
  array: Uint8Array | undefined
  #account: Account | undefined
  #readers = 0

  constructor(readonly bytes: Bytes) {}

  /** Adds a reader that has not read the bytes; returns `false` if they do not fit. */
  hold(buffered: Account): boolean {
    if (this.#readers === 0) {
      if (!buffered.take(this.bytes.length)) return false
      this.#account = buffered
    }
    this.#readers++
    return true
  }

  /** Removes a reader that has read the bytes or disconnected. */
  letGo(): void {
    if (--this.#readers > 0) return
    this.#account?.release(this.bytes.length)
    this.array = undefined
  }
}
