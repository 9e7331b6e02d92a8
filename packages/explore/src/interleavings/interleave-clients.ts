import { checkFixture, type FixtureOptions } from '../../../../fixtures/fixture-sandbox.js'
import { type Duration, milliseconds } from '../../../../src/kernel/duration.js'
import { hostTime } from '../../../../src/kernel/host.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { campaignUnderWay } from '../campaign/under-way.js'
import { carrier, replaceChance } from '../crash/step-chance.js'
import { inEnvironment } from '../delivery/delivery-run.js'
import { Memory } from './client-memory.js'
import {
  type ClientContext,
  type ClientOutcome,
  type ClientSubject,
  type ConcurrentClient,
  type OrderRun,
  runClients,
  type TurnPicker,
} from './client-run.js'
import { FixedOrder, inTurn, oneByOne, permutations, WantedOrder } from './fixed-order.js'
import { endingOf, messageOf, type SerialEnding } from './order-endings.js'
import { type OrderEnded, orderSpace } from './order-space.js'
import { OrderTree } from './order-tree.js'
import { type InterleavingExploration, TriedInterleavings } from './tried-orders.js'

/** Options of `exploreInterleavings()` for clients. */
export interface InterleavingOptions {
  /**
   * Two to five concurrent clients: functions by name, or a list of functions, which get the names `client-1`,
   * `client-2` and so on.
   */
  readonly clients: Readonly<Record<string, ConcurrentClient>> | readonly ConcurrentClient[]
  /** Creates the initial state. Called in the sandbox of each order. */
  readonly setup?: (sandbox: Sandbox) => unknown
  /**
   * Returns whether the property holds in the end state. The function may also throw, as an assertion does. Default:
   * the outcome must be the same as in an order without concurrency.
   */
  readonly holds?: (sandbox: Sandbox, results: Readonly<Record<string, ClientOutcome>>) => unknown
  /** Whether the search stops at the first failing order. Default false: failing orders are counted. */
  readonly stopOnFirstFailure?: boolean
  /** Runs only this order. Copy it from a failure: `alice bob alice bob`. */
  readonly replay?: string
  /** Maximum number of orders. Default 10,000. */
  readonly maxRuns?: number
  /** Maximum host time of the search. It must be shorter than the timeout of the test. Default 4 s. */
  readonly timeBudget?: Duration
  /**
   * Whether to skip orders that are equivalent to a tried order, because they only swap requests without a common key.
   * Default true.
   */
  readonly skipEquivalent?: boolean
  /** Options of the sandbox that is created for each order, as for the fixture. */
  readonly sandbox?: FixtureOptions
  /** Moves time after all clients have ended. Default `clock.drain({ maxTimers: 20_000 })`. */
  readonly drain?: (sandbox: Sandbox) => unknown
  /** Seed from which the time and the random numbers in clients are derived. Default 1. */
  readonly seed?: number
}

const maxClients = 5

/** Runs the clients in different orders, and reports the outcomes. */
export async function interleaveClients(options: InterleavingOptions): Promise<InterleavingExploration> {
  checkOptionNames('exploreInterleavings()', options, {
    clients: true,
    setup: true,
    holds: true,
    stopOnFirstFailure: true,
    replay: true,
    maxRuns: true,
    timeBudget: true,
    skipEquivalent: true,
    sandbox: true,
    drain: true,
    seed: true,
  })
  checkFixture(options.sandbox)
  const campaign = campaignUnderWay()
  if (campaign === undefined) return searching(options, (search) => search.all())
  const { replay: _, ...given } = { ...options, seed: campaign.given.seed }
  return campaign.explore(
    orderSpace(campaign.given.runs, {
      plan: () => searching(given, (search) => search.plan()),
      attempt: (orders, ended) => searching(given, (search) => search.attempt(orders, ended)),
      replay: (replay) => searching({ ...given, replay }, (search) => search.all()),
    }),
  )
}

/**
 * Creates a search and passes it to `work`. Until `work` ends, time and random numbers in clients are derived from the
 * seed.
 */
async function searching<T>(options: InterleavingOptions, work: (search: ClientSearch) => Promise<T>): Promise<T> {
  const clients = clientsOf(options)
  const names = carrier<string>('exploreInterleavings()')
  const context: ClientContext = { names, chances: new Map() }
  const { setup: prepare, drain: settle, sandbox, seed = 1 } = options
  const search = new ClientSearch({ clients, prepare, settle, sandbox, seed }, options, context)
  return inEnvironment({ sandbox } as never, async () => {
    const restore = replaceChance(() => context.chances.get(names.getStore() ?? ''))
    try {
      return await work(search)
    } finally {
      restore()
    }
  })
}

/** Tries orders until all were tried or a limit was reached. */
class ClientSearch {
  readonly #subject: ClientSubject
  readonly #options: InterleavingOptions
  readonly #context: ClientContext
  readonly #orders: TriedInterleavings
  readonly #memory = new Memory()
  readonly #serial: SerialEnding[] = []
  readonly #deadline: number

  constructor(subject: ClientSubject, options: InterleavingOptions, context: ClientContext) {
    this.#subject = subject
    this.#options = options
    this.#context = context
    this.#orders = new TriedInterleavings([...subject.clients.keys()], this.#serial)
    this.#deadline = hostTime() + milliseconds(options.timeBudget ?? '4s')
  }

  async all(): Promise<InterleavingExploration> {
    const { replay, skipEquivalent: reduce = true } = this.#options
    const names = [...this.#subject.clients.keys()]
    await this.#oneAfterTheOther(names)
    if (replay !== undefined) {
      const usher = new FixedOrder(replay, names)
      this.#orders.forget()
      await this.#judged(await this.#run(usher))
      usher.check()
      return this.#orders.tried({ complete: true, isReplay: true })
    }
    // Begin with orders in which each client sends one request in turn. Many anomalies between two clients already
    // appear in these orders.
    for (const [at] of names.entries()) {
      if (this.#isEnough) return this.#orders.tried({ complete: false, isEarly: this.#isEarly })
      await this.#judged(await this.#run(inTurn([...names.slice(at), ...names.slice(0, at)])))
    }
    let tree = new OrderTree(reduce && this.#memory.isOwn)
    for (let runs = 0; ; ) {
      if (this.#isEnough) return this.#orders.tried({ complete: false, isEarly: this.#isEarly, tree, runs })
      tree.begin()
      await this.#judged(await this.#run(tree))
      runs++
      if (tree.reduces && (tree.isAmbiguous || !this.#memory.isOwn)) {
        tree = new OrderTree(false)
        runs = 0
      } else if (!tree.next()) return this.#orders.tried({ complete: true, tree, runs })
    }
  }

  /** Returns the maximum number of requests of each client in the serial orders. */
  async plan(): Promise<ReadonlyMap<string, number>> {
    const names = [...this.#subject.clients.keys()]
    const turns = new Map<string, number>()
    for (const { order } of await this.#oneAfterTheOther(names))
      for (const name of names) {
        const own = order.filter((who) => who.split('#')[0] === name).length
        turns.set(name, Math.max(own, turns.get(name) ?? 0))
      }
    return turns
  }

  /** Tries orders. @param orders gets the number of requests of each client, and returns the orders to try */
  async attempt(
    orders: (turns: ReadonlyMap<string, number>) => Iterable<readonly string[]>,
    ended: OrderEnded,
  ): Promise<void> {
    const isClaimed = this.#options.holds !== undefined
    for (const order of orders(await this.plan())) {
      const run = await this.#run(new WantedOrder(order))
      const broken = this.#orders.complaintOf(run, await this.#complaint(run), isClaimed)
      ended(broken, run.order)
    }
  }

  get #isEarly(): boolean {
    return this.#options.stopOnFirstFailure === true && this.#orders.hasFailed
  }

  get #isEnough(): boolean {
    const { maxRuns: bound = 10_000 } = this.#options
    return this.#isEarly || this.#orders.size >= bound || hostTime() >= this.#deadline
  }

  /** Plays the orders in which the clients run one after the other. Their outcomes are correct by definition. */
  async #oneAfterTheOther(names: readonly string[]): Promise<readonly OrderRun[]> {
    const runs: OrderRun[] = []
    for (const clients of permutations(names)) {
      const run = await this.#run(oneByOne(clients))
      runs.push(run)
      if (run.error !== undefined && run.steps.length === 0) throw run.error
      this.#serial.push({ clients, ending: endingOf(run), holds: (await this.#complaint(run)) === undefined })
    }
    if (runs.every(({ steps }) => steps.length === 0))
      throw new TypeError(
        "exploreInterleavings(): no client has sent a request. Send requests to the data store or the queue with sandbox.fetch or an SDK. Create each SDK object inside a function of `clients`, because the SDK then reads the sandbox's URLs from the environment. Calls of sandbox.store and sandbox.queue cannot be interleaved.",
      )
    for (const name of names) {
      const results = runs.map((run) => run.results.get(name))
      const [one] = results
      if (one !== undefined && results.every((result) => result !== undefined && 'error' in result) && 'error' in one)
        throw new Error(`exploreInterleavings(): ${name} throws in every order, even alone: ${messageOf(one.error)}`, {
          cause: one.error,
        })
    }
    for (const run of runs) await this.#judged(run)
    return runs
  }

  async #run(usher: TurnPicker): Promise<OrderRun> {
    const run = await runClients(this.#subject, usher, this.#context)
    this.#memory.note(run)
    return run
  }

  async #judged(run: OrderRun): Promise<void> {
    if (!this.#orders.has(run)) this.#orders.add(run, await this.#complaint(run), this.#options.holds !== undefined)
  }

  /** Returns why an order does not hold, in one line. */
  async #complaint(run: OrderRun): Promise<string | undefined> {
    const { holds } = this.#options
    if (run.error !== undefined) return messageOf(run.error)
    for (const [who, result] of run.results) {
      if (!('error' in result)) continue
      if (isAssertion(result.error)) return `${who} threw: ${messageOf(result.error)}`
    }
    if (holds === undefined) return undefined
    try {
      return (await holds(run.sandbox, Object.fromEntries(run.results))) === false
        ? 'holds() returned false'
        : undefined
    } catch (error) {
      return messageOf(error)
    }
  }
}

/** Recognizes errors of node:assert, chai (Vitest) and Jest. */
function isAssertion(error: unknown): boolean {
  return error instanceof Error && (/^(?:Jest)?AssertionError/.test(error.name) || 'matcherResult' in error)
}

function clientsOf({ clients, maxRuns: bound, replay }: InterleavingOptions): ReadonlyMap<string, ConcurrentClient> {
  const named = Array.isArray(clients)
    ? clients.map((client: ConcurrentClient, at): [string, ConcurrentClient] => [`client-${at + 1}`, client])
    : Object.entries((clients ?? {}) as Record<string, ConcurrentClient>)
  if (named.length < 2 || named.length > maxClients || named.some(([, client]) => typeof client !== 'function'))
    throw new TypeError(
      `exploreInterleavings(): clients must be an object with two to ${maxClients} named functions. Write { clients: { alice: async (sandbox) => …, bob: async (sandbox) => … } }.`,
    )
  const odd = named.find(([name]) => !/^[^\s#]+$/.test(name))
  if (odd !== undefined)
    throw new TypeError(
      `exploreInterleavings(): the name of a client must be one word without # (got ${JSON.stringify(odd[0])}).`,
    )
  if (bound !== undefined && !(Number.isInteger(bound) && bound > 0))
    throw new TypeError(
      `exploreInterleavings(): maxRuns must be a whole number, 1 or more (got ${JSON.stringify(bound)}).`,
    )
  if (replay !== undefined && (typeof replay !== 'string' || replay.trim() === ''))
    throw new TypeError(
      `exploreInterleavings(): replay must list the clients in their order. Write, for example, 'alice bob alice bob'.`,
    )
  return new Map(named)
}
