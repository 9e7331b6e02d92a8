import type { ServerResponse } from 'node:http'
import { Account } from '../kernel/account.js'
import { untakenShare } from './limits.js'

/** Answers that their readers have not taken yet, of all connections. When they are too many, the oldest is dropped. */
export class Outgoing {
  readonly #all: Account
  readonly #patience: number
  readonly #waiting = new Map<ServerResponse, Account>()

  /**
   * @param above of which answers may take half: what comes in shall not have to wait for who does not read
   * @param patience host milliseconds in which a reader has to take something
   */
  constructor(above: Account, patience: number) {
    this.#all = new Account(Math.floor(above.limit * untakenShare), above)
    this.#patience = patience
  }

  /** Drops the readers that have waited longest until so many bytes are free, or `false` when nothing is left to drop. */
  makeRoom(bytes: number): boolean {
    for (const [response, held] of this.#waiting) {
      if (this.#all.left >= bytes) return true
      held.release()
      this.#waiting.delete(response)
      response.req.socket.destroy()
    }
    return this.#all.left >= bytes
  }

  /** Counts what was written until it is taken; drops its reader where there is no room even without all others. */
  hold(response: ServerResponse, bytes: number): void {
    if (!this.makeRoom(bytes)) {
      response.req.socket.destroy()
      return
    }
    let held = this.#waiting.get(response)
    if (held === undefined) {
      held = new Account(Number.POSITIVE_INFINITY, this.#all)
      this.#waiting.set(response, held)
      const { socket } = response.req
      // Node itself destroys a connection whose time is over; bytes that its reader takes begin it anew.
      socket.setTimeout(this.#patience)
      response.prependOnceListener('finish', () => socket.setTimeout(0))
      response.once('close', () => this.taken(response))
    }
    held.take(bytes)
  }

  /** The reader has everything, or has gone. */
  taken(response: ServerResponse): void {
    this.#waiting.get(response)?.release()
    this.#waiting.delete(response)
  }
}
