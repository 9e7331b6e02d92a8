import { type Bytes, fromArray, toArray } from '../../../src/kernel/bytes.js'
import type { Dialect } from '../../../src/protocol/dialect.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import type { Answered, Delivery, DriftRequest, OpenStream, Side } from './case.js'
import { type DriftDestination, deliveryOf, endpointResponse, endpointUrl } from './endpoint.js'
import { inDialect, nameInDialect, neutralHeaders } from './in-dialect.js'
import { StreamEvents } from './stream-events.js'

/** A new double in this process. Its virtual time begins at the current time and advances when a case waits. */
export class DoubleSide implements Side {
  readonly name: 'double' = 'double'
  readonly sandbox: Sandbox
  readonly #deliveries: Delivery[] = []

  constructor(
    readonly prefix: string,
    readonly dialect: Dialect,
    readonly reached: DriftDestination | undefined,
  ) {
    this.sandbox = createSandbox({ dialect, startAt: Date.now(), journal: false, onWarning: () => {} })
    if (reached === undefined) return
    const { origin, pathname } = new URL(reached.url)
    this.sandbox.destinations.on(`${origin}${pathname}*`, async (request) => {
      const delivery = deliveryOf(request.method, request.url, request.headers, await request.text(), dialect)
      this.#deliveries.push(delivery)
      const { status, headers, body } = endpointResponse(delivery, dialect)
      return new Response(body, { status, headers })
    })
  }

  undo(): void {
    // Each case has its own sandbox, so it leaves nothing to delete.
  }

  endpoint(asked: Readonly<Record<string, string | number>> = {}): string {
    return endpointUrl(this.reached, this.prefix, asked)
  }

  own(name: string): string {
    return nameInDialect(name, this.dialect)
  }

  deliveries(): readonly Delivery[] {
    return this.#deliveries
  }

  now(): number {
    return this.sandbox.clock.now()
  }

  async wait(milliseconds: number): Promise<void> {
    await this.sandbox.clock.advance(milliseconds)
  }

  async ask(ask: DriftRequest): Promise<Answered> {
    const response = await this.#fetch(ask)
    const body = fromArray(new Uint8Array(await response.arrayBuffer()))
    return { status: response.status, headers: neutralHeaders(response.headers, this.dialect), body }
  }

  async open(ask: DriftRequest): Promise<OpenStream> {
    const abort = new AbortController()
    const response = await this.#fetch(ask, abort.signal)
    return new StreamEvents(response, neutralHeaders(response.headers, this.dialect), abort)
  }

  #fetch(ask: DriftRequest, signal?: AbortSignal): Promise<Response> {
    const { urls, tokens } = this.sandbox
    const isStore = ask.service === 'store'
    const { url, headers } = inDialect(ask, {
      address: isStore ? urls.store : urls.queue,
      token: isStore ? tokens.store : tokens.queue,
      readOnlyToken: isStore ? tokens.storeReadonly : undefined,
      dialect: this.dialect,
    })
    return this.sandbox.fetch(url, {
      method: ask.method,
      headers,
      ...(ask.body !== undefined && { body: toArray(ask.body as Bytes) }),
      ...(signal !== undefined && { signal }),
    })
  }
}
