import { Duplex } from 'node:stream'
import type { Gate } from '../../../../src/kernel/gate.js'
import { hostTurn } from '../../../../src/kernel/host.js'

// A connection in this process, without a socket.

/** Returns the two ends of a connection. Both ends have the methods of a socket that clients call. */
export function streamPair(gate: () => Gate): [Duplex, Duplex] {
  const near = new ClientEnd(gate)
  const far = new End()
  near.other = far
  far.other = near
  return [near, far]
}

class End extends Duplex {
  other!: End
  readonly connecting = false
  /** Number of bytes that the other end has sent but that have not arrived at this end. */
  #coming = 0
  #taken: (() => void) | undefined

  constructor() {
    // Closing one end closes the other end, as with a socket.
    super({ allowHalfOpen: false })
  }

  override _read(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const { other } = this
    other.#coming += chunk.length
    other.whenReady(() => other.#take(chunk))
    if (other.#hasRoom) done()
    else other.#taken = done
  }

  override _final(done: () => void): void {
    const { other } = this
    other.whenReady(() => {
      if (!other.destroyed) other.push(null)
    })
    done()
  }

  get #hasRoom(): boolean {
    return this.destroyed || this.readableEnded || this.#coming + this.readableLength < this.readableHighWaterMark
  }

  #take(chunk: Buffer): void {
    this.#coming -= chunk.length
    if (!this.destroyed && !this.readableEnded) this.push(chunk)
    if (this.#hasRoom) this._read()
  }

  /** Runs a function that delivers data to this end, now or later. */
  protected whenReady(bring: () => void): void {
    bring()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { other } = this
    // Close the other end later, as a socket does. Data that was sent before must arrive first.
    void hostTurn().then(() => {
      if (!other.destroyed && !other.readableEnded) other.destroy()
    })
    done(error)
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setTimeout(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/**
 * The client's end of a connection. Replies arrive asynchronously, as from a socket, because ioredis assigns a reply to
 * its command only after `write()` has returned. Commands of the client arrive synchronously, so that they run before a
 * test advances the clock.
 */
class ClientEnd extends End {
  readonly #gate: () => Gate
  /** Resolves when all data that was sent to this end so far may be delivered. */
  #ready: Promise<void> = Promise.resolve()

  constructor(gate: () => Gate) {
    super()
    this.#gate = gate
  }

  protected override whenReady(bring: () => void): void {
    const gate = this.#gate()
    if (gate.closesAfterResponse()) {
      const earlier = this.#ready
      this.#ready = gate.turn().then(() => earlier)
    }
    void this.#ready.then(bring)
  }
}
