import { OutboundRequest } from '../../../../src/calls/outbound-request.js'
import type { OutboundHandler } from '../../../../src/calls/outbound-responses.js'
import { text } from '../../../../src/kernel/bytes.js'
import { headerOf } from '../../../../src/kernel/http.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'

/** Answers of foreign hosts by url, `*` standing for any characters: the same as `sandbox.outbound.on(url, answer)`. */
export type OutboundHandlers = Readonly<Record<string, OutboundHandler>>

/** What a foreign host did for the app: once for each time that it did it. */
export interface HandledOutbound {
  readonly method: string
  readonly url: string
  readonly body: string
  /** What the host recognises a repeated call by. */
  readonly idempotencyKey?: string | undefined
}

/** Registers the answers, and lets the global `fetch` reach what `sandbox.outbound` has, until the returned function is called. */
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

/** What foreign hosts have done. A call that a fault kept from them is none. */
export function handledOutboundOf({ traffic }: Sandbox): readonly HandledOutbound[] {
  return traffic.ofType('outbound').flatMap((entry) => {
    const { method, url, body, headers, handlerRuns: handled } = entry
    const key = 'idempotency-key'
    const idempotencyKey = entry instanceof OutboundRequest ? entry.header(key) : headerOf(headers, key)
    return Array.from({ length: handled }, () => ({ method, url, body: text(body), idempotencyKey }))
  })
}
