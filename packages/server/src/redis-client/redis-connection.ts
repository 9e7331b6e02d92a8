import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Bytes } from '../../../../src/kernel/bytes.js'
import { utf8 } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { RealRedisUnreachable } from '../real-redis/real-redis-errors.js'
import { type EnginePlace, type EngineUrl, judged } from '../real-redis/redis-urls.js'
import { ReplyReader, type RespValue } from './reply-reader.js'

/** How an engine is reached. */
export interface RedisAccess {
  readonly url: EngineUrl
  /** Hosts that may be elsewhere than on this machine. */
  readonly allowed: readonly string[]
  /** Host milliseconds after which an engine that says nothing counts as gone. */
  readonly patience: number
}

interface Waiting {
  readonly resolve: (told: RespValue) => void
  readonly reject: (error: Error) => void
}

/**
 * One connection to one engine, in RESP2. What was sent when it breaks is rejected, and nothing is sent twice: behind the
 * same address may be another engine by then.
 */
export class EngineConnection {
  readonly #socket: Socket
  readonly #place: EnginePlace
  readonly #patience: number
  readonly #reader = new ReplyReader()
  #waiting: Waiting[] = []
  #timer: ReturnType<typeof hostSetTimeout> | undefined
  #over: RealRedisUnreachable | undefined
  /** Takes what nobody asked for any more: the messages of a subscription. */
  pushed: ((told: RespValue) => void) | undefined
  /** Is told once that it broke, or was closed. */
  ended: (() => void) | undefined

  private constructor(socket: Socket, place: EnginePlace, patience: number) {
    this.#socket = socket
    this.#place = place
    this.#patience = patience
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('error', (error) => this.#end(error.message))
    socket.on('close', () => this.#end('it closed the connection'))
  }

  /** @throws NotThere where nobody listens, TypeError for a host that is not allowed, ReplyError for a wrong password */
  static async open({ url, allowed, patience }: RedisAccess, place: EnginePlace = url): Promise<EngineConnection> {
    const { host, port } = await judged(place, allowed)
    const socket = await new Promise<Socket>((resolve, reject) => {
      const fail = (reason: string): void => {
        socket.destroy()
        reject(new RealRedisUnreachable(`The engine at ${nameOf(place)} is away: ${reason}.`))
      }
      const socket = url.tls
        ? connectTls({ host, port, ...(isIP(place.host) === 0 && { servername: place.host }) }, () => resolve(socket))
        : connectTcp({ host, port }, () => resolve(socket))
      socket.setTimeout(patience, () =>
        fail(url.tls ? 'it does not answer in TLS: without TLS its url begins with redis://' : 'it does not answer'),
      )
      socket.once('error', (error) => fail(error.message))
    })
    socket.setTimeout(0).removeAllListeners('timeout').removeAllListeners('error')
    const connection = new EngineConnection(socket, place, patience)
    const { user, password } = url
    if (password === undefined) return connection
    const told = await connection.send(['AUTH', ...(user === undefined ? [] : [user]), password].map(utf8))
    if (told instanceof ReplyError) {
      connection.close()
      throw new TypeError(
        `The engine at ${nameOf(place)} does not take the user and password of the url: ${told.message}`,
      )
    }
    return connection
  }

  get isOpen(): boolean {
    return this.#over === undefined
  }

  /** Sends one command. @returns its reply, an error reply as a value @throws NotThere */
  send(argv: readonly Bytes[]): Promise<RespValue> {
    if (this.#over !== undefined) return Promise.reject(this.#over)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (this.#waiting.length === 1) this.#wait()
      this.#socket.write(encoded(argv), 'latin1')
    })
  }

  /** Sends what has several replies, or none: they are pushed. */
  begin(argv: readonly Bytes[]): void {
    if (this.#over === undefined) this.#socket.write(encoded(argv), 'latin1')
  }

  close(): void {
    this.#end('it was closed')
  }

  #receive(chunk: Buffer): void {
    let told: RespValue[]
    try {
      told = this.#reader.push(chunk)
    } catch (error) {
      this.#end(`it does not speak the protocol of Redis: ${(error as Error).message}`)
      return
    }
    for (const reply of told) {
      const first = this.#waiting.shift()
      if (first === undefined) this.pushed?.(reply)
      else first.resolve(reply)
    }
    this.#wait()
  }

  /** The oldest command is waited for so long, from the last sign of life on. */
  #wait(): void {
    hostClearTimeout(this.#timer)
    if (this.#waiting.length === 0) return
    this.#timer = hostSetTimeout(
      () =>
        this.#end(
          `it has not answered for ${this.#patience} ms (a script that does not end is ended with SCRIPT KILL)`,
        ),
      this.#patience,
    )
  }

  #end(reason: string): void {
    if (this.#over !== undefined) return
    this.#over = away(this.#place, reason)
    hostClearTimeout(this.#timer)
    this.#socket.destroy()
    for (const { reject } of this.#waiting.splice(0)) reject(this.#over)
    this.ended?.()
  }
}

export function nameOf({ host, port }: EnginePlace): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function away(place: EnginePlace, reason: string): RealRedisUnreachable {
  return new RealRedisUnreachable(
    `The engine at ${nameOf(place)} is away: ${reason}. What was sent last may have been done.`,
  )
}

function encoded(argv: readonly Bytes[]): string {
  let out = `*${argv.length}\r\n`
  for (const word of argv) out += `$${word.length}\r\n${word}\r\n`
  return out
}
