import type { DeliveryContext } from '../../../../src/queue/destinations/delivery-context.js'
import type { RawOutcome } from '../../../../src/queue/message/message.js'
import type { Attempt } from '../../../../src/queue/message/message-entries.js'
import type { CrashSandbox } from './crash-sandbox.js'
import { DeliveryWork, lost, type Mutable } from './crash-work.js'
import { carriedBy, deliveryPointOf, type RunDelivery } from './run-delivery.js'
import { refusalOf } from './run-requests.js'

/** Number of deliveries after which a crash plan is abandoned. */
const maxDeliveries = 500

/** Maximum number of sleeps of 0 ms with which a branch waits for the branches that must end before it. */
const maxTurns = 1_000

/** Handles the deliveries of workflow runs, and disrupts them as the crash plan says. */
export class CrashDeliveries {
  readonly all: RunDelivery[] = []
  readonly #world: CrashSandbox
  readonly #cuts = new Map<string, number>()
  readonly #answered = new Set<string>()
  #late: { readonly runId: string; readonly again: () => Promise<unknown> }[] = []

  constructor(world: CrashSandbox) {
    this.#world = world
    const { destinations } = world.sandbox
    const deliver = destinations.deliver.bind(destinations)
    destinations.deliver = ((attempt: Attempt, ...rest: [DeliveryContext]) => {
      const place = this.#placed(attempt)
      const { part } = attempt.message
      if (part === undefined || part.isCall || world.works.getStore()?.submitsNothing) return deliver(attempt, ...rest)
      return this.#deliver(attempt, rest[0], place, () => deliver(attempt, ...rest))
    }) as typeof destinations.deliver
  }

  /**
   * Whether a disruption hit every attempt of a message, so that it has no retries left. The run then has no result.
   */
  get isExhausted(): boolean {
    const { traffic } = this.#world.sandbox
    return traffic.ofType('dead-letter').some(({ messageId }) => {
      const attempts = traffic.forMessage(messageId).filter(({ type }) => type === 'attempt')
      return this.#cuts.get(messageId) === attempts.length
    })
  }

  /**
   * Performs the late repetitions that have not happened yet when all workflow runs have ended.
   * @returns their number
   */
  async playLate(): Promise<number> {
    const late = this.#late.splice(0)
    for (const { again } of late) await again()
    return late.length
  }

  #placed({ kind }: Attempt): RunDelivery['place'] {
    const point = kind === 'message' ? 'queue.delivery' : 'queue.callback'
    return { point, skip: this.#world.count(point) }
  }

  async #deliver(
    attempt: Attempt,
    context: DeliveryContext,
    place: RunDelivery['place'],
    deliver: () => RawOutcome | Promise<RawOutcome>,
  ): Promise<RawOutcome> {
    const world = this.#world
    const { sandbox, isPlain } = world
    await world.started
    const runId = attempt.workflowRunId ?? ''
    const { carries, step, key: name } = carriedBy(attempt)
    const key = `${runId} ${name}`
    const moment = `${runId} ${deliveryPointOf(attempt, name)}`
    const at = world.times.get(moment) ?? sandbox.clock.now()
    if (isPlain) world.times.set(moment, at)
    const ordinal = this.all.length + 1
    const delivery: Mutable<RunDelivery> = {
      ordinal,
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
      effects: [],
      ...(isPlain && { storesBefore: sandbox.stores.map((store) => store.dump()) }),
    }
    this.all.push(delivery)
    if (ordinal === maxDeliveries) this.#giveUp()
    await this.#takeTurn(key, context)
    if (world.disturbance('before-handler', ordinal) !== undefined)
      return this.#lost(attempt, 'the process died before the handler ran')
    const run = (submits: boolean): Promise<RawOutcome> => {
      const own = submits ? delivery : { ...delivery, ordinal: 0, submissions: [], effects: [] }
      const work = new DeliveryWork(world.seedOf(moment), () => at, own, context.task)
      return world.works.run(work, () => Promise.race([deliver(), work.death]))
    }
    const others = world.disturbance('duplicate', ordinal) === undefined ? [] : [run(false)]
    const [reply] = await Promise.all([run(true), ...others])
    delivery.told = toldOf(delivery)
    if (isPlain) delivery.refusal = refusalOf(reply!)
    if (reply!.error !== undefined) this.#cut(attempt)
    this.#answered.add(key)
    await this.#playLateOf(runId)
    if (world.disturbance('late-retry', ordinal) !== undefined) this.#late.push({ runId, again: () => run(false) })
    if (world.disturbance('after-answer', ordinal) === undefined) return reply!
    return this.#lost(attempt, 'the handler responded, but the process died and the response was lost')
  }

  #giveUp(): void {
    this.#world.error ??= new RangeError(
      `assertCrashSafe(): the runs have had ${maxDeliveries.toLocaleString('en')} deliveries and have not ended. End the workflow run after a limited number of steps, or limit the time with drain: ({ clock }) => clock.advance('1d').`,
    )
    this.#world.sandbox.clock.interrupt()
  }

  #lost(attempt: Attempt, note: string): RawOutcome {
    this.#world.restart()
    this.#cut(attempt)
    return lost(note)
  }

  #cut({ messageId }: Attempt): void {
    this.#cuts.set(messageId, (this.#cuts.get(messageId) ?? 0) + 1)
  }

  /** Waits until all branches have ended that must end before this branch in the crash plan. */
  async #takeTurn(key: string, { task }: DeliveryContext): Promise<void> {
    const { disturbances } = this.#world
    const order = disturbances.find((one) => one.kind === 'branch-order' && one.order.includes(key))
    if (order === undefined) return
    const before = order.order.slice(0, order.order.indexOf(key))
    for (let turn = 0; turn < maxTurns && !before.every((one) => this.#answered.has(one)); turn++) await task.sleep(0)
  }

  async #playLateOf(runId: string): Promise<void> {
    const due = this.#late.filter((late) => late.runId === runId)
    this.#late = this.#late.filter((late) => late.runId !== runId)
    for (const { again } of due) await again()
  }
}

function toldOf({ submissions, carries }: RunDelivery): string {
  const last = submissions.at(-1)
  return last === undefined ? carries : last.what
}
