import { bindMethods } from '../kernel/bind-methods.js'
import type { HeaderList } from '../kernel/http.js'
import type { Step } from '../queue/destinations/delivery-script.js'
import type { DestinationResponse } from '../queue/destinations/destination-responses.js'
import { shownUrl } from '../secrets/urls.js'
import type { ControlClient } from './control-client.js'
import { type MessageView, type OnWire, viewOf } from './remote-views.js'

/** The destinations of deliveries of a tenant: `sandbox.destinations`. */
export class RemoteDestinations {
  static {
    bindMethods(RemoteDestinations)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  /**
   * Always throws, because a function cannot be sent to the server. The server delivers over HTTP to the URL on which
   * your app listens.
   * @throws TypeError in every case
   * @example expect(() => sandbox.destinations.on('https://shop.test/orders', ordersRoute)).toThrow(TypeError)
   */
  on(pattern: string | URL, _handler: unknown): never {
    throw new TypeError(
      `destinations.on(): a remote sandbox cannot call a function (got one for ${pattern}). Publish to the URL where your app listens, or use respond(), script() or record().`,
    )
  }

  /**
   * Sets the responses to the next deliveries, one step per delivery.
   * @example await sandbox.destinations.script('https://shop.test/orders', [503, fault.reset(), 200])
   */
  async script(pattern: string | URL, steps: readonly (Step | number)[]): Promise<void> {
    await this.#wire.post('/destinations/script', { to: String(pattern), steps })
  }

  /**
   * Sets the response to every delivery to a URL.
   * @example await sandbox.destinations.respond('https://shop.test/orders', { status: 201, body: { ok: true } })
   */
  async respond(pattern: string | URL, answer: Exclude<DestinationResponse, Response>): Promise<void> {
    await this.#wire.post('/destinations/respond', {
      to: String(pattern),
      response: portable('destinations.respond', answer),
    })
  }

  /**
   * Records every delivery to a URL and returns the recorder. The response is 200 unless you pass another response.
   * @example
   * const orders = await sandbox.destinations.record('https://shop.test/orders')
   * await sandbox.queue.publish({ to: 'https://shop.test/orders' })
   * await sandbox.clock.drain()
   * expect(await orders.count).toBe(1)
   */
  async record(pattern: string | URL, answer?: Exclude<DestinationResponse, Response>): Promise<RemoteRecorder> {
    const to = String(pattern)
    await this.#wire.post('/destinations/record', {
      to,
      ...(answer !== undefined && { response: portable('destinations.record', answer) }),
    })
    return new RemoteRecorder(this.#wire, to)
  }

  /**
   * Removes the handler, response, script or recorder of a URL, or of all URLs.
   * @example
   * await sandbox.destinations.respond('https://shop.test/*', 503)
   * await sandbox.destinations.off('https://shop.test/*')
   */
  async off(pattern?: string | URL): Promise<void> {
    await this.#wire.send('DELETE', pattern === undefined ? '/destinations' : `/destinations?${toQuery(pattern)}`)
  }

  /** Messages about deliveries to URLs without a destination. */
  get unhandled(): Promise<readonly string[]> {
    return this.#wire.get('/destinations').then((facts) => (facts as { unhandled: readonly string[] }).unhandled)
  }

  /** Scripts with unused steps. */
  get unused(): Promise<readonly { readonly pattern: string; readonly steps: readonly Step[] }[]> {
    return this.#wire
      .get('/destinations')
      .then((facts) => (facts as { unused: readonly { pattern: string; steps: readonly Step[] }[] }).unused)
  }
}

/** A delivery that a recorder on the server has recorded. */
export interface RecordedDelivery {
  /** ID of the delivered message, `msg_…`. */
  readonly messageId: string
  /** Kind of the message: `message`, `callback` or `failure-callback`. */
  readonly kind: string
  /** URL of the destination. */
  readonly url: string
  /** HTTP method of the delivery. */
  readonly method: string
  /** Virtual time of the attempt, in milliseconds since the epoch. */
  readonly at: number
  /** Number of retries up to this attempt; 0 for the first attempt. */
  readonly retried: number
  /** Headers of the delivery, in their order. */
  readonly headers: HeaderList
  /** Body of the delivery: a string with one character per byte. */
  readonly body: MessageView['body']
}

/** The deliveries that a destination on a server has recorded. */
export class RemoteRecorder {
  static {
    bindMethods(RemoteRecorder)
  }

  readonly #wire: ControlClient
  readonly #to: string

  /** @internal */
  constructor(wire: ControlClient, to: string) {
    this.#wire = wire
    this.#to = to
  }

  /** The recorded deliveries, oldest first. */
  get requests(): Promise<readonly RecordedDelivery[]> {
    return this.#wire
      .list(`/destinations/recorded?${toQuery(this.#to)}`)
      .then((wire) => (wire as OnWire<RecordedDelivery>[]).map((request) => viewOf(request)))
  }

  /** Number of recorded deliveries. */
  get count(): Promise<number> {
    return this.requests.then((requests) => requests.length)
  }

  /**
   * Returns the latest recorded delivery.
   * @throws Error when no delivery has arrived
   * @example
   * const orders = await sandbox.destinations.record('https://shop.test/orders')
   * await sandbox.queue.publish({ to: 'https://shop.test/orders' })
   * await sandbox.clock.drain()
   * await orders.last()
   */
  async last(): Promise<RecordedDelivery> {
    const last = (await this.requests).at(-1)
    if (last !== undefined) return last
    throw new Error(
      `last(): no delivery has arrived at ${shownUrl(this.#to)} yet. Await clock.drain() or clock.advance() first.`,
    )
  }
}

/**
 * Returns a response that can be sent as JSON.
 * @throws TypeError for a function, a `Response` or binary data, which JSON would change without an error; the server
 * checks everything else
 */
export function portable(call: string, answer: unknown): unknown {
  const body = typeof answer === 'object' && answer !== null && 'body' in answer ? answer.body : undefined
  const odd = [answer, body].find(
    (part) => typeof part === 'function' || part instanceof Response || ArrayBuffer.isView(part),
  )
  if (odd === undefined) return answer
  const what = typeof odd === 'function' ? 'a function' : Object.prototype.toString.call(odd).slice(8, -1)
  throw new TypeError(
    `${call}(): the response must be a status or { status, headers, body } (got ${what}). Use a body that is a string or a JSON value.`,
  )
}

function toQuery(pattern: string | URL): string {
  return new URLSearchParams({ to: String(pattern) }).toString()
}
