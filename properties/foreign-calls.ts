import { AddressPattern } from '../src/kernel/address-pattern.js'

/** Answers of foreign hosts by url, `*` standing for any characters. */
export type ForeignAnswers = Readonly<Record<string, (request: Request) => Response | Promise<Response>>>

/** A call that left for a foreign host. */
export interface ForeignCall {
  readonly method: string
  readonly url: string
  readonly body: string
  /** What the host recognises a repeated call by. */
  readonly idempotencyKey?: string | undefined
}

/**
 * Answers these hosts instead of the global `fetch`, until the returned function is called.
 * @param asked hears of every call; one for which it answers false never gets an answer
 */
export function answerCalls(answers: ForeignAnswers, asked: (call: ForeignCall) => unknown): () => void {
  const before = globalThis.fetch
  const routes = Object.entries(answers).map(([url, answer]) => ({ pattern: new AddressPattern(url), answer }))
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const route = routes.find(({ pattern }) => pattern.matches(request.url))
    if (route === undefined) return before.call(globalThis, input, init)
    const { method, url } = request
    const idempotencyKey = request.headers.get('idempotency-key') ?? undefined
    const body = await request.clone().text()
    return asked({ method, url, body, idempotencyKey }) === false ? new Promise(() => {}) : route.answer(request)
  }
  return () => {
    globalThis.fetch = before
  }
}
