import type { FaultSource } from '../../faults/fault.js'
import { bindMethods } from '../../kernel/bind-methods.js'
import type { ServiceClock } from '../../kernel/clock.js'
import type { ClockGap } from '../../kernel/cron.js'
import { IdSource, type Random } from '../../kernel/random.js'
import type { Timer } from '../../kernel/time.js'
import type { ResolvedPolicy, ResolvedQueueLimits } from '../../policy/policy.js'
import type { Message } from '../message/message.js'
import { refusals } from '../settings/queue-rejections.js'
import type { NoteSetting } from '../settings/settings-log.js'
import { faultyFire } from './fire-faults.js'
import { Schedule, type ScheduleDraft } from './schedule.js'

export class Schedules {
  static {
    bindMethods(Schedules)
  }

  readonly #schedules = new Map<string, Schedule>()
  readonly #clock: ServiceClock
  readonly #policy: ResolvedPolicy
  readonly #limits: ResolvedQueueLimits
  readonly #ids: IdSource
  readonly #publish: (schedule: Schedule, awaited: boolean, cause: number) => readonly Message[]
  readonly #note: NoteSetting
  readonly #faults: FaultSource | undefined

  /**
   * @param publish publishes the messages of one firing; its argument `awaited` says whether a drain waits for them
   * @internal
   */
  constructor(
    clock: ServiceClock,
    random: Random,
    policy: ResolvedPolicy,
    limits: ResolvedQueueLimits,
    publish: (schedule: Schedule, awaited: boolean, cause: number) => readonly Message[],
    note: NoteSetting,
    faults?: FaultSource,
  ) {
    this.#clock = clock
    this.#policy = policy
    this.#limits = limits
    this.#ids = new IdSource(random.fork('schedule'), 'scd_', 28)
    this.#publish = publish
    this.#note = note
    this.#faults = faults
  }

  /** @internal */
  get(id: string): Schedule | undefined {
    return this.#schedules.get(id)
  }

  /** Returns all schedules. */
  list(): readonly Schedule[] {
    return [...this.#schedules.values()]
  }

  /**
   * Creates a schedule. If a schedule with this ID exists, it is replaced with all its settings.
   * @param missed for a schedule from a dump: fire time in milliseconds that has passed, and for which the schedule
   *   fires immediately
   * @internal
   */
  create(draft: ScheduleDraft, missed?: number): Schedule {
    const id = draft.settings.scheduleId ?? this.#nextId()
    const before = this.#schedules.get(id)
    const { enforceQuotas, quotaStatus, replacedScheduleKeepsCreatedAt, replacedScheduleStaysPaused } = this.#policy
    if (before === undefined && enforceQuotas && this.#schedules.size >= this.#limits.schedules) {
      throw refusals.quota('maxSchedules', this.#limits.schedules, quotaStatus)
    }
    const now = this.#clock.now()
    const schedule = new Schedule(
      id,
      before !== undefined && replacedScheduleKeepsCreatedAt ? before.createdAt : now,
      draft,
      this.#policy,
    )
    if (before !== undefined) {
      before.stop()
      schedule.paused = replacedScheduleStaysPaused && before.paused
    }
    this.#schedules.set(id, schedule)
    const { cron } = draft
    const change = before === undefined ? 'created' : 'replaced'
    schedule.trail = this.#note(
      'schedule',
      id,
      change,
      { cron, to: schedule.destination, paused: schedule.paused },
      draft.cause,
    )
    this.#plan(schedule, missed === undefined ? now : missed - 1)
    return schedule
  }

  /** Returns an ID that no schedule of a loaded dump has. */
  #nextId(): string {
    let id = this.#ids.next()
    while (this.#schedules.has(id)) id = this.#ids.next()
    return id
  }

  /** @internal */
  delete(id: string): void {
    const schedule = this.#schedules.get(id)
    if (schedule === undefined) return
    schedule.stop()
    this.#schedules.delete(id)
    this.#note('schedule', id, 'deleted')
  }

  /**
   * Pauses or resumes a schedule. A paused schedule publishes nothing at its fire times.
   * @internal
   */
  setPaused(schedule: Schedule, paused: boolean): void {
    if (schedule.paused === paused) return
    schedule.paused = paused
    const seq = this.#note('schedule', schedule.id, paused ? 'paused' : 'resumed')
    schedule.pauseTrail = paused ? seq : undefined
  }

  /**
   * Fires a schedule now, even if it is paused, and returns the messages that it published. Its next fire times stay
   * unchanged.
   * @throws RangeError when the schedule does not exist
   */
  fire(id: string): readonly Message[] {
    const schedule = this.#schedules.get(id)
    if (schedule === undefined) {
      throw new RangeError(
        `fire(): there is no schedule ${JSON.stringify(id)} (existing schedules: ${[...this.#schedules.keys()].join(', ') || 'none'}).`,
      )
    }
    return this.#trigger(schedule, true, 'fired-by-hand')
  }

  /** @internal */
  stop(): void {
    for (const schedule of this.#schedules.values()) schedule.stop()
    this.#schedules.clear()
  }

  /** Returns at most `most` fire times of a schedule from `from` to `to`. The schedule does not fire. */
  upcoming(id: string, from: number, to: number, most: number = Number.POSITIVE_INFINITY): readonly number[] {
    const schedule = this.#schedules.get(id)
    const slots: number[] = []
    for (let at = schedule?.cron.next(from - 1); at !== undefined && at <= to; at = schedule?.cron.next(at)) {
      slots.push(at)
      if (slots.length >= most) break
    }
    return slots
  }

  #plan(schedule: Schedule, after: number): void {
    const next = schedule.cron.next(after)
    schedule.nextTime = next
    const gaps = next === undefined ? [] : schedule.cron.gaps(after, next)
    schedule.gapTimers = gaps.map((gap) => this.#planGap(schedule, gap))
    schedule.timer =
      next === undefined
        ? undefined
        : this.#clock.schedule(next, `schedule ${schedule.id}`, () => this.#slot(schedule, next), { background: true })
  }

  /** Plans a log entry about a fire time that is skipped: clocks are set forward, so its local time does not exist. */
  #planGap(schedule: Schedule, { at, from, to, zone }: ClockGap): Timer {
    const because = `the clocks of ${zone} are set forward from ${from} to ${to}`
    const note = (): void => void this.#note('schedule', schedule.id, 'skipped', { because }, schedule.trail)
    return this.#clock.schedule(at, `schedule ${schedule.id}, a skipped fire time`, note, { background: true })
  }

  /**
   * Handles a fire time. The schedule fires only once if several fire times have passed while the sandbox was saved or
   * the host was asleep.
   */
  #slot(schedule: Schedule, at: number): void {
    const { mode, isDraining: draining } = this.#clock
    const now = this.#clock.now()
    const change = now > at && mode !== 'real' ? 'fired-late' : 'fired'
    if (schedule.paused)
      this.#note('schedule', schedule.id, 'skipped', { because: 'it is paused' }, schedule.pauseTrail ?? schedule.trail)
    else this.#trigger(schedule, !draining, change)
    this.#plan(schedule, Math.max(at, now))
  }

  #trigger(schedule: Schedule, awaited: boolean, change = 'fired'): readonly Message[] {
    const plan = faultyFire(this.#faults, schedule, this.#clock)
    if (plan === undefined) return this.#fire(schedule, awaited, change)
    const { times, wait, apart } = plan
    let fired: readonly Message[] = []
    for (let count = 0; count < times; count++) {
      const later = wait + count * apart
      if (later === 0) fired = [...fired, ...this.#fire(schedule, awaited, change)]
      else this.#fireLater(schedule, awaited, change, later)
    }
    return fired
  }

  #fireLater(schedule: Schedule, awaited: boolean, change: string, wait: number): void {
    const fire = (): void => {
      // The schedule may have been deleted or replaced during the delay. Then it does not fire.
      if (this.#schedules.get(schedule.id) === schedule) this.#fire(schedule, awaited, change)
    }
    const options = awaited ? undefined : ({ awaited: false } as const)
    this.#clock.schedule(this.#clock.now() + wait, `schedule ${schedule.id}, held by a fault`, fire, options)
  }

  #fire(schedule: Schedule, awaited: boolean, change: string): readonly Message[] {
    schedule.lastTime = this.#clock.now()
    const cause = this.#note('schedule', schedule.id, change, undefined, schedule.trail)
    schedule.lastMessages = this.#publish(schedule, awaited, cause)
    return schedule.lastMessages
  }
}

/** Returns the API field `lastScheduleStates`: the state of each message of the latest firing, by message ID. */
export function lastStates(schedule: Schedule): Record<string, 'IN_PROGRESS' | 'SUCCESS' | 'FAIL'> {
  return Object.fromEntries(
    schedule.lastMessages.map((message) => [
      message.id,
      message.state === 'DELIVERED' ? 'SUCCESS' : message.state === 'FAILED' ? 'FAIL' : 'IN_PROGRESS',
    ]),
  )
}
