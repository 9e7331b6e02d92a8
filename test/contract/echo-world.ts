import { latin1, toBase64, utf8 } from '../../src/kernel/bytes.js'
import { Gate } from '../../src/kernel/gate.js'
import { ConnectionBroken } from '../../src/kernel/http.js'
import { locator, sandboxUrlsOf } from '../../src/protocol/address.js'
import { neutralDialect } from '../../src/protocol/dialect.js'
import { type EventStream, eventStream } from '../../src/protocol/event-stream.js'
import type { Exchange, RawRequest, RawResponse } from '../../src/protocol/service.js'
import { fetchThrough } from '../../src/protocol/web.js'

/** Replaces the services, and does on request what a sandbox does rarely. */
export class EchoWorld {
  readonly dialect = neutralDialect
  readonly received: RawRequest[] = []
  readonly streams: EventStream[] = []
  readonly streamEnds: string[] = []
  readonly #locate
  #release: (() => void)[] = []
  #ends: (() => void)[] = []

  constructor(readonly urls = sandboxUrlsOf()) {
    this.#locate = locator(urls)
  }

  owns(url: string): boolean {
    return this.#locate(url) !== undefined
  }

  readonly exchange: Exchange = (call) => {
    this.received.push(call)
    const path = call.url
      .replace(/^[a-z]+:\/\/[^/]+/, '')
      .replace(/^.*?(?=\/(echo|bytes|headers|status|stream|slow|broken|lost))/, '')
    if (path.startsWith('/status/'))
      return { status: Number(path.slice(8)), headers: [['x-own', 'yes']], body: latin1('text') }
    if (path.startsWith('/bytes')) return everyByte
    if (path.startsWith('/headers')) return manyHeaders
    if (path.startsWith('/stream')) return this.#stream(call)
    if (path.startsWith('/slow')) return this.#slow()
    if (path.startsWith('/broken')) throw new ConnectionBroken('ECONNRESET', 'the connection was reset')
    if (path.startsWith('/lost')) return Promise.reject(new ConnectionBroken('ECONNRESET', 'the answer was lost'))
    return echo(call)
  }

  readonly fetch = (input: Request | string | URL, init?: RequestInit): Promise<Response> =>
    fetchThrough(new Gate(), this.exchange, input, init)

  onDispose(end: () => void): () => void {
    this.#ends.push(end)
    return () => {
      this.#ends = this.#ends.filter((other) => other !== end)
    }
  }

  dispose(): void {
    for (const end of this.#ends.splice(0).reverse()) end()
  }

  /** Sends the slow responses. */
  release(): void {
    for (const release of this.#release.splice(0)) release()
  }

  #stream(call: RawRequest): RawResponse {
    const stream = eventStream({ signal: call.signal, onEnd: (reason) => this.streamEnds.push(reason) })
    this.streams.push(stream)
    stream.send(latin1('first'))
    return { status: 200, headers: [['content-type', 'text/event-stream']], body: stream.body }
  }

  async #slow(): Promise<RawResponse> {
    await new Promise<void>((resolve) => this.#release.push(resolve))
    return { status: 200, headers: [['content-type', 'text/plain']], body: latin1('slow') }
  }
}

export interface Echo {
  method: string
  url: string
  headers: Record<string, string>
  body: string
}

async function echo(call: RawRequest): Promise<RawResponse> {
  const seen: Echo = {
    method: call.method,
    url: call.url,
    headers: Object.fromEntries(call.headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: toBase64(await call.body()),
  }
  const body = call.method === 'HEAD' ? null : utf8(JSON.stringify(seen))
  return { status: 200, headers: [['content-type', 'application/json']], body }
}

export const allBytes = Uint8Array.from({ length: 256 }, (_, index) => index)
const everyByte: RawResponse = {
  status: 200,
  headers: [['content-type', 'application/octet-stream']],
  body: latin1(String.fromCharCode(...allBytes)),
}

/** More than the 50 to 100 lines at which some parsers stop. */
export const numberedHeaders: readonly [string, string][] = Array.from({ length: 120 }, (_, n) => [
  `x-n-${n}`,
  `v ${n}`,
])
const manyHeaders: RawResponse = {
  status: 200,
  headers: [['set-cookie', 'a=1'], ...numberedHeaders, ['set-cookie', 'b=2; path=/'], ['x-empty', '']],
  body: latin1('text'),
}
