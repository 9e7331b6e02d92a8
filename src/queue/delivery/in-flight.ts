import type { ServiceClock } from '../../kernel/clock.js'
import { type Duration, formatDuration } from '../../kernel/duration.js'
import type { Random } from '../../kernel/random.js'
import type { Task, Timer } from '../../kernel/time.js'
import type { ResolvedPolicy, ResolvedQueueLimits } from '../../policy/policy.js'
import { noResponse } from '../destinations/apply-faults.js'
import type { DeliveryContext } from '../destinations/delivery-context.js'
import type { DeliveryTarget } from '../destinations/destinations.js'
import type { RawOutcome } from '../message/message.js'
import type { Attempt } from '../message/message-entries.js'
import type { AttemptFaults } from './delivery-faults.js'

export interface Outcomes {
  /** Called with the response of the destination, or with the error of a timeout. */
  settle(attempt: Attempt, reply: RawOutcome): void
  /** Called with a response that arrives after the timeout of the attempt. */
  late(attempt: Attempt, reply: RawOutcome): void
  /** Called for an attempt that a restart of the service cut off. The attempt is repeated at the time `until`. */
  makeAgain(attempt: Attempt, until: number): void
  /** Called when a fault restarts the service. The service is down until the time `until`. */
  restart(until: number): void
}

export interface InFlightOptions {
  readonly clock: ServiceClock
  readonly random: Random
  readonly destinations: DeliveryTarget
  readonly policy: ResolvedPolicy
  readonly limits: ResolvedQueueLimits
  readonly outcomes: Outcomes
  /**
   * Whether a restart is possible. Only then must the attempts in flight be remembered, so that a restart can cut them
   * off.
   */
  readonly keeps: boolean
}

/** Attempts in flight: they have begun and have no response yet. */
export class InFlight {
  readonly clock: ServiceClock
  readonly longestBody: number
  readonly handlerStallTimeout: number | undefined
  readonly #longest: number
  readonly #options: InFlightOptions
  readonly #calls = new Set<RunningCall>()
  #random: Random | undefined

  constructor(options: InFlightOptions) {
    const { clock, policy, limits } = options
    this.#options = options
    this.clock = clock
    this.longestBody = limits.maxMessageSize
    this.handlerStallTimeout = policy.handlerStallTimeout
    this.#longest = limits.maxTimeout
  }

  get random(): Random {
    this.#random ??= this.#options.random.fork('script')
    return this.#random
  }

  begin(attempt: Attempt, task: Task, met?: AttemptFaults): Promise<void> | void {
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
      // If the handler called `sleep()` without `await`, its timeout is still set. `end()` cancels it.
      call.end(reply)
    }
  }

  ended(call: RunningCall, reply: RawOutcome): void {
    if (this.#calls.size > 0) this.#calls.delete(call)
    this.#options.outcomes.settle(call.attempt, reply)
  }

  /** Cuts off all attempts in flight. These attempts are repeated at the time `until`, when the service is up again. */
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

  /** Applies a fault that restarts the service, either before the delivery or after the handler has responded. */
  #runIntoRestart(call: RunningCall, { restart, encounters }: AttemptFaults): Promise<void> | void {
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

function deed({ error, status }: RawOutcome): string {
  const end = error === undefined ? `responded ${status}` : `failed: ${error}`
  return `the handler ran and ${end}, but the service restarted before it received the response`
}

/** Error of an attempt that timed out. This package chose the text; public sources leave it open. [queue.md 4.3] */
const timedOut = 'context deadline exceeded'

/**
 * Stall timeout in milliseconds for deliveries over the network. It is longer than the timeouts of the network itself.
 */
const networkPatience = 600_000

const notAwaited = { awaited: false } as const

/**
 * Attempt that has begun and has no response yet. It is also the task of the handler. Virtual time passes only while
 * the handler sleeps, so the timeout is set at the first sleep. Most handlers never sleep and need no timeout.
 */
export class RunningCall implements DeliveryContext, Task {
  ended = false
  #waits = false
  #isWatched = false
  #begunAt: number
  #alarm: Timer | undefined
  #onTimeout: (() => void) | undefined
  #abort: AbortController | undefined
  #note: string | undefined

  constructor(
    readonly work: Task,
    readonly timeout: number,
    readonly attempt: Attempt,
    readonly owner: InFlight,
  ) {
    this.#begunAt = attempt.at
  }

  get task(): Task {
    return this
  }

  get label(): string {
    return this.work.label
  }

  sleep(wait: Duration): Promise<void> {
    const asleep = this.work.sleep(wait)
    this.watch()
    return asleep
  }

  fallAsleep(): () => void {
    const rouse = this.work.fallAsleep!()
    this.watch()
    return rouse
  }

  get longestBody(): number {
    return this.owner.longestBody
  }

  /** The controller is created at the first use, because most destinations do not need it. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }

  onTimeout(run: () => void): void {
    this.#onTimeout = run
  }

  /**
   * Pauses the timeout of the attempt, because the delivery over the network may not start yet. Call the returned
   * function when the delivery starts. The timeout then starts from the beginning.
   */
  waits(): () => void {
    this.#waits = true
    this.#isWatched = this.#alarm !== undefined
    this.#alarm?.cancel()
    this.#alarm = undefined
    return () => {
      this.#waits = false
      this.#begunAt = this.now()
      if (this.#isWatched) this.watch()
    }
  }

  now(): number {
    return this.owner.clock.now()
  }

  draw(below: number): number {
    return this.owner.random.int(below)
  }

  again(afterMs: number, run: (context: DeliveryContext) => Promise<void>, when?: 'now'): void {
    const { clock } = this.owner
    const label = `duplicate of a ${this.label}`
    const copy = (task: Task): Promise<void> => {
      task.whenStuck?.(
        () => this.#patience,
        () => `The handler for a ${label} ${this.#stuck}, and virtual time no longer waits for it.`,
      )
      return run(copyOf(this, task))
    }
    if (when === 'now') void clock.track(label, copy)
    else clock.schedule(clock.now() + afterMs, label, copy, this.#timerOptions)
  }

  /** Watches a handler that has not responded immediately: sets the timeout once the handler sleeps or stalls. */
  watchWhenAsleep(): void {
    this.work.whenStuck?.(
      () => this.#patience,
      () => {
        const told = `the handler ${this.#stuck}`
        this.watch(told)
        return `${this.label}, message ${this.attempt.messageId}: ${told}, and the delivery times out.`
      },
    )
    this.work.whenAsleep?.(() => this.watch())
  }

  /**
   * Stall timeout in milliseconds of host time. Deliveries over the network, which are those with a timeout handler,
   * use `networkPatience`.
   */
  get #patience(): number | undefined {
    const { handlerStallTimeout } = this.owner
    return handlerStallTimeout === undefined || this.#onTimeout === undefined ? handlerStallTimeout : networkPatience
  }

  get #stuck(): string {
    return (
      `has neither ended nor slept for ${formatDuration(this.#patience!)} of host time (policy.handlerStallTimeout). ` +
      'Make sure that the handler returns or throws. It can let virtual time pass with task.sleep(). Now it counts as a handler that never responds'
    )
  }

  watch(note?: string): void {
    if (note !== undefined) this.#note = note
    if (this.#waits) this.#isWatched = true
    if (this.ended || this.#waits || this.#alarm !== undefined) return
    const giveUp = (): void => {
      const { status, headers, body } = noResponse
      this.end({ status, headers, body, error: timedOut, ...(this.#note !== undefined && { note: this.#note }) })
      this.#giveUp()
    }
    const at = this.#begunAt + this.timeout
    this.#alarm = this.owner.clock.schedule(at, 'timeout of a delivery', giveUp, this.#timerOptions)
  }

  end(reply: RawOutcome): void {
    if (this.#over()) this.owner.ended(this, reply)
  }

  /** Ends the attempt without a response. Returns `false` if the attempt has already ended. */
  cutOff(): boolean {
    if (!this.#over()) return false
    this.#giveUp()
    return true
  }

  /** Reports to the handler or the network that no one waits for the response. */
  #giveUp(): void {
    this.#onTimeout?.()
    this.#abort?.abort(new DOMException('The attempt has ended without a response.', 'TimeoutError'))
  }

  #over(): boolean {
    if (this.ended) return false
    this.ended = true
    this.#alarm?.cancel()
    return true
  }

  get #timerOptions(): { readonly awaited: false } | undefined {
    return this.attempt.message.awaited ? undefined : notAwaited
  }
}

/**
 * Returns the context of a duplicate delivery. It has no timeout, because the queue does not know about the duplicate.
 */
function copyOf(original: RunningCall, task: Task): DeliveryContext {
  const { timeout, longestBody } = original
  return {
    task,
    timeout,
    longestBody,
    signal: undefined,
    onTimeout() {},
    waits: () => () => {},
    now: () => original.now(),
    draw: (below) => original.draw(below),
    again: (afterMs, run, when) => original.again(afterMs, run, when),
  }
}
