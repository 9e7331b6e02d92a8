import { connect, type FixtureOptions, leftBehind, sandboxOf } from '../fixtures/world.js'
import { text } from '../src/kernel/bytes.js'
import type { Answer, Call } from '../src/protocol/service.js'
import type { Attempt } from '../src/queue/destinations/attempt.js'
import type { DeliveryContext } from '../src/queue/destinations/destinations.js'
import type { WireReply } from '../src/queue/destinations/wire.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import type { StoreDump } from '../src/store/dump/snapshot.js'
import { StepPart } from '../src/workflow/parts.js'
import { DeliveryWork, lost, type Mutable } from './crash-work.js'
import type { Disturbance, DisturbanceKind } from './disturbance.js'
import { answerCalls, type ForeignAnswers, type ForeignCall } from './foreign-calls.js'
import { carriedBy, type RunDelivery, type Submission, submitted } from './run-delivery.js'
import { callWith, fetchesList, isOfRun, jsonAnswer, pretended, refusalOf } from './run-requests.js'
import { type Carrier, replaceChance, silence } from './step-chance.js'

/**
 * Sets an app up in a sandbox: serves its workflows, registers destinations. What it returns is called once and triggers
 * the runs; the set-up itself runs anew whenever a schedule lets the process die.
 */
export type WorkflowUnderTest = (sandbox: Sandbox) => unknown

export interface CrashSubject {
  readonly workflow: WorkflowUnderTest
  readonly sandbox?: FixtureOptions
  readonly calls?: ForeignAnswers
  readonly settle?: (sandbox: Sandbox) => unknown
}

/** What code does with a delivery that it had before. */
export interface Again {
  readonly submissions: readonly Submission[]
  /** Why the SDK refuses it, in its words. */
  readonly refusal: string | undefined
}

/** How long the code that is under test takes a delivery for, at most: turns in which it lets others go first. */
const mostTurns = 1_000
const budget = 20_000
const aDay = 86_400_000

/** One run of the app in a world of its own, with what goes wrong in it. */
export class CrashRun {
  readonly sandbox: Sandbox
  readonly deliveries: RunDelivery[] = []
  readonly calls: ForeignCall[] = []
  /** Disturbances that met what they are for. */
  readonly struck: Set<Disturbance> = new Set()
  /** What the set-up, the trigger or time threw. */
  error: unknown
  readonly #subject: CrashSubject
  readonly #disturbances: readonly Disturbance[]
  readonly #works: Carrier<DeliveryWork | undefined>
  /** When each delivery happens first, in the run that nothing disturbs. */
  readonly #times: Map<string, number>
  readonly #seed: number | string
  readonly #endings: (() => void)[] = []
  readonly #outside: DeliveryWork
  readonly #cuts = new Map<string, number>()
  readonly #counts = new Map<string, number>()
  readonly #answered = new Set<string>()
  #late: { readonly runId: string; readonly again: () => Promise<unknown> }[] = []
  #started: Promise<unknown> = Promise.resolve()
  #restartable = false

  constructor(
    subject: CrashSubject,
    {
      works,
      times,
      seed,
      disturbances = [],
    }: {
      readonly works: Carrier<DeliveryWork | undefined>
      readonly times: Map<string, number>
      readonly seed: number | string
      readonly disturbances?: readonly Disturbance[]
    },
  ) {
    this.#subject = subject
    this.#works = works
    this.#times = times
    this.#seed = seed
    this.#disturbances = disturbances
    const isLazy = disturbances.some(({ kind }) => kind === 'lazy-fetch')
    const given = subject.sandbox ?? {}
    const options: FixtureOptions = {
      vocabulary: 'upstash',
      ...given,
      env: false,
      realHosts: 'allow',
      via: 'fetch',
      ...(isLazy && { policy: { ...given.policy, lazyAbove: 0 } }),
    }
    this.sandbox = sandboxOf(options)
    this.#outside = new DeliveryWork(this.#seedOf('outside'), () => this.sandbox.clock.now())
    this.#endings.push(replaceChance(() => this.#works.getStore() ?? this.#outside))
    this.#endings.push(silence(() => this.#disturbances.length > 0 || this.#works.getStore()?.submitsNothing === true))
    this.#endings.push(connect(this.sandbox, options))
    if (subject.calls !== undefined) this.#endings.push(answerCalls(subject.calls, (call) => this.#called(call)))
    this.#guard()
  }

  /** From an empty world to its end. */
  async play(): Promise<this> {
    const { sandbox } = this
    const settle = this.#subject.settle ?? (({ clock }: Sandbox) => clock.drain({ budget }))
    try {
      const trigger = await this.setUp()
      this.#restartable = typeof trigger === 'function'
      if (typeof trigger === 'function') await trigger()
      await settle(sandbox)
      const late = this.#late.splice(0)
      for (const { again } of late) await again()
      if (late.length > 0) await sandbox.clock.drain({ budget })
      this.error = leftBehind(sandbox, { strict: false })
    } catch (error) {
      this.error = error
    }
    return this
  }

  /**
   * Delivers once more what was delivered in another run, a day later and with other chance; nothing that the code submits
   * is accepted.
   * @param store what the data store holds
   */
  async again(past: RunDelivery, store: StoreDump): Promise<Again> {
    const { attempt, key, at } = past
    await this.setUp()
    this.sandbox.store.load(store)
    const { destinations, clock } = this.sandbox
    const delivery: Mutable<RunDelivery> = { ...past, ordinal: 0, submissions: [] }
    const task = { label: key, sleep: async () => {} }
    const work = new DeliveryWork(this.#seedOf(key), () => at + aDay, delivery, task, true)
    const context = {
      task,
      timeout: aDay,
      longestBody: 1e9,
      onTimeout() {},
      now: () => clock.now(),
      draw: () => 0,
      again() {},
    }
    const reply = await this.#works.run(work, () => destinations.deliver(attempt, context))
    return { submissions: delivery.submissions, refusal: refusalOf(reply) }
  }

  /** Runs the set-up as a new process would. */
  setUp(): unknown {
    return this.#works.run(undefined, () => this.#subject.workflow(this.sandbox))
  }

  /** Takes back what connected the world with the process. */
  end(): void {
    for (const end of this.#endings.splice(0).reverse()) end()
    this.sandbox.dispose()
  }

  #seedOf(key: string): string {
    return `${this.#seed}/${key}`
  }

  /** A process that dies loses what it had in memory. */
  #restart(): void {
    if (!this.#restartable) return
    this.#started = Promise.resolve(this.setUp()).catch((error) => {
      this.error ??= error
    })
  }

  #guard(): void {
    const { sandbox } = this
    const { destinations } = sandbox
    const deliver = destinations.deliver.bind(destinations)
    destinations.deliver = ((attempt: Attempt, ...rest: [DeliveryContext]) => {
      const place = this.#placed(attempt)
      const { part } = attempt.message
      if (part === undefined || part.isCall || this.#works.getStore()?.submitsNothing) return deliver(attempt, ...rest)
      return this.#deliver(attempt, rest[0], place, () => deliver(attempt, ...rest))
    }) as typeof destinations.deliver
    const exchange = sandbox.exchange.bind(sandbox)
    sandbox.exchange = (call) => this.#exchange(call, exchange)
  }

  #placed({ kind }: Attempt): RunDelivery['place'] {
    const point = kind === 'message' ? 'queue.delivery' : 'queue.callback'
    return { point, skip: this.#count(point) }
  }

  /** How often it was counted before. */
  #count(what: string): number {
    const before = this.#counts.get(what) ?? 0
    this.#counts.set(what, before + 1)
    return before
  }

  #disturbance(kind: DisturbanceKind, { ordinal }: RunDelivery, submission?: number): Disturbance | undefined {
    const found = this.#disturbances.find(
      (one) =>
        one.kind === kind && one.delivery === ordinal && (submission === undefined || one.submission === submission),
    )
    if (found !== undefined) this.struck.add(found)
    return found
  }

  async #deliver(
    attempt: Attempt,
    context: DeliveryContext,
    place: RunDelivery['place'],
    deliver: () => WireReply | Promise<WireReply>,
  ): Promise<WireReply> {
    const { sandbox } = this
    await this.#started
    const runId = attempt.workflowRunId ?? ''
    const { carries, step, key: name } = carriedBy(attempt)
    const key = `${runId} ${name}`
    const at = this.#times.get(key) ?? sandbox.clock.now()
    const isPlain = this.#disturbances.length === 0
    if (isPlain) this.#times.set(key, at)
    const delivery: Mutable<RunDelivery> = {
      ordinal: this.deliveries.length + 1,
      key,
      runId,
      attempt,
      carries,
      told: carries,
      isPlan: step?.targetStep !== undefined,
      isCallback: attempt.kind !== 'message',
      at: sandbox.clock.now(),
      timeout: context.timeout,
      place,
      submissions: [],
      ...(isPlain && { storeBefore: sandbox.store.dump() }),
    }
    this.deliveries.push(delivery)
    await this.#takeTurn(key, context)
    if (this.#disturbance('before-route', delivery) !== undefined) {
      this.#restart()
      this.#cut(attempt)
      return lost('the process died before the route')
    }
    const run = (submits: boolean): Promise<WireReply> => {
      const own = submits ? delivery : { ...delivery, ordinal: 0, submissions: [] }
      const work = new DeliveryWork(this.#seedOf(key), () => at, own, context.task)
      return this.#works.run(work, () => Promise.race([deliver(), work.death]))
    }
    const others = this.#disturbance('twice', delivery) === undefined ? [] : [run(false)]
    const [reply] = await Promise.all([run(true), ...others])
    delivery.told = toldOf(delivery)
    if (isPlain) delivery.refusal = refusalOf(reply!)
    if (reply!.error !== undefined) this.#cut(attempt)
    this.#answered.add(key)
    await this.#playLate(runId)
    if (this.#disturbance('late-retry', delivery) !== undefined) this.#late.push({ runId, again: () => run(false) })
    if (this.#disturbance('after-answer', delivery) === undefined) return reply!
    this.#restart()
    this.#cut(attempt)
    return lost('the handler answered, the process died, the answer was lost')
  }

  #cut({ messageId }: Attempt): void {
    this.#cuts.set(messageId, (this.#cuts.get(messageId) ?? 0) + 1)
  }

  /** Whether a message was given up of which no attempt was left alone: nothing can be learned from that. */
  get isExhausted(): boolean {
    return this.sandbox.traffic.of('dead-letter').some(({ messageId }) => {
      const attempts = this.sandbox.traffic.about(messageId).filter(({ type }) => type === 'attempt')
      return this.#cuts.get(messageId) === attempts.length
    })
  }

  /** Waits until the branches before it have ended. */
  async #takeTurn(key: string, { task }: DeliveryContext): Promise<void> {
    const order = this.#disturbances.find((one) => one.kind === 'parallel-order' && one.order.includes(key))
    if (order === undefined) return
    this.struck.add(order)
    const before = order.order.slice(0, order.order.indexOf(key))
    for (let turn = 0; turn < mostTurns && !before.every((one) => this.#answered.has(one)); turn++) await task.sleep(0)
  }

  async #playLate(runId: string): Promise<void> {
    const due = this.#late.filter((late) => late.runId === runId)
    this.#late = this.#late.filter((late) => late.runId !== runId)
    for (const { again } of due) await again()
  }

  async #exchange(call: Call, exchange: Sandbox['exchange']): Promise<Answer> {
    const work = this.#works.getStore()
    if (work?.dead) return new Promise(() => {})
    const endpoint = this.#endpointOf(call)
    if (endpoint === undefined) return exchange(call)
    const skip = this.#count(`${call.method} ${endpoint}`)
    if (work?.delivery === undefined) return exchange(call)
    const { delivery } = work
    if (fetchesList(call, endpoint)) {
      // The throw-away world does not know the run.
      if (work.submitsNothing) return jsonAnswer(listOf(delivery.attempt))
      return this.#disturbance('lazy-fetch', delivery) === undefined ? exchange(call) : this.#die(work)
    }
    const body = await call.body()
    const again = callWith(call, body)
    if (!isOfRun(call, endpoint, body, delivery.runId)) return exchange(again)
    const { method, headers } = call
    return this.#submit(work, { method, endpoint, headers, body, skip }, () => exchange(again))
  }

  async #submit(
    work: DeliveryWork,
    given: Omit<Submission, 'what' | 'at'>,
    exchange: () => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const delivery = work.delivery!
    const { endpoint, method, body } = given
    const nth = work.made++
    const submission: Submission = { ...given, what: submitted(endpoint, method, body), at: this.sandbox.clock.now() }
    ;(delivery.submissions as Submission[]).push(submission)
    if (work.submitsNothing) return pretended(endpoint, body)
    const held = this.#disturbance('notify-first', delivery, nth)
    if (held !== undefined) await this.#untilEvent(work, held.heldMs)
    if (this.#disturbance('before-submission', delivery, nth) !== undefined) return this.#die(work)
    const answer = await exchange()
    return this.#disturbance('after-submission', delivery, nth) === undefined ? answer : this.#die(work)
  }

  /** The wait is held until the event that it is for has come. */
  async #untilEvent(work: DeliveryWork, ms: number): Promise<void> {
    const events = (): number => this.sandbox.traffic.of('notify').length
    const before = events()
    await work.task?.sleep(ms + 1)
    for (let turn = 0; turn < mostTurns && events() === before; turn++) await work.task?.sleep(0)
  }

  #die(work: DeliveryWork): Promise<never> {
    work.die()
    this.#restart()
    return new Promise(() => {})
  }

  /** @returns false when nobody is left to hear the answer */
  #called(call: ForeignCall): boolean {
    if (this.#works.getStore()?.dead) return false
    this.calls.push(call)
    return true
  }

  /** Path below the address of the queue; `undefined` for other services. */
  #endpointOf({ url }: Call): string | undefined {
    const { queue } = this.sandbox.addresses
    return url.startsWith(`${queue}/`) ? url.slice(queue.length).split('?')[0] : undefined
  }
}

function toldOf({ submissions, carries }: RunDelivery): string {
  const last = submissions.at(-1)
  return last === undefined ? carries : last.what
}

/** The list of steps that a delivery is about. */
function listOf({ message: { part } }: Attempt): string {
  return part instanceof StepPart ? text(part.run.listUpTo(part.index)) : '[]'
}
