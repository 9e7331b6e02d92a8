import type { Bytes } from '../../kernel/bytes.js'
import { type CronExpression, parseCron } from '../../kernel/cron.js'
import { stated } from '../../kernel/portable.js'
import type { Timer } from '../../kernel/time.js'
import { loggedAsJson } from '../../kernel/views.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import type { Message } from '../message/message.js'
import type { PublishHeaders } from '../publish/publish.js'
import type { PublishSettings, RawSettings } from '../settings/message-settings.js'
import { refusals } from '../settings/queue-rejections.js'
import type { PublishTarget } from '../settings/url.js'

export interface ScheduleDraft {
  readonly cron: string
  readonly target: PublishTarget
  readonly body: Bytes
  readonly settings: PublishSettings
  /**
   * Options of the request that created the schedule, before they were parsed to `settings`. Each firing merges these
   * options with the current defaults of the URL group.
   */
  readonly raw: RawSettings
  readonly headers: PublishHeaders | undefined
  readonly callerIp: string
  readonly region: string
  /** `seq` of the log entry about the request that created the schedule. Absent if no request created the schedule. */
  readonly cause?: number | undefined
}

/** Public fields of a schedule. */
export type ScheduleView = Pick<Schedule, 'id' | 'createdAt' | 'paused' | 'lastTime' | 'nextTime' | 'error'>

/** Schedule that publishes a message at the times of a cron expression. [queue.md 7] */
export class Schedule {
  static {
    loggedAsJson(Schedule)
  }

  /** ID of the schedule: `scd_…` if it was generated, or the ID that its creator chose. [queue.md 12] */
  readonly id: string
  /** Creation time in virtual milliseconds. */
  createdAt: number
  /** @internal */
  readonly draft: ScheduleDraft
  /** Whether the schedule is paused. Fire times during a pause are skipped. [queue.md 7] */
  paused = false
  /** @internal */
  timer: Timer | undefined
  /**
   * Timers for fire times that are skipped because clocks are set forward. Each adds a log entry.
   * @internal
   */
  gapTimers: readonly Timer[] = []
  /**
   * `seq` of the log entry about the current pause. `undefined` if the schedule is not paused.
   * @internal
   */
  pauseTrail: number | undefined
  /** Time of the latest firing in virtual milliseconds. `undefined` before the first one. */
  lastTime: number | undefined
  /** Next fire time in virtual milliseconds. `undefined` if the cron expression has no further fire time. */
  nextTime: number | undefined
  /**
   * Messages that the latest firing published: one, or one per endpoint of a URL group.
   * @internal
   */
  lastMessages: readonly Message[] = []
  /** Reason why the latest firing published nothing. `undefined` if it published messages. */
  error: string | undefined
  /**
   * `seq` of the log entry about the creation of the schedule, which is the cause of its firings.
   * @internal
   */
  trail: number | undefined
  /** @internal */
  readonly cron: CronExpression
  /**
   * URL or name of a URL group to which the schedule publishes.
   * @internal
   */
  readonly destination: string

  /** @internal */
  constructor(id: string, createdAt: number, draft: ScheduleDraft, policy: ResolvedPolicy) {
    this.id = id
    this.createdAt = createdAt
    this.draft = draft
    this.destination = draft.target.url ?? draft.target.group
    try {
      this.cron = parseCron(draft.cron, { reads: policy.cronDialect, every: policy.cronEvery === 'accept' })
    } catch (error) {
      if (error instanceof SyntaxError) throw refusals.invalidCron(error.message)
      throw error
    }
  }

  /** @internal */
  stop(): void {
    this.timer?.cancel()
    for (const timer of this.gapTimers) timer.cancel()
  }

  toJSON(): ScheduleView {
    const { id, createdAt, paused, lastTime, nextTime, error } = this
    return stated({ id, createdAt, paused, lastTime, nextTime, error })
  }
}
