import type { IncomingMessage } from 'node:http'
import { Account } from '../../../src/kernel/account.js'
import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import { ConnectionBroken } from '../../../src/kernel/http.js'
import { Crowd, type MemoryHolder } from '../../../src/store/resp/crowd.js'
import { BodyTooLarge, BufferFull } from './server-limits.js'

/** The sender of a body is not authorized, so the rest of the body is not read. */
export class Stranger extends Error {}

/** Memory of one body, from its first byte until its request has a response. */
export class BodyRoom implements MemoryHolder {
  readonly #crowd: Crowd
  readonly #account: Account
  /** Bytes that have arrived. */
  progress = 0
  /** Rejects the body while it arrives. */
  dropped: ((error: Error) => void) | undefined

  constructor(crowd: Crowd) {
    this.#crowd = crowd
    this.#account = new Account(Number.POSITIVE_INFINITY, crowd.buffered)
  }

  get held(): number {
    return this.#account.held
  }

  /**
   * Takes memory for bytes that have arrived. Announced bytes do not count, so a client that sends nothing holds
   * nothing.
   * @throws BufferFull when the limit is reached
   */
  take(bytes: number): void {
    this.progress += bytes
    if (!this.#account.take(bytes)) {
      if (this.#crowd.makesRoom(bytes, this) || Crowd.spares(this.held + bytes)) this.#account.put(bytes)
      else throw new BufferFull()
    }
    this.#crowd.note(this)
  }

  /** Ends the accounting of an arriving body, which is now complete. */
  arrived(): void {
    this.dropped = undefined
    this.#crowd.leave(this)
  }

  release(): void {
    this.arrived()
    this.#account.release()
  }

  sendAway(): void {
    this.dropped?.(new BufferFull())
  }
}

/**
 * Returns the body of a request.
 * @param isUnwanted called once when the body exceeds the size that unauthorized clients may send
 */
export function bodyOf(
  request: IncomingMessage,
  room: BodyRoom,
  limit: number,
  isUnwanted: () => boolean,
  mostUnwanted: number,
): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    const body = new Text()
    const receive = (chunk: Buffer): void => {
      const before = body.length
      const length = before + chunk.length
      try {
        if (length > limit) throw new BodyTooLarge(limit)
        if (before <= mostUnwanted && length > mostUnwanted && isUnwanted()) throw new Stranger()
        room.take(chunk.length)
      } catch (error) {
        drop(error as Error)
        return
      }
      body.add(chunk)
    }
    const drop = (error: Error): void => {
      room.release()
      body.drop()
      request.off('data', receive)
      reject(error)
    }
    room.dropped = drop
    request.on('data', receive)
    request.on('end', () => {
      room.arrived()
      resolve(body.all())
    })
    // The event "close" also follows an error.
    request.on('close', () => {
      if (!request.complete)
        drop(new ConnectionBroken('ECONNRESET', 'The client disconnected while it sent its request.'))
    })
  })
}

/** Chunks below this size would need several times their size as separate strings. */
const shortChunk = 4_096

/**
 * A text that arrives in parts and uses about as much memory as it is long. Short parts are collected before they
 * become strings. This is cheaper than a stream encoding, whose decoder searches for characters that are cut in two.
 */
class Text {
  #text = ''
  #short: Buffer | undefined
  #filled = 0

  get length(): number {
    return this.#text.length + this.#filled
  }

  add(chunk: Buffer): void {
    // Most bodies are one chunk.
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
