import type { ServerResponse } from 'node:http'
import { Account } from '../../../src/kernel/account.js'
import type { ChunkHolder, HeldChunks } from '../../../src/protocol/event-stream.js'
import type { Crowd, MemoryHolder } from '../../../src/store/resp/crowd.js'
import { takenFrom } from './sockets.js'

/** Keeps account of the memory of responses that clients have not received yet. */
export class Outgoing {
  readonly #crowd: Crowd
  readonly #patience: number
  readonly #readers = new WeakMap<ServerResponse, AnswerReader>()

  /** @param patience time in which a client must receive at least one byte, in milliseconds of host time */
  constructor(crowd: Crowd, patience: number) {
    this.#crowd = crowd
    this.#patience = patience
  }

  /** Counts written bytes until the client has received them. Disconnects the client if the memory limit is reached. */
  hold(response: ServerResponse, bytes: number): void {
    const reader = this.#readers.get(response) ?? this.#readerOf(response)
    const { socket } = response.req
    // Node.js destroys the connection after this timeout. The timeout starts again whenever the client receives bytes.
    if (reader.held === 0) socket.setTimeout(this.#patience)
    if (!reader.hold(bytes)) socket.destroy()
  }

  /** Ends the accounting of a response that the client has received completely. */
  taken(response: ServerResponse): void {
    const reader = this.#readers.get(response)
    if (reader === undefined || reader.held === 0) return
    reader.forget()
    response.req.socket.setTimeout(0)
  }

  #readerOf(response: ServerResponse): AnswerReader {
    const reader = new AnswerReader(response, this.#crowd)
    this.#readers.set(response, reader)
    response.prependOnceListener('finish', () => this.taken(response))
    response.once('close', () => reader.forget())
    return reader
  }
}

/** The client that receives a response. */
class AnswerReader implements MemoryHolder {
  readonly #response: ServerResponse
  readonly #crowd: Crowd
  readonly #account: Account

  constructor(response: ServerResponse, crowd: Crowd) {
    this.#response = response
    this.#crowd = crowd
    this.#account = new Account(Number.POSITIVE_INFINITY, crowd.buffered)
  }

  get held(): number {
    return this.#account.held
  }

  get progress(): number {
    return takenFrom(this.#response.req.socket)
  }

  hold(bytes: number): boolean {
    if (!this.#account.take(bytes)) {
      if (!this.#crowd.makesRoom(bytes, this)) return false
      this.#account.put(bytes)
    }
    this.#crowd.note(this)
    return true
  }

  forget(): void {
    this.#account.release()
    this.#crowd.leave(this)
  }

  sendAway(): void {
    this.forget()
    this.#response.req.socket.destroy()
  }
}

/** The client that receives an event stream. A chunk that is shared with other clients is counted only once. */
export class HeldStream implements MemoryHolder, ChunkHolder {
  readonly #response: ServerResponse
  readonly #crowd: Crowd
  readonly #all: HeldChunks
  /** Number of pending copies of each chunk: the chunk was sent to this client, but has not been received yet. */
  readonly #own = new Map<Uint8Array, number>()
  held = 0

  constructor(response: ServerResponse, crowd: Crowd, all: HeldChunks) {
    this.#response = response
    this.#crowd = crowd
    this.#all = all
  }

  get progress(): number {
    return takenFrom(this.#response.req.socket)
  }

  hold(chunk: Uint8Array): boolean {
    if (!this.#all.hold(chunk) && !(this.#crowd.makesRoom(chunk.length, this) && this.#all.hold(chunk))) return false
    this.#own.set(chunk, (this.#own.get(chunk) ?? 0) + 1)
    this.held += chunk.length
    this.#crowd.note(this)
    return true
  }

  holds(chunk: Uint8Array): boolean {
    return this.#own.has(chunk)
  }

  letGo(chunk: Uint8Array): void {
    const times = this.#own.get(chunk)
    if (times === undefined) return
    if (times > 1) this.#own.set(chunk, times - 1)
    else this.#own.delete(chunk)
    this.#all.letGo(chunk)
    this.held -= chunk.length
    this.#crowd.note(this)
  }

  sendAway(): void {
    for (const [chunk, times] of [...this.#own]) for (let time = 0; time < times; time++) this.letGo(chunk)
    this.#response.destroy()
  }
}
