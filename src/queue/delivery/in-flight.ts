import type { Attempt } from '../destinations/attempt.js'
import type { Destinations } from '../destinations/destinations.js'
import type { WireReply } from '../destinations/wire.js'
import type { Meeting } from './faults.js'
import type { CallOwner, RunningCall } from './running-call.js'

/** Who says what becomes of an attempt. */
export interface FlightOwner extends CallOwner {
  readonly destinations: Destinations
  /** The answer came after the attempt had been given up. */
  late(attempt: Attempt, reply: WireReply): void
  /** It was cut off by a restart, and is due again at this time. */
  makeAgain(attempt: Attempt, until: number): void
}

/** The attempts whose answers are awaited. */
export class InFlight {
  readonly #owner: FlightOwner
  /** Whether a restart can cut them off: only then are they kept. */
  readonly #keeps: boolean
  readonly #calls = new Set<RunningCall>()

  constructor(owner: FlightOwner, keeps: boolean) {
    this.#owner = owner
    this.#keeps = keeps
  }

  /** Delivers, and sees to the answer. */
  run(call: RunningCall, met?: Meeting): Promise<void> | void {
    const { attempt } = call
    const { destinations } = this.#owner
    if (met?.restart !== undefined) return this.#runIntoRestart(call, met)
    const reply = destinations.deliver(attempt, call, met?.encounters)
    if (reply instanceof Promise) {
      this.#wait(call)
      return reply.then((given) => {
        if (given.never === true) call.watch(given.note)
        else if (call.ended) this.#owner.late(attempt, given)
        else call.end(given)
      })
    }
    if (reply.never === true) {
      if (this.#keeps) this.#calls.add(call)
      call.watch(reply.note)
    } else {
      // A handler may have slept without waiting for it: the alarm is set.
      call.end(reply)
    }
  }

  /** An attempt has ended in whatever way. */
  over(call: RunningCall): void {
    if (this.#calls.size > 0) this.#calls.delete(call)
  }

  /** Cuts off what is in flight: it is made again once the service is up. */
  restart(until: number): void {
    const calls = [...this.#calls]
    this.#calls.clear()
    for (const call of calls) if (call.cutOff()) this.#owner.makeAgain(call.attempt, until)
  }

  #wait(call: RunningCall): void {
    if (this.#owner.clock.mode === 'real') call.watch()
    call.watchWhenAsleep()
    if (this.#keeps) this.#calls.add(call)
  }

  /** The service restarts before the delivery, or when the handler has answered. */
  #runIntoRestart(call: RunningCall, { restart, encounters }: Meeting): Promise<void> | void {
    const { attempt } = call
    const { clock, destinations } = this.#owner
    const { downMs, phase } = restart!
    this.#calls.add(call)
    const down = (note?: string): void => {
      if (note !== undefined) attempt.note = note
      this.#owner.restart(clock.now() + downMs)
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
