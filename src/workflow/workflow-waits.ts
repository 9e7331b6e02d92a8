import type { Bytes } from '../kernel/bytes.js'
import type { ServiceClock } from '../kernel/clock.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Message } from '../queue/message/message.js'
import type { Wait, WorkflowRunState } from './workflow-run.js'

/** A wait that an event ended, and the message that tells the endpoint. */
export interface ResolvedWait {
  readonly wait: Wait
  readonly message: Message
}

/** Who waits for which event, and which events came too early. [workflow.md 7, 8] */
export class Waits {
  readonly #clock: ServiceClock
  readonly #policy: ResolvedPolicy
  readonly #wake: (wait: Wait, event: Bytes | undefined) => Message
  /** By event, in the order in which they began to wait. */
  readonly #byEvent = new Map<string, Set<Wait>>()

  /** @param wake delivers the result of a wait: the event, or `undefined` when its time is over */
  constructor(clock: ServiceClock, policy: ResolvedPolicy, wake: (wait: Wait, event: Bytes | undefined) => Message) {
    this.#clock = clock
    this.#policy = policy
    this.#wake = wake
  }

  reset(): void {
    for (const waits of this.#byEvent.values()) for (const wait of waits) wait.timer?.cancel()
    this.#byEvent.clear()
  }

  /** Waits, or takes an event that came before. */
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

  /** Waits until the deadline, whatever came before. */
  restore(wait: Wait): void {
    const label = `time-out of a wait for event ${JSON.stringify(wait.eventId)}`
    wait.timer = this.#clock.schedule(wait.deadline, label, () => this.finish(wait, undefined))
    wait.run.waits ??= new Set()
    wait.run.waits.add(wait)
    const waits = this.#byEvent.get(wait.eventId)
    if (waits === undefined) this.#byEvent.set(wait.eventId, new Set([wait]))
    else waits.add(wait)
  }

  /** Everybody who waits; those for one event in the order in which they began. */
  *all(): Generator<Wait> {
    for (const waits of this.#byEvent.values()) yield* waits
  }

  /** Whether anybody waits for an event, however many do. */
  isAwaited(eventId: string): boolean {
    return this.#byEvent.has(eventId)
  }

  /** Those that wait for an event, in the order in which they are told. */
  of(eventId: string, run?: WorkflowRunState): readonly Wait[] {
    // A run has few waits, an event may have very many.
    const waits =
      run === undefined
        ? [...(this.#byEvent.get(eventId) ?? [])]
        : [...(run.waits ?? [])].filter((wait) => wait.eventId === eventId)
    return this.#policy.workflowNotifyOrder === 'newest' ? waits.reverse() : waits
  }

  /** @returns the waits that the event ended, with the messages that tell of it */
  notify(eventId: string, event: Bytes, run?: WorkflowRunState): readonly ResolvedWait[] {
    return this.of(eventId, run).map((wait) => {
      this.#leave(wait, 'notified')
      return { wait, message: this.#wake(wait, event) }
    })
  }

  /** Ends one wait only. @param event `undefined`: its time is over */
  finish(wait: Wait, event: Bytes | undefined): void {
    this.#leave(wait, event === undefined ? 'timed-out' : 'notified')
    this.#wake(wait, event)
  }

  /** Keeps an event for the next wait of a run, oldest first. */
  remember(run: WorkflowRunState, eventId: string, event: Bytes): void {
    run.early ??= new Map()
    const events = run.early.get(eventId)
    if (events === undefined) run.early.set(eventId, [event])
    else events.push(event)
  }

  /** The run is over: it waits for nothing. */
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
