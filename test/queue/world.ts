import { createSandbox, type Policy } from 'stuntdouble'
import { type Bytes, text, utf8 } from '../../src/kernel/bytes.js'
import type { ClockMode } from '../../src/kernel/clock.js'
import type { DialectName } from '../../src/protocol/dialect.js'
import type { RawResponse } from '../../src/protocol/service.js'
import type { DeliveryHosts } from '../../src/queue/destinations/destinations.js'
import { engineOf } from '../../src/queue/queue-internals.js'
import { devUsers } from '../../src/queue/signing/public-users.js'
import type { SignatureWindow } from '../../src/queue/signing/signing.js'

export interface WorldOptions {
  dialect?: DialectName
  policy?: Partial<Policy>
  startAt?: string
  seed?: number
  clock?: ClockMode
  window?: SignatureWindow
  fetch?: typeof fetch
  deliver?: DeliveryHosts | undefined
}

export const [credentials] = devUsers

/** Sandbox for the tests of the queue, with plain requests instead of Request and Response. */
export function world({ startAt = '2030-01-01T00:00:00Z', window, deliver, ...options }: WorldOptions = {}) {
  const sandbox = createSandbox({
    startAt,
    ...options,
    ...(deliver && { deliverTo: deliver }),
    ...(window && { signatureWindow: window }),
  })
  const { clock, traffic, queue, destinations, policy, dialect } = sandbox
  const exchange = sandbox.exchange.bind(sandbox)
  async function send(method: string, path: string, init: CallInit = {}): Promise<Reply> {
    const base = init.base ?? 'https://queue.test'
    const headers = Object.entries(init.headers ?? {}).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    )
    const token = init.token === undefined ? credentials.token : init.token
    if (token !== null) headers.push(['authorization', `Bearer ${token}`])
    const given = init.body
    const isJson = given !== undefined && typeof given !== 'string'
    const body =
      given === undefined ? ('' as Bytes) : init.raw ? (given as Bytes) : utf8(isJson ? JSON.stringify(given) : given)
    return new Reply(await exchange({ method, url: base + path, headers, body: () => body }))
  }
  return { sandbox, clock, traffic, queue, engine: engineOf(queue), destinations, policy, dialect, exchange, send }
}

export type World = ReturnType<typeof world>

export interface CallInit {
  /** Values of a header that occurs several times. */
  headers?: Record<string, string | readonly string[]>
  body?: unknown
  /** Whether the body is a byte string already. */
  raw?: boolean
  token?: string | null
  base?: string
}

export class Reply {
  constructor(readonly answer: RawResponse) {}
  get status(): number {
    return this.answer.status
  }
  get text(): string {
    return this.answer.body === null ? '' : text(this.answer.body as Bytes)
  }
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of many shapes
  get json(): any {
    return JSON.parse(this.text)
  }
  header(name: string): string | undefined {
    return this.answer.headers.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
  }
}

export const shop = 'https://shop.test/orders'
