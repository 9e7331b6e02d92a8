import { Account } from '../../kernel/account.js'
import type { Bytes } from '../../kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout, hostTime, unref } from '../../kernel/host.js'

/**
 * Object that uses memory of the process for a client: a connection, a body that is arriving, or a response that was
 * not read.
 */
export interface MemoryHolder {
  /** Bytes of memory in use: incomplete commands, queued transaction commands, names, and output that was not read. */
  readonly held: number
  /** Value that changes whenever the client reads pending output or sends expected bytes. */
  readonly progress: number
  /** Disconnects the holder, which releases its memory immediately. */
  sendAway(): void
}

/**
 * Bytes that every holder may use even if the limit is reached: enough for a command and its reply, so that every
 * client is served.
 */
const always = 16_384

/** Milliseconds of host time without progress after which a holder counts as stalled. */
export const stalledAfter = 5_000

/**
 * Milliseconds of host time after a holder began to use more than `always` bytes. Progress during this time does not
 * count, because buffers of the operating system accept a few megabytes without a reader.
 */
const beginning = 1_000

/** Milliseconds of host time between two checks. */
const lookEvery = 250

interface Watched {
  progress: number
  /** Host time at which the holder began to use more than `always` bytes. */
  since: number
  /** Host time of the holder's last progress. */
  moved: number
}

/**
 * Holders that share one memory limit. When the limit is reached, holders are disconnected: first those that are
 * stalled or made no progress after the first `beginning` milliseconds, in the order of their stalls. Then the largest
 * holders are disconnected, if they use more memory than the holder that asks for memory. Clients that keep reading or
 * sending therefore stay connected longer.
 */
export class Crowd {
  readonly #now: () => number
  readonly #watched = new Map<MemoryHolder, Watched>()
  /**
   * Records of holders that have released their memory. If such a holder soon uses much memory again, its record
   * continues.
   */
  readonly #before = new WeakMap<MemoryHolder, Watched>()
  #timer: unknown

  /** @param now returns the host time in milliseconds */
  constructor(
    readonly buffered: Account = new Account(Number.POSITIVE_INFINITY),
    now: () => number = hostTime,
  ) {
    this.#now = now
  }

  /**
   * Adds or removes a holder according to its size. Must be called when a holder uses more or less memory than before.
   */
  note(holder: MemoryHolder): void {
    if (this.buffered.limit === Number.POSITIVE_INFINITY) return
    if (Crowd.spares(holder.held)) this.leave(holder)
    else if (!this.#watched.has(holder)) this.#watch(holder)
  }

  leave(holder: MemoryHolder): void {
    if (this.#watched.size === 0) return
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
   * Returns whether this many further bytes fit into memory. Disconnects other holders if necessary.
   * @param asking the holder that needs the bytes, if it already exists
   */
  makesRoom(bytes: number, asking?: MemoryHolder): boolean {
    if (bytes <= this.buffered.left) return true
    const wanted = bytes + (asking?.held ?? 0)
    const leaving = this.#leaving(wanted, asking)
    let free = this.buffered.left
    for (const { held } of leaving) free += held
    // If the bytes would not fit even without these holders, none of them is disconnected.
    if (free < bytes) return false
    for (const holder of leaving) {
      holder.sendAway()
      if (bytes <= this.buffered.left) return true
    }
    return false
  }

  /**
   * Returns the holders that can be disconnected in favor of `asking`, in the order of disconnection.
   * @param wanted the bytes that `asking` will use
   */
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

  /** Returns whether a holder of this many bytes stays connected even if the limit is reached. */
  static spares(held: number): boolean {
    return held <= always
  }
}

/** Bytes that are sent to many readers. They are encoded once and kept in memory once. */
export class Shared {
  /** Bytes in the form that the host sends. */
  array: Uint8Array | undefined
  #account: Account | undefined
  #readers = 0

  constructor(readonly bytes: Bytes) {}

  /** Adds a reader that must still read the bytes. Returns `false` if the bytes do not fit into memory. */
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
