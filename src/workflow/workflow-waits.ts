import type { Bytes } from '../kernel/bytes.js'
import type { ServiceClock } from '../kernel/clock.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Message } from '../queue/message/message.js'
import type { Wait, WorkflowRunState } from './workflow-run.js'

/** A wait that an event has ended, with the message that delivers the event to the endpoint. */
export interface ResolvedWait {
  readonly wait: Wait
  readonly message: Message
}

/** The pending waits of all runs by event. An event that arrived too early ends a later wait. [workflow.md 7, 8] */
export class Waits {
  readonly #clock: ServiceClock
  readonly #policy: ResolvedPolicy
  readonly #wake: (wait: Wait, event: Bytes | undefined) => Message
  /** Waits by event ID, in the order in which they began. */
  readonly #byEvent = new Map<string, Set<Wait>>()

  /**
   * @param wake function that submits the result of a wait. It gets the data of the event, or `undefined` after the
   * timeout
   */
  constructor(clock: ServiceClock, policy: ResolvedPolicy, wake: (wait: Wait, event: Bytes | undefined) => Message) {
    this.#clock = clock
    this.#policy = policy
    this.#wake = wake
  }

  reset(): void {
    for (const waits of this.#byEvent.values()) for (const wait of waits) wait.timer?.cancel()
    this.#byEvent.clear()
  }

  /** Begins a wait. If its event has already arrived, the wait ends immediately. */
  add(wait: Wait): void {
    const early = wait.run.early?.get(wait.eventId)
    const event = early?.shift()
    if (early?.length === 0) wait.run.early!.delete(wait.eventId)
    if (event !== undefined) {
      wait.state = 'notified'
      this.#wake(wait, event)
      return
    }
    this.restore(wait)
  }

  /** Begins a wait, and ignores events that have already arrived. */
  restore(wait: Wait): void {
    const label = `timeout of a wait for event ${JSON.stringify(wait.eventId)}`
    wait.timer = this.#clock.schedule(wait.deadline, label, () => this.finish(wait, undefined))
    wait.run.waits ??= new Set()
    wait.run.waits.add(wait)
    const waits = this.#byEvent.get(wait.eventId)
    if (waits === undefined) this.#byEvent.set(wait.eventId, new Set([wait]))
    else waits.add(wait)
  }

  /** Yields all waits. The waits for one event are in the order in which they began. */
  *all(): Generator<Wait> {
    for (const waits of this.#byEvent.values()) yield* waits
  }

  /** Returns whether any run waits for an event. Takes constant time. */
  isAwaited(eventId: string): boolean {
    return this.#byEvent.has(eventId)
  }

  /** Returns the waits for an event. The first one receives the event first. */
  of(eventId: string, run?: WorkflowRunState): readonly Wait[] {
    // A run has few waits, but many runs may wait for one event. So search the waits of the run.
    const waits =
      run === undefined
        ? [...(this.#byEvent.get(eventId) ?? [])]
        : [...(run.waits ?? [])].filter((wait) => wait.eventId === eventId)
    return this.#policy.workflowNotifyOrder === 'newest' ? waits.reverse() : waits
  }

  /** Ends the waits for an event. @returns the waits that the event ended, with the messages that deliver the event */
  notify(eventId: string, event: Bytes, run?: WorkflowRunState): readonly ResolvedWait[] {
    return this.of(eventId, run).map((wait) => {
      this.#leave(wait, 'notified')
      return { wait, message: this.#wake(wait, event) }
    })
  }

  /** Ends one wait. @param event data of the event, or `undefined` after the timeout */
  finish(wait: Wait, event: Bytes | undefined): void {
    this.#leave(wait, event === undefined ? 'timed-out' : 'notified')
    this.#wake(wait, event)
  }

  /** Stores an event for a later wait of a run. If several events are stored, the oldest is used first. */
  remember(run: WorkflowRunState, eventId: string, event: Bytes): void {
    run.early ??= new Map()
    const events = run.early.get(eventId)
    if (events === undefined) run.early.set(eventId, [event])
    else events.push(event)
  }

  /** Removes the waits and stored events of a run that has ended. */
  drop(run: WorkflowRunState): void {
    for (const wait of run.waits ?? []) this.#leave(wait, 'dropped')
    run.early?.clear()
  }

  #leave(wait: Wait, state: Wait['state']): void {
    wait.state = state
    wait.timer?.cancel()
    wait.run.waits?.delete(wait)
    const waits = this.#byEvent.get(wait.eventId)
    waits?.delete(wait)
    if (waits?.size === 0) this.#byEvent.delete(wait.eventId)
  }
}
