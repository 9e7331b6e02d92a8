import { leftovers } from '../../../../fixtures/fixture-sandbox.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import { type HandledOutbound, handledOutboundOf } from '../delivery/handled-outbound.js'
import { CrashDeliveries } from './crash-deliveries.js'
import { guardDirectStore } from './crash-effects.js'
import { guardCalls } from './crash-outbound.js'
import { guardRequests } from './crash-requests.js'
import { CrashSandbox, type CrashSandboxOptions, type CrashSubject } from './crash-sandbox.js'
import { DeliveryWork, type Mutable } from './crash-work.js'
import type { RunDelivery, Submission } from './run-delivery.js'
import { refusalOf } from './run-requests.js'

/** Submissions and error of a delivery that was repeated. */
export interface RepeatedDelivery {
  readonly submissions: readonly Submission[]
  /** Error message of the SDK, if the SDK rejected the delivery. */
  readonly refusal: string | undefined
}

const budget = 20_000
const aDay = 86_400_000

/** One run of the app in its own sandbox, with the disruptions of a crash plan. */
export class CrashRun {
  readonly #subject: CrashSubject
  readonly #world: CrashSandbox
  readonly #deliveries: CrashDeliveries

  constructor(subject: CrashSubject, options: CrashSandboxOptions) {
    this.#subject = subject
    this.#world = new CrashSandbox(subject, options)
    for (const [url, answer] of Object.entries(subject.outbound ?? {})) this.#world.sandbox.outbound.on(url, answer)
    this.#deliveries = new CrashDeliveries(this.#world)
    guardRequests(this.#world)
    guardCalls(this.#world)
    guardDirectStore(this.#world)
  }

  get sandbox(): Sandbox {
    return this.#world.sandbox
  }

  /** Requests of the app that reached an external host. */
  get calls(): readonly HandledOutbound[] {
    return handledOutboundOf(this.sandbox)
  }

  get deliveries(): readonly RunDelivery[] {
    return this.#deliveries.all
  }

  /** Error of the setup, of the trigger or of the clock. */
  get error(): unknown {
    return this.#world.error
  }

  /**
   * Whether a disruption hit every attempt of a message, so that it has no retries left. The run then has no result.
   */
  get isExhausted(): boolean {
    return this.#deliveries.isExhausted
  }

  /** Starts with an empty sandbox, and plays the run to its end. */
  async play(): Promise<this> {
    const world = this.#world
    const { sandbox } = world
    const { drain: settle } = this.#subject
    const untilDone = (): Promise<unknown> => sandbox.clock.drain({ maxTimers: budget })
    try {
      const trigger = await world.setUp()
      world.isRestartable = typeof trigger === 'function'
      if (world.rules.length > 0) sandbox.faults.add(world.rules)
      if (typeof trigger === 'function') await trigger()
      await (settle === undefined ? untilDone() : settle(sandbox))
      // If the option `drain` is set, the run may never end. In that case, run only the timers of this instant.
      if ((await this.#deliveries.playLate()) > 0) await (settle === undefined ? untilDone() : sandbox.clock.advance(0))
      world.error ??= leftovers(sandbox, { strict: false })
    } catch (error) {
      world.error ??= error
    }
    return this
  }

  /**
   * Repeats a delivery of another run, but a day later and with other random numbers. The sandbox accepts no
   * submission.
   * @param stores contents of the databases of the data store
   */
  async again(past: RunDelivery, stores: readonly StoreDump[]): Promise<RepeatedDelivery> {
    const { attempt, key, at } = past
    const world = this.#world
    await world.setUp()
    for (const [index, store] of world.sandbox.stores.entries()) store.load(stores[index]!)
    const { destinations, clock } = world.sandbox
    const delivery: Mutable<RunDelivery> = { ...past, ordinal: 0, submissions: [], effects: [] }
    const task = { label: key, sleep: async () => {} }
    const work = new DeliveryWork(world.seedOf(key), () => at + aDay, delivery, task, true)
    const context = {
      task,
      timeout: aDay,
      longestBody: 1e9,
      onTimeout() {},
      waits: () => () => {},
      now: () => clock.now(),
      draw: () => 0,
      again() {},
    }
    const reply = await world.works.run(work, () => destinations.deliver(attempt, context))
    return { submissions: delivery.submissions, refusal: refusalOf(reply) }
  }

  end(): void {
    this.#world.end()
  }
}
