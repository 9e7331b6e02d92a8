import { OutboundRequest } from '../../../../src/calls/outbound-request.js'
import type { OutboundHandler } from '../../../../src/calls/outbound-responses.js'
import { text } from '../../../../src/kernel/bytes.js'
import { headerOf } from '../../../../src/kernel/http.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'

/**
 * Responses of external hosts by URL pattern. In a pattern, `*` matches any characters. Each entry is passed to
 * `sandbox.outbound.on(url, answer)`.
 */
export type OutboundHandlers = Readonly<Record<string, OutboundHandler>>

/** A request of the app that reached an external host. If the host handled the request twice, it is listed twice. */
export interface HandledOutbound {
  readonly method: string
  readonly url: string
  readonly body: string
  /** Idempotency key of the request. The host recognizes a repeated request by its key. */
  readonly idempotencyKey?: string | undefined
}

/**
 * Registers the responses of external hosts. The global `fetch` reaches these hosts until the returned function is
 * called.
 */
export function respondToOutbound(sandbox: Sandbox, answers: OutboundHandlers = {}): () => void {
  for (const [url, answer] of Object.entries(answers)) sandbox.outbound.on(url, answer)
  const before = globalThis.fetch
  const replacement: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    const { outbound } = sandbox
    return outbound.takes(request.method, request.url) ? outbound.fetch(request) : before.call(globalThis, input, init)
  }
  globalThis.fetch = replacement
  return () => {
    if (globalThis.fetch === replacement) globalThis.fetch = before
  }
}

/** Returns the requests that reached an external host. A request is not included if a fault kept it from the host. */
export function handledOutboundOf({ traffic }: Sandbox): readonly HandledOutbound[] {
  return traffic.ofType('outbound').flatMap((entry) => {
    const { method, url, body, headers, handlerRuns: handled } = entry
    const key = 'idempotency-key'
    const idempotencyKey = entry instanceof OutboundRequest ? entry.header(key) : headerOf(headers, key)
    return Array.from({ length: handled }, () => ({ method, url, body: text(body), idempotencyKey }))
  })
}
