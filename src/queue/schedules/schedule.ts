import type { Bytes } from '../../kernel/bytes.js'
import { CronExpression } from '../../kernel/cron.js'
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
  /** What `settings` were read from: a url group's defaults come underneath at each trigger. */
  readonly raw: RawSettings
  readonly headers: PublishHeaders | undefined
  readonly callerIp: string
  readonly region: string
  /** `seq` of the request that asked for it. */
  readonly cause?: number | undefined
}

/** The fields of a schedule. */
export type ScheduleView = Pick<Schedule, 'id' | 'createdAt' | 'paused' | 'lastTime' | 'nextTime' | 'error'>

/** A message that a cron expression publishes again and again. [queue.md 7] */
export class Schedule {
  static {
    loggedAsJson(Schedule)
  }

  readonly id: string
  createdAt: number
  /** @internal */
  readonly draft: ScheduleDraft
  paused = false
  /** @internal */
  timer: Timer | undefined
  /** Tells of the local times before the next slot that do not exist. @internal */
  gapTimers: readonly Timer[] = []
  /** `seq` of the entry that paused it. @internal */
  pauseTrail: number | undefined
  lastTime: number | undefined
  nextTime: number | undefined
  /** The messages of the last trigger, several for a url group. @internal */
  lastMessages: readonly Message[] = []
  /** Why the last trigger published nothing. */
  error: string | undefined
  /** `seq` of the entry that created it: what its triggers follow from. @internal */
  trail: number | undefined
  /** @internal */
  readonly cron: CronExpression
  /** A url, or the name of a url group. @internal */
  readonly destination: string

  /** @internal */
  constructor(id: string, createdAt: number, draft: ScheduleDraft, policy: ResolvedPolicy) {
    this.id = id
    this.createdAt = createdAt
    this.draft = draft
    this.destination = draft.target.url ?? draft.target.group
    try {
      this.cron = new CronExpression(draft.cron, { reads: policy.cronDialect, every: policy.cronEvery === 'accept' })
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
