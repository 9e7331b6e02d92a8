import { type Addresses, type AddressOptions, addressesOf, type Locate, locator } from './http/address.js'
import { createGateway } from './http/gateway.js'
import type { Answer, Call, Exchange, Service } from './http/service.js'
import { type Vocabulary, type VocabularyName, vocabularyOf } from './http/vocabulary.js'
import { fetchThrough } from './http/web.js'
import { type ClockMode, type Instant, instant, VirtualClock } from './kernel/clock.js'
import { createRandom, type Random } from './kernel/random.js'
import { Traffic } from './kernel/traffic.js'
import { defaultPolicy, type Policy } from './policy.js'
import { Access } from './store/access.js'
import { DirectStore } from './store/direct.js'
import { storeService } from './store/endpoints.js'
import { Store } from './store/store.js'

export interface SandboxOptions extends AddressOptions {
  /** Replays everything that is left to chance: ids, random replies, dice. Default 1. */
  readonly seed?: number | string
  /** Virtual time at the start: ISO text, `Date` or milliseconds. Default `2030-01-01T00:00:00Z`. */
  readonly startAt?: Instant
  /** `manual` (default): the test moves time. `auto`: time skips when nothing runs. `real`: time runs with the host. */
  readonly clock?: ClockMode
  readonly vocabulary?: VocabularyName | Vocabulary
  readonly policy?: Partial<Policy>
  /** Tokens of the data store. Made from the seed when not given. */
  readonly storeToken?: string
  readonly readonlyToken?: string
  /** Receives warnings, `console.warn` by default. */
  readonly warn?: (text: string) => void
}

export const defaultStart = '2030-01-01T00:00:00Z'

/**
 * One isolated world: a data store, a message queue and statistics on one clock, one seed and one traffic log.
 * @example
 * using sandbox = createSandbox({ seed: 7, vocabulary: 'upstash' })
 * const answer = await sandbox.fetch(`${sandbox.addresses.store}/set/greeting/hello`, {
 *   headers: { authorization: `Bearer ${sandbox.tokens.store}` },
 * })
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new Sandbox(options)
}

/** Everything that a reset makes anew. */
interface World {
  readonly clock: VirtualClock
  readonly random: Random
  readonly traffic: Traffic
  readonly store: DirectStore
  readonly exchange: Exchange
}

export class Sandbox {
  readonly options: SandboxOptions
  readonly vocabulary: Vocabulary
  readonly policy: Policy
  readonly addresses: Addresses
  readonly tokens: { readonly store: string; readonly readonly: string }
  readonly #locate: Locate
  readonly #disposals: (() => void)[] = []
  #world: World

  constructor(options: SandboxOptions) {
    this.options = options
    this.vocabulary = vocabularyOf(options.vocabulary ?? 'service')
    this.policy = { ...defaultPolicy, ...options.policy }
    this.addresses = addressesOf(options)
    this.#locate = locator(this.addresses)
    this.tokens = { store: options.storeToken ?? 'store-token', readonly: options.readonlyToken ?? 'readonly-token' }
    this.#world = this.#build()
  }

  /** The one clock: `advance`, `advanceTo`, `drain`, `pending`, `follow`. */
  get clock(): VirtualClock {
    return this.#world.clock
  }

  /** Everything that happened, in order. */
  get traffic(): Traffic {
    return this.#world.traffic
  }

  /** The data store, spoken to directly. */
  get store(): DirectStore {
    return this.#world.store
  }

  /** Whether a url belongs to this sandbox. */
  owns(url: string): boolean {
    return this.#locate(url) !== undefined
  }

  /** One request as plain values: what every adapter calls. */
  exchange(call: Call): Answer | Promise<Answer> {
    return this.#world.exchange(call)
  }

  /**
   * The three services as a `fetch` function. Urls of other origins are refused: this never reaches a network.
   * A property, so that it can be handed on: `new Client({ fetch: sandbox.fetch })`.
   */
  readonly fetch: (input: Request | string | URL, init?: RequestInit) => Promise<Response> = (input, init) =>
    fetchThrough((call) => this.exchange(call), input, init)

  /** A world as new: same seed, same start, nothing stored, nothing pending. Earlier views of it are stale. */
  reset(): void {
    this.#world.clock.stop()
    this.#world = this.#build()
  }

  /** Calls back when the sandbox is disposed, last registered first. */
  onDispose(end: () => void): void {
    this.#disposals.push(end)
  }

  dispose(): void {
    while (this.#disposals.length > 0) this.#disposals.pop()!()
    this.#world.clock.stop()
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose()
  }

  #build(): World {
    const { options, vocabulary, policy } = this
    const clock = new VirtualClock({
      startAt: instant(options.startAt ?? defaultStart),
      mode: options.clock ?? 'manual',
      ...(options.warn && { warn: options.warn }),
    })
    const random = createRandom(options.seed ?? 1)
    const traffic = new Traffic(() => clock.now())
    const access = new Access({ standard: this.tokens.store, readOnly: this.tokens.readonly })
    const engine = new Store({
      now: () => clock.now(),
      random: random.fork('store'),
      access,
      policy,
      docs: vocabulary.docs,
    })
    const services: Service<never>[] = [storeService(engine, traffic) as Service<never>]
    const exchange = createGateway({
      locate: this.#locate,
      vocabulary,
      services: services as unknown as Service[],
      clock,
      traffic,
    })
    return { clock, random, traffic, store: new DirectStore(engine, traffic), exchange }
  }
}
