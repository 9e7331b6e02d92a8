import { type Bytes, text, toArray } from '../kernel/bytes.js'
import { type HeaderList, headerOf } from '../kernel/http.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { EntryBase, LoggedOutboundResponse, OutboundEntry } from '../kernel/traffic-log.js'
import { loggedAsJson } from '../kernel/views.js'
import { withoutCredentials } from '../protocol/gateway.js'

export interface OutboundRequestInternals {
  /** Headers as sent, including credentials that no log shows. */
  readonly sent: HeaderList
  /** Effects of the script's faults as text. The texts become the `note` of the response in the traffic log. */
  readonly told: string[]
}

export const outboundRequestInternals: Internals<OutboundRequest, OutboundRequestInternals> =
  internals('outbound-request')

/**
 * Outbound request of the app to an external host. The same object is the entry in the traffic log and the argument of
 * recorders and responders.
 */
export class OutboundRequest implements OutboundEntry, EntryBase {
  static {
    loggedAsJson(OutboundRequest)
  }

  readonly method: string
  readonly url: string
  readonly body: Bytes
  readonly type = 'outbound'
  seq = 0
  at = 0
  declare cause?: number
  declare possibleCauses?: readonly number[]
  handlerRuns = 0
  declare fault?: string
  declare response?: LoggedOutboundResponse
  declare endedAfterSeq?: number
  readonly headers: HeaderList
  readonly #sent: HeaderList

  /** @internal */
  constructor(method: string, url: string, sent: HeaderList, body: Bytes) {
    this.method = method
    this.url = url
    this.body = body
    this.#sent = sent
    this.headers = sent.map(withoutCredentials)
    outboundRequestInternals.attach(this, { sent, told: [] })
  }

  /**
   * Returns the value of a header as it was sent; `undefined` if the request has no such header. The case of the name
   * does not matter.
   * @example
   * const charges = sandbox.outbound.record('https://bank.test/charges')
   * await fetch('https://bank.test/charges', { headers: { 'Idempotency-Key': 'order-42' } })
   * expect(charges.last().header('idempotency-key')).toBe('order-42')
   */
  header(name: string): string | undefined {
    return headerOf(this.#sent, name.toLowerCase())
  }

  toJSON(): EntryBase & OutboundEntry {
    const {
      seq,
      at,
      cause,
      type,
      method,
      url,
      headers,
      body,
      possibleCauses,
      handlerRuns: handled,
      fault,
      response: answer,
      endedAfterSeq,
    } = this
    return {
      seq,
      at,
      ...(cause !== undefined && { cause }),
      type,
      method,
      url,
      headers,
      body,
      ...(possibleCauses !== undefined && { possibleCauses }),
      handlerRuns: handled,
      ...(fault !== undefined && { fault }),
      ...(answer !== undefined && { response: answer }),
      ...(endedAfterSeq !== undefined && { endedAfterSeq }),
    }
  }

  /** Body as bytes. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return toArray(this.body)
  }

  /**
   * Returns the body as text.
   * @example
   * const charges = sandbox.outbound.record('https://bank.test/charges')
   * await fetch('https://bank.test/charges', { method: 'POST', body: 'amount=42' })
   * expect(charges.last().text()).toBe('amount=42')
   */
  text(): string {
    return text(this.body)
  }

  /**
   * Parses the body as JSON.
   * @throws TypeError when the body is not JSON
   * @example
   * const charges = sandbox.outbound.record('https://bank.test/charges')
   * await fetch('https://bank.test/charges', { method: 'POST', body: '{"amount":42}' })
   * expect(charges.last().json()).toEqual({ amount: 42 })
   */
  json(): unknown {
    try {
      return JSON.parse(this.text())
    } catch {
      throw new TypeError(
        `json(): the body of ${this.method} ${this.url} is not JSON (got ${JSON.stringify(this.text().slice(0, 80))}). Read it with text() or bytes.`,
      )
    }
  }
}
