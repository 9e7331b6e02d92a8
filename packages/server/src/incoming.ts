import type { IncomingMessage } from 'node:http'
import { Account } from '../../../src/kernel/account.js'
import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import { ConnectionBroken } from '../../../src/kernel/http.js'
import { Crowd, type MemoryHolder } from '../../../src/store/resp/crowd.js'
import { BodyTooLarge, BufferFull } from './server-limits.js'

/** The sender of a body has no right to anything: no more of it is read. */
export class Stranger extends Error {}

/** What is held for one body, from its first byte until its request is answered. */
export class BodyRoom implements MemoryHolder {
  readonly #crowd: Crowd
  readonly #account: Account
  /** Bytes that have arrived. */
  progress = 0
  /** Refuses the body, as long as it arrives. */
  dropped: ((error: Error) => void) | undefined

  constructor(crowd: Crowd) {
    this.#crowd = crowd
    this.#account = new Account(Number.POSITIVE_INFINITY, crowd.buffered)
  }

  get held(): number {
    return this.#account.held
  }

  /**
   * For what has arrived, not for what was announced: who sends nothing holds nothing.
   * @throws BufferFull
   */
  take(bytes: number): void {
    this.progress += bytes
    if (!this.#account.take(bytes)) {
      if (this.#crowd.makesRoom(bytes, this) || Crowd.spares(this.held + bytes)) this.#account.put(bytes)
      else throw new BufferFull()
    }
    this.#crowd.note(this)
  }

  /** The body is whole: what becomes of its request is up to others. */
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
 * The body of a request.
 * @param isUnwanted is asked once when the body turns out to be longer than a stranger's may be
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
    // Comes after an error, too.
    request.on('close', () => {
      if (!request.complete) drop(new ConnectionBroken('ECONNRESET', 'The client went away while it sent its request.'))
    })
  })
}

/** A chunk that is shorter costs several times its size as a string of its own. */
const shortChunk = 4_096

/**
 * A text that comes in parts, and takes about as much memory as it is long: short parts are gathered before they become
 * strings. Cheaper than an encoding of the stream, whose decoder looks for chars that are cut in two.
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
