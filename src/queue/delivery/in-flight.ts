import type { Clock } from '../../kernel/clock.js'
import type { Random } from '../../kernel/random.js'
import type { Task } from '../../kernel/time.js'
import type { Policy, QueueLimits } from '../../policy/policy.js'
import type { Attempt } from '../destinations/attempt.js'
import type { Destinations } from '../destinations/destinations.js'
import type { WireReply } from '../destinations/wire.js'
import type { Meeting } from './faults.js'
import { type CallOwner, RunningCall } from './running-call.js'

/** Decides what becomes of an attempt. */
export interface Outcomes {
  /** The destination answered, or time ran out. */
  settle(attempt: Attempt, reply: WireReply): void
  /** The answer came after the attempt had been given up. */
  late(attempt: Attempt, reply: WireReply): void
  /** It was cut off by a restart, and is due again at this time. */
  makeAgain(attempt: Attempt, until: number): void
  /** A fault restarts the service, which is up again at this time. */
  restart(until: number): void
}

export interface InFlightOptions {
  readonly clock: Clock
  readonly random: Random
  readonly destinations: Destinations
  readonly policy: Policy
  readonly limits: QueueLimits
  readonly outcomes: Outcomes
  /** Whether a restart can cut calls off: only then are they kept. */
  readonly keeps: boolean
}

/** The calls whose answers are awaited. */
export class InFlight implements CallOwner {
  readonly clock: Clock
  readonly longestBody: number
  readonly handlerPatience: number | undefined
  readonly #longest: number
  readonly #options: InFlightOptions
  readonly #calls = new Set<RunningCall>()
  #random: Random | undefined

  constructor(options: InFlightOptions) {
    const { clock, policy, limits } = options
    this.#options = options
    this.clock = clock
    this.longestBody = limits.maxMessageSize
    this.handlerPatience = policy.handlerPatience
    this.#longest = limits.maxTimeout
  }

  get random(): Random {
    this.#random ??= this.#options.random.fork('script')
    return this.#random
  }

  /** Delivers, and sees to the answer. */
  begin(attempt: Attempt, task: Task, met?: Meeting): Promise<void> | void {
    const { timeout = this.#longest } = attempt.message.settings
    const call = new RunningCall(task, Math.min(timeout, this.#longest), attempt, this)
    if (met?.restart !== undefined) return this.#runIntoRestart(call, met)
    const { destinations, outcomes, keeps } = this.#options
    const reply = destinations.deliver(attempt, call, met?.encounters)
    if (reply instanceof Promise) {
      this.#wait(call)
      return reply.then((given) => {
        if (given.never === true) call.watch(given.note)
        else if (call.ended) outcomes.late(attempt, given)
        else call.end(given)
      })
    }
    if (reply.never === true) {
      if (keeps) this.#calls.add(call)
      call.watch(reply.note)
    } else {
      // A handler may have slept without waiting for it: the alarm is set.
      call.end(reply)
    }
  }

  ended(call: RunningCall, reply: WireReply): void {
    if (this.#calls.size > 0) this.#calls.delete(call)
    this.#options.outcomes.settle(call.attempt, reply)
  }

  /** Cuts off what is in flight: it is made again once the service is up. */
  restart(until: number): void {
    const calls = [...this.#calls]
    this.#calls.clear()
    for (const call of calls) if (call.cutOff()) this.#options.outcomes.makeAgain(call.attempt, until)
  }

  #wait(call: RunningCall): void {
    if (this.clock.mode === 'real') call.watch()
    call.watchWhenAsleep()
    if (this.#options.keeps) this.#calls.add(call)
  }

  /** The service restarts before the delivery, or when the handler has answered. */
  #runIntoRestart(call: RunningCall, { restart, encounters }: Meeting): Promise<void> | void {
    const { attempt } = call
    const { destinations, outcomes } = this.#options
    const { downMs, phase } = restart!
    this.#calls.add(call)
    const down = (note?: string): void => {
      if (note !== undefined) attempt.note = note
      outcomes.restart(this.clock.now() + downMs)
    }
    if (phase === 'before') {
      down()
      return
    }
    const reply = destinations.deliver(attempt, call, encounters)
    if (!(reply instanceof Promise)) {
      down(deed(reply))
      return
    }
    this.#wait(call)
    return reply.then((given) => down(deed(given)))
  }
}

function deed({ error, status }: WireReply): string {
  const end = error === undefined ? `answered ${status}` : `failed: ${error}`
  return `the handler ran and ${end}, the service restarted before it knew`
}
