import { BrokenPromise, type Check, type CheckOptions, checkWorld } from '../invariants/check.js'
import { type ClockMode, goOn, stop, VirtualClock } from '../kernel/clock.js'
import { CronExpression } from '../kernel/cron.js'
import { type Instant, instant, iso } from '../kernel/instant.js'
import { createRandom, type Random } from '../kernel/random.js'
import { type Entry, Traffic } from '../kernel/traffic.js'
import { type Policy, policyWith } from '../policy/policy.js'
import { type Addresses, type AddressOptions, addressesOf, type Locate, locator } from '../protocol/address.js'
import { createGateway } from '../protocol/gateway.js'
import type { Answer, Call, Exchange, Service } from '../protocol/service.js'
import { ownHeader, type Vocabulary, type VocabularyName, vocabularyOf } from '../protocol/vocabulary.js'
import { fetchThrough } from '../protocol/web.js'
import { Destinations, type Reach } from '../queue/destinations/destinations.js'
import { DirectQueue, engineOf } from '../queue/direct.js'
import { Queue } from '../queue/queue.js'
import { queueService } from '../queue/rest/endpoints.js'
import { parseRetryExpression } from '../queue/settings/retry-expression.js'
import type { SignatureWindow } from '../queue/signing/signing.js'
import { timeline } from '../report/timeline.js'
import { TrafficView } from '../report/traffic-view.js'
import { type FaultHandle, Faults } from '../rules/rules.js'
import type { Scenario } from '../scenarios/scenario.js'
import { payAsYouGo, unmetered } from '../stats/reports.js'
import { statsService } from '../stats/rest/endpoints.js'
import { Statistics } from '../stats/statistics.js'
import { Access } from '../store/access/access.js'
import { DirectStore } from '../store/direct.js'
import { Journal } from '../store/journal.js'
import { storeService } from '../store/rest/endpoints.js'
import { Store } from '../store/store.js'
import {
  checkSecret,
  type SandboxTokens,
  sealOf,
  secretDraws,
  signingKeysOf,
  tokensOf,
  withoutCredentials,
} from './credentials.js'
import { checkDump, dumpOf, loadInto, type SandboxDump } from './dump.js'
import { shifted } from './shift.js'

export type { SandboxTokens } from './credentials.js'

export interface SandboxOptions extends AddressOptions {
  /** Replays everything that is left to chance: ids, random replies, dice. Default 1. */
  readonly seed?: number | string
  /** Virtual time at the start: ISO text, `Date` or milliseconds. Default `2030-01-01T00:00:00Z`. Not with a real clock. */
  readonly startAt?: Instant
  /** `manual` (default): the test moves time. `auto`: time skips when nothing runs. `real`: time is the host's. */
  readonly clock?: ClockMode
  readonly vocabulary?: VocabularyName | Vocabulary
  readonly policy?: Partial<Policy>
  /** Standard token of the data store. */
  readonly storeToken?: string
  /** Read-only token of the data store. */
  readonly readonlyToken?: string
  /** Token of the queue. */
  readonly queueToken?: string
  /** Read-only token of the queue. */
  readonly queueReadonlyToken?: string
  /** Keys that deliveries are signed with. */
  readonly signingKey?: string
  readonly nextSigningKey?: string
  /** User name and key of the management API. */
  readonly mgmtUser?: string
  readonly mgmtKey?: string
  /**
   * Tokens and keys that are not given come of this and of `name`, by HMAC-SHA256. Without it they are defaults that
   * everybody can read. At least 16 characters.
   */
  readonly secret?: string
  /** `wide` (default): signatures verify at any host time. `real`: valid for five minutes of virtual time. */
  readonly signing?: { readonly window?: SignatureWindow }
  /** Takes deliveries that no registered destination answers, as far as `deliver` allows. */
  readonly fetch?: typeof globalThis.fetch
  /** Hosts that `fetch` may reach. Default `loopback`. */
  readonly deliver?: Reach
  /** Receives warnings, `console.warn` by default. */
  readonly warn?: (text: string) => void
}

/** A list that the compiler keeps complete: a misspelt option in JavaScript is told, not ignored. */
const optionNames: Readonly<Record<keyof SandboxOptions, true>> = {
  name: true,
  base: true,
  store: true,
  queue: true,
  mgmt: true,
  regions: true,
  seed: true,
  startAt: true,
  clock: true,
  vocabulary: true,
  policy: true,
  storeToken: true,
  readonlyToken: true,
  queueToken: true,
  queueReadonlyToken: true,
  signingKey: true,
  nextSigningKey: true,
  mgmtUser: true,
  mgmtKey: true,
  secret: true,
  signing: true,
  fetch: true,
  deliver: true,
  warn: true,
}

function checkNames(options: SandboxOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`createSandbox() takes an object of options such as { seed: 7 }, got ${String(options)}.`)
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name))
  if (unknown === undefined) return
  throw new TypeError(
    `A sandbox has no option ${JSON.stringify(unknown)}. The options are ${Object.keys(optionNames).join(', ')}.`,
  )
}

function checkStart({ clock, startAt }: SandboxOptions): void {
  if (clock !== 'real' || startAt === undefined) return
  throw new TypeError(
    `With clock: 'real' time is the host's, and cannot start at ${iso(instant(startAt))}. Use clock: 'manual' or 'auto', or leave startAt out.`,
  )
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
  readonly traffic: TrafficView
  readonly store: DirectStore
  readonly destinations: Destinations
  readonly faults: Faults
  readonly queue: DirectQueue
  readonly stats: Statistics
  readonly exchange: Exchange
}

/** Where a world begins. */
interface Start {
  readonly startAt?: Instant
  /** How many loads lie behind it: new ids must not meet those of the dumps. */
  readonly loads?: number
}

export interface LoadOptions {
  /** When the world goes on, if that is later than the dump. Not with a real clock, which goes on now. */
  readonly at?: Instant
  /** Moves all times of a dump that is ahead back. */
  readonly shift?: boolean
}

export class Sandbox {
  readonly options: SandboxOptions
  readonly vocabulary: Vocabulary
  readonly policy: Policy
  readonly addresses: Addresses
  readonly #initialTokens: SandboxTokens
  readonly #seal: string | undefined
  readonly #locate: Locate
  readonly #disposals: (() => void)[] = []
  readonly #renewals = new Set<(by: 'reset' | 'load') => void>()
  #world: World
  readonly #strays = new Set<string>()
  /** How many dumps were loaded, one upon the other. */
  #loads = 0

  constructor(options: SandboxOptions) {
    checkNames(options)
    checkStart(options)
    checkSecret(options.secret)
    this.options = options
    this.vocabulary = vocabularyOf(options.vocabulary ?? 'service')
    this.policy = policyWith(options.policy)
    this.addresses = addressesOf(options)
    this.#locate = locator(this.addresses)
    this.#initialTokens = tokensOf(options)
    this.#seal = sealOf(options)
    this.#world = this.#build()
  }

  /** What clients sign in with. Those of the data store change with `store.resetPassword()`. */
  get tokens(): SandboxTokens {
    const { standard, readOnly } = this.#world.store.engine.access.tokens
    return { ...this.#initialTokens, store: standard, readonly: readOnly }
  }

  /** The one clock: `advance`, `advanceTo`, `drain`, `pending`, `follow`. */
  get clock(): VirtualClock {
    return this.#world.clock
  }

  /** Everything that happened, in order. */
  get traffic(): TrafficView {
    return this.#world.traffic
  }

  /** The message queue: messages, schedules, url groups, flow control, dead letters, signing keys. */
  get queue(): DirectQueue {
    return this.#world.queue
  }

  /** Usage figures: counted from the traffic, told as a story, or set by hand. */
  get stats(): Statistics {
    return this.#world.stats
  }

  /** Where deliveries go: handlers, recorders, scripts. */
  get destinations(): Destinations {
    return this.#world.destinations
  }

  /**
   * What shall go wrong, and when.
   * @example sandbox.faults.add({ on: 'queue.delivery', times: 2, fault: lostAck() })
   */
  get faults(): Faults {
    return this.#world.faults
  }

  /**
   * Brings the weather of a scenario: adds its fault rules, until the handle takes them back. What else the scenario
   * has, steps and expectations, is for `playScenario()` of `stuntdouble/scenarios`.
   * @example using outage = sandbox.play(checkoutOutage)
   * @throws TypeError for a scenario without faults, and for what is none
   */
  play(scenario: Scenario): FaultHandle {
    if (typeof scenario !== 'object' || scenario === null) {
      throw new TypeError(`sandbox.play() takes a scenario: { name, faults: [rule, …] }, got ${String(scenario)}.`)
    }
    const { faults = [], name } = scenario
    if (faults.length > 0) return this.faults.add(faults)
    throw new TypeError(
      `The scenario ${JSON.stringify(name)} has no faults to bring. Play its steps with playScenario(scenario) of 'stuntdouble/scenarios'.`,
    )
  }

  /**
   * Addresses, tokens and keys under the names that the SDKs read from the environment.
   * @example Object.assign(process.env, sandbox.env)
   */
  get env(): Readonly<Record<string, string>> {
    const { environment } = this.vocabulary
    const { current, next } = this.queue.keys
    const env: Record<string, string> = {}
    for (const name of environment.storeUrl) env[name] = this.addresses.store
    for (const name of environment.storeToken) env[name] = this.tokens.store
    env[environment.disableTelemetry] = '1'
    env[environment.queueUrl] = this.addresses.queue
    env[environment.queueToken] = this.tokens.queue
    env[environment.queueCurrentSigningKey] = current
    env[environment.queueNextSigningKey] = next
    // A client that was told a region reads the names of that region, and the plain ones where there are none.
    for (const [region, address] of Object.entries(this.addresses.regions)) {
      const prefix = region.replaceAll('-', '_').toUpperCase()
      env[`${prefix}_${environment.queueUrl}`] = address
      env[`${prefix}_${environment.queueToken}`] = this.tokens.queue
      env[`${prefix}_${environment.queueCurrentSigningKey}`] = current
      env[`${prefix}_${environment.queueNextSigningKey}`] = next
    }
    return env
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

  /**
   * Holds the engine to its promises: no message lost, no attempt after success, limits kept … Throws `BrokenPromise`
   * with the promise, the entries and the story.
   * @example sandbox.check({ except: 'signatures-verify' })
   */
  check(options: CheckOptions = {}): Check {
    const check = this.examine(options)
    if (check.breaches.length === 0) return check
    const replay = `Replay: seed ${this.traffic.context.seed}`
    throw new BrokenPromise(check.breaches, (entries) => this.#tell(entries), replay)
  }

  /** As `check()`, but returns the breaches instead of throwing them. */
  examine(options: CheckOptions = {}): Check {
    const { clock, policy, vocabulary } = this
    const queue = engineOf(this.queue)
    const { limits, keys } = queue
    return checkWorld(
      {
        entries: this.traffic.entries,
        now: clock.now(),
        isRealTime: clock.mode === 'real',
        isDrained: clock.isDrained,
        policy,
        limits,
        pending: queue.whereabouts(),
        signingKeys: [...keys.former].reverse().concat(keys.current),
        signatureHeader: ownHeader('Signature', vocabulary),
        retryDelay: (expression, retried) => parseRetryExpression(expression).evaluate(retried),
        slots: slotsBetween,
      },
      options,
    )
  }

  /** The entries and what else is known of the same messages. */
  #tell(entries: readonly Entry[]): string {
    const told = new Set(entries)
    for (const entry of entries) {
      if ('messageId' in entry) for (const other of this.traffic.about(entry.messageId)) told.add(other)
    }
    const story = [...told].sort((one, other) => one.seq - other.seq)
    return timeline(story, { limit: entriesTold, around: entries[0]?.seq ?? 0 })
  }

  /** A world as new: same seed, same start, nothing stored, nothing pending. Earlier views of it are stale. */
  reset(): void {
    this.#loads = 0
    this.#replace(this.#build(), 'reset')
  }

  /** The whole world as plain JSON: data store, users, queue, signing keys, what the statistics counted, and the time. */
  dump(): SandboxDump {
    const { queue, clock } = this
    const seal = this.#seal
    const format = { format: 'stuntdouble/sandbox', version: 1, ...(seal !== undefined && { seal }) } as const
    return { ...format, now: clock.now(), loads: this.#loads, ...dumpOf(this), queue: queue.dump() }
  }

  /**
   * Replaces the world by what `dump()` gave once, here or elsewhere. It goes on at the time of the dump or at `at`,
   * whichever is later, and on a real clock now: what fell due meanwhile is due, in the order of its times, and the
   * slots that a schedule missed count once. Deliveries that were under way then are due at once.
   * @param options.shift moves all times of a dump that is ahead back, so that it goes on at `at`, or on a real clock now
   * A sandbox with a `secret` keeps its own tokens and keys, unless the dump comes of the same ones.
   * @throws TypeError for anything else and, on a real clock, for a dump that is ahead of the host; nothing has changed
   */
  load(given: SandboxDump, { at, shift = false }: LoadOptions = {}): void {
    checkDump(given)
    const goesOn = this.#goesOn(given, at)
    const dump = shift && goesOn < given.now ? shifted(given, goesOn - given.now) : given
    this.#checkAhead(dump, goesOn)
    const loads = dump.loads + 1
    const world = this.#build({ startAt: dump.now, loads })
    loadInto(world, this.#seal === undefined || this.#seal === dump.seal ? dump : withoutCredentials(dump, world))
    goOn(world.clock, goesOn)
    this.#loads = loads
    this.#replace(world, 'load')
  }

  /** When a loaded world goes on. */
  #goesOn(dump: SandboxDump, at: Instant | undefined): number {
    if (this.options.clock !== 'real') return at === undefined ? dump.now : instant(at)
    if (at === undefined) return this.clock.now()
    throw new TypeError(
      "With clock: 'real' a loaded world goes on at the host's time, not at another. Use clock: 'manual' or 'auto', or leave `at` out.",
    )
  }

  #checkAhead(dump: SandboxDump, now: number): void {
    if (this.options.clock !== 'real' || dump.now <= now) return
    throw new TypeError(
      `The dump is of ${iso(dump.now)}, and with clock: 'real' it is ${iso(now)}: time does not go back. Load it with { shift: true } (serve --shift), which moves all its times back, or use clock: 'manual' or 'auto'.`,
    )
  }

  /** What matchers look into: here the sandbox itself, for a sandbox on a server a copy. For code that runs with both. */
  snapshot(): this {
    return this
  }

  /** Where a world as new begins; one on a real clock does whenever that is. */
  get #start(): Instant | undefined {
    return this.options.clock === 'real' ? undefined : (this.options.startAt ?? defaultStart)
  }

  #replace(world: World, by: 'reset' | 'load'): void {
    this.#world.store.engine.pubsub.close()
    stop(this.#world.clock)
    this.#world = world
    for (const renewed of [...this.#renewals]) renewed(by)
  }

  /** Calls back when another world has taken the place of this one, unless the returned function was called before. */
  onRenewal(renewed: (by: 'reset' | 'load') => void): () => void {
    this.#renewals.add(renewed)
    return () => this.#renewals.delete(renewed)
  }

  /** Requests to real hosts of the service that were refused, as sentences. */
  get strays(): readonly string[] {
    return [...this.#strays]
  }

  /** For adapters: a request to a real host was refused. A property, so that it can be handed on. */
  readonly noteStray: (sentence: string) => void = (sentence) => void this.#strays.add(sentence)

  /** Calls back when the sandbox is disposed, last registered first, unless the returned function was called before. */
  onDispose(end: () => void): () => void {
    this.#disposals.push(end)
    return () => {
      const at = this.#disposals.lastIndexOf(end)
      if (at >= 0) this.#disposals.splice(at, 1)
    }
  }

  dispose(): void {
    while (this.#disposals.length > 0) this.#disposals.pop()!()
    this.#world.store.engine.pubsub.close()
    stop(this.#world.clock)
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose()
  }

  #build({ startAt = this.#start, loads = 0 }: Start = {}): World {
    const { options, vocabulary, policy } = this
    const clock: VirtualClock = new VirtualClock({
      ...(startAt !== undefined && { startAt: instant(startAt) }),
      mode: options.clock ?? 'manual',
      backlog: () => queue.courier.live.size,
      onDrive: (call) => traffic.moves(call),
      ...(options.warn && { warn: options.warn }),
    })
    const { seed = 1 } = options
    const random = createRandom(loads === 0 ? seed : `${seed}/load ${loads}`)
    const traffic: Traffic = new Traffic(() => clock.now(), {
      entries: policy.trafficLimit,
      bytes: policy.trafficBytes,
    })
    const draws = secretDraws(options)?.fork(`load ${loads}`)
    const journal = this.#buildStore(clock, random, traffic, draws)
    const destinations = this.#buildDestinations()
    const faults = new Faults({ now: () => clock.now(), random: random.fork('faults'), traffic, tenant: options.name })
    const queue = this.#buildQueue(clock, random, traffic, destinations, faults, draws)
    const stats = new Statistics({
      traffic,
      now: () => clock.now(),
      deadLetters: () => queue.courier.deadLetters.size,
      price: policy.queuePlan === 'payg' ? payAsYouGo : unmetered,
      random: random.fork('stats'),
    })
    const tokens = this.#initialTokens
    const services = [
      storeService(journal, clock, faults),
      queueService(queue, { vocabulary, token: tokens.queue, readOnlyToken: tokens.queueReadonly }),
      statsService(stats, { user: tokens.mgmtUser, key: tokens.mgmtKey }),
    ] as Service[]
    const exchange = createGateway({ locate: this.#locate, vocabulary, services, clock, traffic, faults })
    const store = new DirectStore(journal, draws)
    const view = new TrafficView(traffic, {
      seed: options.seed ?? 1,
      now: () => clock.now(),
      headerPrefix: vocabulary.headerPrefix,
      addresses: { ...this.addresses },
      secrets: () => this.#secrets(queue),
      store,
    })
    return { clock, random, traffic: view, store, destinations, faults, queue: new DirectQueue(queue), stats, exchange }
  }

  /** Every token and key of this world, now or before. */
  #secrets({ keys }: Queue): readonly string[] {
    const tokens = [this.#initialTokens, this.tokens].map(({ mgmtUser: _, ...secret }) => Object.values(secret))
    return [...tokens.flat(), keys.current, keys.next, ...keys.former]
  }

  #buildStore(clock: VirtualClock, random: Random, traffic: Traffic, draws = random): Journal {
    const { store: standard, readonly: readOnly } = this.#initialTokens
    const engine = new Store({
      now: () => clock.now(),
      clock,
      random: random.fork('store'),
      access: new Access({ standard, readOnly }, draws.fork('acl')),
      policy: this.policy,
      docs: this.vocabulary.docs,
    })
    return new Journal(engine, traffic)
  }

  #buildDestinations(): Destinations {
    const { options, vocabulary, policy, addresses } = this
    const destinations = new Destinations({
      fetch: options.fetch,
      deliver: options.deliver,
      refusedHosts: vocabulary.productionHosts,
      unhandled: policy.unhandledDestination,
      followRedirects: policy.followRedirects,
      nonRetryableHeader: ownHeader('NonRetryable-Error', vocabulary),
    })
    // A message may go to this very sandbox: a command of the store as a destination, a publish by a publish.
    for (const address of new Set([addresses.store, addresses.queue, ...Object.values(addresses.regions)])) {
      destinations.on(`${address}/*`, (request) => this.fetch(request))
    }
    return destinations
  }

  #buildQueue(
    clock: VirtualClock,
    random: Random,
    traffic: Traffic,
    destinations: Destinations,
    faults: Faults,
    draws: Random | undefined,
  ): Queue {
    const { options, vocabulary, policy } = this
    return new Queue({
      clock,
      random: random.fork('queue'),
      traffic,
      policy,
      words: {
        header: (name) => ownHeader(name, vocabulary),
        issuer: vocabulary.issuer,
        userAgent: vocabulary.userAgent,
      },
      destinations,
      keys: signingKeysOf(options),
      keyDraws: draws,
      signing: options.signing,
      faults,
    })
  }
}

/** Entries of the story of a broken promise. */
const entriesTold = 24

function* slotsBetween(expression: string, from: number, to: number): Iterable<number> {
  const cron = new CronExpression(expression)
  for (let at = cron.next(from); at !== undefined && at <= to; at = cron.next(at)) yield at
}
