import type { UnusedScript } from '../calls/outbound.js'
import type { OutboundResponse } from '../calls/outbound-responses.js'
import type { Fault } from '../faults/fault.js'
import { bindMethods } from '../kernel/bind-methods.js'
import type { HeaderList } from '../kernel/http.js'
import type { LoggedOutboundResponse } from '../kernel/traffic-log.js'
import { shownUrl } from '../secrets/urls.js'
import type { ControlClient } from './control-client.js'
import { portable } from './remote-destinations.js'
import { type MessageView, type OnWire, viewOf } from './remote-views.js'

/**
 * Returns the URL on a server that replaces an external host such as `https://bank.test`.
 * @param base URL of the tenant
 */
export function outboundUrlAt(base: string, host: string | URL): string {
  return `${base}/outbound/${String(host).replace(/\/+$/, '')}`
}

interface Facts {
  readonly unhandled: readonly string[]
  readonly unused: readonly UnusedScript[]
}

/** The external hosts of outbound requests of a tenant: `sandbox.outbound`. */
export class RemoteOutbound {
  static {
    bindMethods(RemoteOutbound)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  /**
   * Returns the URL on the server that replaces an external host such as `https://bank.test`. The server responds only
   * to requests for which a response is registered, and never forwards a request.
   * @example process.env.BANK_URL = sandbox.outbound.urlFor('https://bank.test')
   */
  urlFor(host: string | URL): string {
    return outboundUrlAt(this.#wire.tenant, host)
  }

  /**
   * Always throws, because a function cannot be sent to the server.
   * @throws TypeError in every case
   * @example expect(() => sandbox.outbound.on('https://bank.test/charges', () => 200)).toThrow(TypeError)
   */
  on(pattern: string | URL, _handler: unknown): never {
    throw new TypeError(
      `outbound.on(): a remote sandbox cannot call a function (got one for ${pattern}). Use outbound.respond(), script() or record(), or let the app send its requests to your own test server.`,
    )
  }

  /**
   * Sets the responses to the next outbound requests, one step per request.
   * @example await sandbox.outbound.script('https://bank.test/charges', [fault.lostAck(), 503])
   */
  async script(pattern: string | URL, steps: readonly (Fault | number)[]): Promise<void> {
    await this.#wire.post('/outbound/script', { url: String(pattern), steps })
  }

  /**
   * Sets the response to every outbound request to a URL.
   * @example await sandbox.outbound.respond('https://bank.test/charges', { status: 201, body: { id: 'ch_1' } })
   */
  async respond(pattern: string | URL, answer: Exclude<OutboundResponse, Response>): Promise<void> {
    await this.#wire.post('/outbound/respond', { url: String(pattern), response: portable('outbound.respond', answer) })
  }

  /**
   * Records every outbound request to a URL and returns the recorder.
   * @example
   * const charges = await sandbox.outbound.record('https://bank.test/charges')
   * await fetch(`${sandbox.outbound.urlFor('https://bank.test')}/charges`, { method: 'POST' })
   * expect(await charges.count).toBe(1)
   */
  async record(pattern: string | URL, answer?: Exclude<OutboundResponse, Response>): Promise<RemoteOutboundRecorder> {
    const to = String(pattern)
    const given = answer === undefined ? {} : { response: portable('outbound.record', answer) }
    await this.#wire.post('/outbound/record', { url: to, ...given })
    return new RemoteOutboundRecorder(this.#wire, to)
  }

  /**
   * Removes the response, script or recorder of a URL, or of all URLs.
   * @example
   * await sandbox.outbound.respond('https://bank.test/*', 200)
   * await sandbox.outbound.off('https://bank.test/*')
   */
  async off(pattern?: string | URL): Promise<void> {
    const query = pattern === undefined ? '' : `?${new URLSearchParams({ url: String(pattern) })}`
    await this.#wire.send('DELETE', `/outbound${query}`)
  }

  /** Messages about outbound requests that the server rejected, because no response is registered for them. */
  get unhandled(): Promise<readonly string[]> {
    return this.#facts().then(({ unhandled }) => unhandled)
  }

  /** Scripts with unused steps. */
  get unused(): Promise<readonly UnusedScript[]> {
    return this.#facts().then(({ unused }) => unused)
  }

  #facts(): Promise<Facts> {
    return this.#wire.get('/outbound') as Promise<Facts>
  }
}

/** An outbound request that a recorder on the server has recorded. Credentials are replaced by `***`. */
export interface RecordedOutbound {
  /** URL as received. */
  readonly url: string
  /** HTTP method of the request. */
  readonly method: string
  /** Virtual time of the request, in milliseconds since the epoch. */
  readonly at: number
  /** Headers as received. The value of `authorization` is replaced by its scheme and `***`. */
  readonly headers: HeaderList
  /** Body of the request: a string with one character per byte. */
  readonly body: MessageView['body']
  /**
   * Number of times that the handler of the request ran: 0 if a fault prevented the run, 2 if a fault repeated the
   * request.
   */
  readonly handlerRuns: number
  /** Status that the app received; 0 if there was no response, absent until the request ends. */
  readonly status?: LoggedOutboundResponse['status']
}

/** The outbound requests that a server has recorded for a URL. */
export class RemoteOutboundRecorder {
  static {
    bindMethods(RemoteOutboundRecorder)
  }

  readonly #wire: ControlClient
  readonly #to: string

  /** @internal */
  constructor(wire: ControlClient, to: string) {
    this.#wire = wire
    this.#to = to
  }

  /** The recorded requests, oldest first. */
  get requests(): Promise<readonly RecordedOutbound[]> {
    return this.#wire
      .list(`/outbound/recorded?${new URLSearchParams({ url: this.#to })}`)
      .then((wire) => (wire as OnWire<RecordedOutbound>[]).map((call) => viewOf(call)))
  }

  /** Number of recorded requests. */
  get count(): Promise<number> {
    return this.requests.then((requests) => requests.length)
  }

  /**
   * Returns the latest recorded request.
   * @throws Error when no request has arrived
   * @example
   * const charges = await sandbox.outbound.record('https://bank.test/charges')
   * await fetch(`${sandbox.outbound.urlFor('https://bank.test')}/charges`, { method: 'POST' })
   * await charges.last()
   */
  async last(): Promise<RecordedOutbound> {
    const last = (await this.requests).at(-1)
    if (last !== undefined) return last
    throw new Error(
      `last(): no outbound request has arrived at ${shownUrl(this.#to)} yet. Await clock.drain() or clock.advance() first.`,
    )
  }
}
