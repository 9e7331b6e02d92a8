import type { IncomingMessage } from 'node:http'
import { Account } from '../kernel/account.js'
import { type Bytes, latin1 } from '../kernel/bytes.js'
import { ConnectionBroken } from '../kernel/http.js'
import { BodyTooLarge, BufferFull, largeBody, largeShare } from './limits.js'

/** The sender of a body has no right to anything: no more of it is read. */
export class Stranger extends Error {}

/** The bodies on their way in, of all connections: what one announces is held for it before its first byte is read. */
export class Incoming {
  readonly #all: Account
  /** Large bodies leave room for those of everyday requests, so that somebody who sends them slowly stops nobody else. */
  readonly #large: Account
  readonly #makeRoom: (bytes: number) => unknown

  /** @param makeRoom gives back what it can of `all` */
  constructor(all: Account, makeRoom: (bytes: number) => unknown) {
    this.#all = all
    this.#large = new Account(Math.floor(all.limit * largeShare), all)
    this.#makeRoom = makeRoom
  }

  /**
   * Room for a body.
   * @param announced its bytes, `undefined` where it comes in chunks
   * @throws BufferFull
   */
  room(announced: number | undefined): BodyRoom {
    const room = new BodyRoom(this.#all, this.#large, this.#makeRoom)
    if (announced !== undefined) room.take(announced)
    return room
  }
}

/** What is held for one body, until its request is answered. */
export class BodyRoom {
  readonly #large: Account
  readonly #makeRoom: (bytes: number) => unknown
  #held: Account
  #isLarge = false

  constructor(all: Account, large: Account, makeRoom: (bytes: number) => unknown) {
    this.#large = large
    this.#makeRoom = makeRoom
    this.#held = new Account(Number.POSITIVE_INFINITY, all)
  }

  /** @throws BufferFull */
  take(bytes: number): void {
    const sum = this.#held.held + bytes
    if (!this.#isLarge && sum > largeBody) {
      this.#held.release()
      this.#isLarge = true
      this.#held = new Account(Number.POSITIVE_INFINITY, this.#large)
      bytes = sum
    }
    if (this.#held.take(bytes)) return
    this.#makeRoom(bytes)
    if (!this.#held.take(bytes)) throw new BufferFull()
  }

  release(): void {
    this.#held.release()
  }
}

/**
 * The body of a request.
 * @param room where nothing was taken for a body that comes in chunks
 * @param isUnwanted is asked once when the body turns out to be longer than a stranger's may be
 */
export function bodyOf(
  request: IncomingMessage,
  announced: number | undefined,
  room: BodyRoom,
  limit: number,
  isUnwanted: () => boolean,
  mostUnwanted: number,
): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    const body = new Text()
    const receive = (chunk: Buffer): void => {
      const before = body.length
      if (announced === undefined) {
        const length = before + chunk.length
        try {
          if (length > limit) throw new BodyTooLarge(limit)
          if (before <= mostUnwanted && length > mostUnwanted && isUnwanted()) throw new Stranger()
          room.take(chunk.length)
        } catch (error) {
          body.drop()
          request.off('data', receive)
          reject(error)
          return
        }
      }
      body.add(chunk)
    }
    request.on('data', receive)
    request.on('end', () => resolve(body.all()))
    // Comes after an error, too.
    request.on('close', () => {
      if (request.complete) return
      body.drop()
      reject(new ConnectionBroken('ECONNRESET', 'The client went away while it sent its request.'))
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
