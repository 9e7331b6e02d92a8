import { addressesOf, locator } from '../../src/http/address.js'
import { createGateway } from '../../src/http/gateway.js'
import type { Answer, Service } from '../../src/http/service.js'
import { ownHeader, type VocabularyName, vocabularyOf } from '../../src/http/vocabulary.js'
import { type Bytes, text, utf8 } from '../../src/kernel/bytes.js'
import { type ClockMode, instant, VirtualClock } from '../../src/kernel/clock.js'
import { createRandom } from '../../src/kernel/random.js'
import { Traffic } from '../../src/kernel/traffic.js'
import { defaultPolicy, type Policy } from '../../src/policy.js'
import { defaultReadOnlyToken, publicCredentials } from '../../src/queue/credentials.js'
import { Destinations, type DestinationsOptions } from '../../src/queue/destinations.js'
import { queueService } from '../../src/queue/endpoints.js'
import { Queue } from '../../src/queue/queue.js'
import type { SignatureWindow } from '../../src/queue/signing.js'

export interface WorldOptions {
  vocabulary?: VocabularyName
  policy?: Partial<Policy>
  startAt?: string
  seed?: number
  clock?: ClockMode
  window?: SignatureWindow
  destinations?: DestinationsOptions
}

export const [credentials] = publicCredentials

/** A queue behind its HTTP face, and nothing else. */
export function world(options: WorldOptions = {}) {
  const vocabulary = vocabularyOf(options.vocabulary ?? 'service')
  const clock = new VirtualClock({
    startAt: instant(options.startAt ?? '2030-01-01T00:00:00Z'),
    mode: options.clock ?? 'manual',
  })
  const random = createRandom(options.seed ?? 1)
  const traffic = new Traffic(() => clock.now())
  const policy = { ...defaultPolicy, ...options.policy }
  const words = {
    header: (name: string) => ownHeader(name, vocabulary),
    issuer: vocabulary.issuer,
    userAgent: vocabulary.userAgent,
  }
  const destinations = new Destinations({
    nonRetryableHeader: words.header('NonRetryable-Error'),
    followRedirects: policy.followRedirects,
    unhandled: policy.unhandledDestination,
    refusedHosts: vocabulary.productionHosts,
    ...options.destinations,
  })
  const queue = new Queue({
    clock,
    random: random.fork('queue'),
    traffic,
    policy,
    words,
    destinations,
    keys: credentials,
    ...(options.window && { signing: { window: options.window } }),
  })
  const service = queueService(queue, { vocabulary, token: credentials.token, readOnlyToken: defaultReadOnlyToken })
  const exchange = createGateway({
    locate: locator(addressesOf()),
    vocabulary,
    services: [service as unknown as Service],
    clock,
    traffic,
  })
  async function send(method: string, path: string, init: CallInit = {}): Promise<Reply> {
    const base = init.base ?? 'https://queue.test'
    const headers = Object.entries(init.headers ?? {})
    const token = init.token === undefined ? credentials.token : init.token
    if (token !== null) headers.push(['authorization', `Bearer ${token}`])
    const given = init.body
    const isJson = given !== undefined && typeof given !== 'string'
    const body =
      given === undefined ? ('' as Bytes) : init.raw ? (given as Bytes) : utf8(isJson ? JSON.stringify(given) : given)
    return new Reply(await exchange({ method, url: base + path, headers, body: () => body }))
  }
  return { clock, traffic, queue, destinations, policy, vocabulary, exchange, send }
}

export type World = ReturnType<typeof world>

export interface CallInit {
  headers?: Record<string, string>
  body?: unknown
  /** The body is a byte string already. */
  raw?: boolean
  token?: string | null
  base?: string
}

export class Reply {
  constructor(readonly answer: Answer) {}
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
