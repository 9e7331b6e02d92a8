import type { Clock } from '../../kernel/clock.js'
import { type Duration, formatDuration } from '../../kernel/duration.js'
import type { Random } from '../../kernel/random.js'
import type { Task, Timer } from '../../kernel/time.js'
import type { Attempt } from '../destinations/attempt.js'
import type { DeliveryContext } from '../destinations/destinations.js'
import { noAnswer } from '../destinations/perform.js'
import type { WireReply } from '../destinations/wire.js'

/** Who keeps the calls, and hears of their ends. */
export interface CallOwner {
  readonly clock: Clock
  /** For what faults in scripts leave to chance. */
  readonly random: Random
  /** Bytes of an answer's body that are kept. */
  readonly longestBody: number
  /** Real milliseconds that code in this process may take without ending or sleeping. */
  readonly handlerPatience: number | undefined
  /** It has an answer, or time ran out. */
  ended(call: RunningCall, reply: WireReply): void
}

/** What the log says when time ran out. [queue.md 4.3, choice] */
const timedOut = 'context deadline exceeded'

/** The same for a network, whose own time-outs come first. */
const networkPatience = 600_000

const notAwaited = { awaited: false } as const

/**
 * The time between a delivery's start and its answer, and the task that a handler gets. Virtual time passes only while
 * the handler sleeps, so the alarm is set by its first sleep: most handlers never need one.
 */
export class RunningCall implements DeliveryContext, Task {
  ended = false
  #alarm: Timer | undefined
  #onTimeout: (() => void) | undefined
  #note: string | undefined

  constructor(
    readonly work: Task,
    readonly timeout: number,
    readonly attempt: Attempt,
    readonly owner: CallOwner,
  ) {}

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

  get longestBody(): number {
    return this.owner.longestBody
  }

  onTimeout(run: () => void): void {
    this.#onTimeout = run
  }

  now(): number {
    return this.owner.clock.now()
  }

  draw(below: number): number {
    return this.owner.random.int(below)
  }

  again(afterMs: number, run: (context: DeliveryContext) => Promise<void>, when?: 'now'): void {
    const { clock } = this.owner
    const label = `copy of a ${this.label}`
    const copy = (task: Task): Promise<void> => {
      task.whenStuck?.(
        () => this.#patience,
        () => `a ${label} ${this.#stuck}: nobody waits for it any more.`,
      )
      return run(new CopiedCall(task, this))
    }
    if (when === 'now') void clock.track(label, copy)
    else clock.schedule(clock.now() + afterMs, label, copy, this.#timerOptions)
  }

  /** The handler answers later, if at all: sees to it that time runs out once anything sleeps, or nothing happens. */
  watchWhenAsleep(): void {
    this.work.whenStuck?.(
      () => this.#patience,
      () => {
        const told = `the handler ${this.#stuck}`
        this.watch(told)
        return `${this.label}, message ${this.attempt.messageId}: ${told}, and the delivery meets its time-out.`
      },
    )
    this.work.whenAsleep?.(() => this.watch())
  }

  /** A delivery over the network can be aborted. */
  get #patience(): number | undefined {
    const { handlerPatience } = this.owner
    return handlerPatience === undefined || this.#onTimeout === undefined ? handlerPatience : networkPatience
  }

  get #stuck(): string {
    return (
      `has neither ended nor slept for ${formatDuration(this.#patience!)} of real time (policy.handlerPatience). ` +
      'Make sure that it returns or throws, and lets virtual time pass with task.sleep(). It counts as one that never answers'
    )
  }

  /** The answer was not immediate: give up when time is over. */
  watch(note?: string): void {
    if (note !== undefined) this.#note = note
    if (this.ended || this.#alarm !== undefined) return
    const giveUp = (): void => {
      const { status, headers, body } = noAnswer
      this.end({ status, headers, body, error: timedOut, ...(this.#note !== undefined && { note: this.#note }) })
      this.#onTimeout?.()
    }
    const at = this.attempt.at + this.timeout
    this.#alarm = this.owner.clock.schedule(at, 'time-out of a delivery', giveUp, this.#timerOptions)
  }

  end(reply: WireReply): void {
    if (this.#over()) this.owner.ended(this, reply)
  }

  /** Ends without a result: what becomes of the attempt is decided elsewhere. */
  cutOff(): boolean {
    if (!this.#over()) return false
    this.#onTimeout?.()
    return true
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

/** A delivery that the queue knows nothing of: nobody gives it up. */
class CopiedCall implements DeliveryContext {
  constructor(
    readonly task: Task,
    private readonly original: RunningCall,
  ) {}

  get timeout(): number {
    return this.original.timeout
  }

  get longestBody(): number {
    return this.original.longestBody
  }

  onTimeout(): void {}

  now(): number {
    return this.original.now()
  }

  draw(below: number): number {
    return this.original.draw(below)
  }

  again(afterMs: number, run: (context: DeliveryContext) => Promise<void>, when?: 'now'): void {
    this.original.again(afterMs, run, when)
  }
}
