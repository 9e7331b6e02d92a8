import type { IncomingMessage } from 'node:http'
import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import { ConnectionBroken } from '../../../src/kernel/http.js'
import { Crowd, type MemoryHolder } from '../../../src/store/resp/crowd.js'
import { BodyTooLarge, BufferFull, maxUnwanted } from './server-limits.js'

/**
 * Thrown while a long body arrives, if the service will reject the token of the request. The remaining body is not
 * read.
 */
export class Stranger extends Error {}

/** Keeps account of the memory of one request body, from its first byte until the response. */
export class BodyRoom implements MemoryHolder {
  readonly #crowd: Crowd
  held = 0
  /** Number of bytes that have arrived so far. */
  progress = 0
  /** Function that rejects the body while it is arriving. */
  dropped: ((error: Error) => void) | undefined = undefined

  constructor(crowd: Crowd) {
    this.#crowd = crowd
  }

  /**
   * Counts the received bytes toward the limit. The announced length does not count, so that a client that sends
   * nothing uses none of the limit.
   * @throws BufferFull when the limit is reached
   */
  take(bytes: number): void {
    this.progress += bytes
    const { buffered } = this.#crowd
    if (!buffered.take(bytes)) {
      if (this.#crowd.makesRoom(bytes, this) || Crowd.spares(this.held + bytes)) buffered.put(bytes)
      else throw new BufferFull()
    }
    this.held += bytes
    this.#crowd.note(this)
  }

  /** Registers that the body is complete. A complete body can no longer be rejected for lack of memory. */
  arrived(): void {
    this.dropped = undefined
    this.#crowd.leave(this)
  }

  release(): void {
    this.arrived()
    this.#crowd.buffered.put(-this.held)
    this.held = 0
  }

  sendAway(): void {
    this.dropped?.(new BufferFull())
  }
}

/** What happens to a request body: it arrives, or it is rejected. */
export interface BodyReceiver {
  /**
   * Returns whether the service will reject the token of the request. Called once, when the body exceeds `maxUnwanted`
   * bytes.
   */
  isUnwanted(): boolean
  arrived(body: Bytes): void
  failed(error: unknown): void
}

/** Reads the body of a request. */
export function receiveBody(request: IncomingMessage, room: BodyRoom, limit: number, receiver: BodyReceiver): void {
  const body = new Text()
  const receive = (chunk: Buffer): void => {
    const before = body.length
    const length = before + chunk.length
    try {
      if (length > limit) throw new BodyTooLarge(limit)
      if (before <= maxUnwanted && length > maxUnwanted && receiver.isUnwanted()) throw new Stranger()
      room.take(chunk.length)
    } catch (error) {
      drop(error)
      return
    }
    body.add(chunk)
  }
  const drop = (error: unknown): void => {
    room.release()
    body.drop()
    request.off('data', receive)
    if (isOver) return
    isOver = true
    receiver.failed(error)
  }
  let isOver = false
  room.dropped = drop
  request.on('data', receive)
  request.on('end', () => {
    room.arrived()
    if (isOver) return
    isOver = true
    receiver.arrived(body.all())
  })
  // After an error, Node.js also emits the event "close". The event "error" therefore needs no listener.
  request.on('close', () => {
    if (!request.complete)
      drop(new ConnectionBroken('ECONNRESET', 'The client disconnected while it sent its request.'))
  })
}

/**
 * Chunks of less than this many bytes are collected first. As a separate string, such a chunk would take several times
 * its size in memory.
 */
const shortChunk = 4_096

/**
 * A body that arrives in chunks. In memory, the body takes about as many bytes as were received. Short chunks are
 * collected before they become a string. `setEncoding()` would be slower, because its decoder searches for characters
 * that are split between two chunks.
 */
class Text {
  #text = ''
  #short: Buffer | undefined
  #filled = 0

  get length(): number {
    return this.#text.length + this.#filled
  }

  add(chunk: Buffer): void {
    // Convert the first chunk directly, because most bodies have only one chunk.
    if (this.length === 0 || chunk.length >= shortChunk) {
      this.#flush()
      this.#text += chunk.toString('latin1')
      return
    }
    if (this.#filled + chunk.length > shortChunk) this.#flush()
    this.#short ??= Buffer.allocUnsafeSlow(shortChunk)
    this.#filled += chunk.copy(this.#short, this.#filled)
  }

  all(): Bytes {
    this.#flush()
    return latin1(this.#text)
  }

  drop(): void {
    this.#text = ''
    this.#short = undefined
    this.#filled = 0
  }

  #flush(): void {
    if (this.#filled === 0) return
    this.#text += this.#short!.toString('latin1', 0, this.#filled)
    this.#filled = 0
  }
}
