import { type Bytes, text, toArray } from '../kernel/bytes.js'
import { type HeaderList, headerOf } from '../kernel/http.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { EntryBase, LoggedOutboundResponse, OutboundEntry } from '../kernel/traffic-log.js'
import { loggedAsJson } from '../kernel/views.js'
import { withoutCredentials } from '../protocol/gateway.js'

export interface ForeignCallInternals {
  /** The headers as they were sent, with what no log shows. */
  readonly sent: HeaderList
  /** What scripts did to it, for the note of its answer. */
  readonly told: string[]
}

export const foreignCallInternals: Internals<OutboundRequest, ForeignCallInternals> = internals('foreign-call')

/** One call of the app to a foreign host: its entry in the traffic log, and what recorders and handlers get. */
export class OutboundRequest implements OutboundEntry, EntryBase {
  static {
    loggedAsJson(OutboundRequest)
  }

  readonly type = 'call'
  seq = 0
  at = 0
  declare cause?: number
  declare couldBe?: readonly number[]
  handled = 0
  declare fault?: string
  declare answer?: LoggedOutboundResponse
  declare endedAfter?: number
  readonly headers: HeaderList
  readonly #sent: HeaderList

  constructor(
    readonly method: string,
    readonly url: string,
    sent: HeaderList,
    readonly body: Bytes,
  ) {
    this.#sent = sent
    this.headers = sent.map(withoutCredentials)
    foreignCallInternals.attach(this, { sent, told: [] })
  }

  /** A header as it was sent, its name in any case; `undefined` when there is none. */
  header(name: string): string | undefined {
    return headerOf(this.#sent, name.toLowerCase())
  }

  toJSON(): EntryBase & OutboundEntry {
    const { seq, at, cause, type, method, url, headers, body, couldBe, handled, fault, answer, endedAfter } = this
    return {
      seq,
      at,
      ...(cause !== undefined && { cause }),
      type,
      method,
      url,
      headers,
      body,
      ...(couldBe !== undefined && { couldBe }),
      handled,
      ...(fault !== undefined && { fault }),
      ...(answer !== undefined && { answer }),
      ...(endedAfter !== undefined && { endedAfter }),
    }
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return toArray(this.body)
  }

  text(): string {
    return text(this.body)
  }

  /** @throws TypeError when the body is not JSON */
  json(): unknown {
    try {
      return JSON.parse(this.text())
    } catch {
      throw new TypeError(
        `The call ${this.method} ${this.url} does not have a JSON body: ${JSON.stringify(this.text().slice(0, 80))}. Read it with .text() or .bytes.`,
      )
    }
  }
}
