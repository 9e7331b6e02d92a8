import type { FaultSource } from '../faults/fault.js'
import type { Bytes } from '../kernel/bytes.js'
import type { ServiceClock } from '../kernel/clock.js'
import type { Random } from '../kernel/random.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import { weightOfText } from '../kernel/weight.js'
import type { BulkTarget } from './bulk-actions.js'
import type { DeadLetter } from './delivery/callbacks-and-dead-letters.js'
import type { DeliveryScheduler } from './delivery/delivery-scheduler.js'
import type { FifoQueues } from './delivery/fifo-queues.js'
import type { DumpedRun, RunsOfDump, RunsToLoad } from './dump/dumped-run-rows.js'
import { type Message, type MessageOrigin, messagesShare, weightOfMessage } from './message/message.js'
import { Published } from './message/message-entries.js'
import { Deduplication, deduplicationKey } from './publish/deduplication.js'
import { type PublishHeaders, readSettings } from './publish/publish.js'
import type { UrlGroup, UrlGroupEndpoint, UrlGroups } from './publish/url-groups.js'
import type { Schedule } from './schedules/schedule.js'
import { Schedules } from './schedules/schedules.js'
import type { PublishSettings, RawSettings } from './settings/message-settings.js'
import type { ReadContext } from './settings/publish-options.js'
import type { QueueDialect } from './settings/queue-dialect.js'
import { QueueRejection, refusals } from './settings/queue-rejections.js'
import type { NoteSetting } from './settings/settings-log.js'
import { checkReach, checkTarget, type PublishTarget } from './settings/url.js'

/** One publish, which comes from a request, a batch item, a schedule or a test. */
export interface PublishCall {
  readonly target: PublishTarget
  readonly settings: RawSettings
  readonly headers?: PublishHeaders
  readonly body: Bytes
  readonly callerIp: string
  readonly region: string
  readonly cause?: number | undefined
  /** Dialect of the publish. Its deliveries have the same dialect. */
  readonly words: QueueDialect
  readonly queue?: string | undefined
  /** Set if a schedule publishes: its ID, and whether a drain waits for the messages. */
  readonly schedule?: { readonly id: string; readonly awaited: boolean } | undefined
}

/** Publish whose options were parsed and checked. `send()` can still reject it because of its destination. */
export interface PreparedPublish {
  readonly call: PublishCall
  readonly settings: PublishSettings
  readonly group: UrlGroup | undefined
  readonly accept?: undefined
}

/** Checked publish that belongs to a workflow run. `accept()` passes it to the workflow engine. */
export interface PreparedRunPublish {
  readonly call: PublishCall
  readonly accept: () => readonly AcceptedPublish[]
}

/** Part of the workflow engine that the queue uses: accepts, dumps and loads workflow runs. */
export interface WorkflowPublisher {
  /**
   * Checks a publish that may belong to a workflow run.
   * @returns a function that accepts the publish; `undefined` when the publish belongs to no workflow run
   * @throws QueueRejection when the publish is invalid
   */
  prepare(call: PublishCall, raw: RawSettings): (() => AcceptedPublish) | undefined
  /** The workflow runs, as bulk actions cancel them. */
  readonly bulkTarget: BulkTarget
  reset(): void
  /** Returns all workflow runs for a dump. Deleted runs are included if one of the given messages belongs to them. */
  dump(known: Iterable<Message>): RunsOfDump
  /**
   * Replaces all workflow runs with those of a dump. Call it before the messages of the dump are restored.
   * @throws TypeError or QueueRejection when the runs are invalid
   */
  load(runs: readonly DumpedRun[], urls: readonly string[]): RunsToLoad
  /**
   * Removes all workflow runs, because a dump is being loaded.
   * @returns `takeBack()` restores the removed runs if the load fails; `end()` ends them if it succeeds
   */
  renew(): { takeBack(): void; end(): void }
}

export interface AcceptedPublish {
  readonly message: Message
  readonly deduplicated: boolean
}

/** Parsing context of one dialect. `shared` contains parsed settings, which publishes with the same options share. */
interface Reader {
  readonly context: ReadContext
  readonly shared: Map<string, PublishSettings>
}

/** Maximum number of parsed settings that are kept for sharing. */
const sharedAtMost = 256

export interface PublisherOptions {
  readonly clock: ServiceClock
  readonly random: Random
  readonly traffic: TrafficLog
  readonly context: ReadContext
  readonly urlGroups: UrlGroups
  readonly lanes: FifoQueues
  readonly courier: DeliveryScheduler
  readonly note: NoteSetting
  readonly faults: FaultSource | undefined
  readonly workflows: () => WorkflowPublisher | undefined
  readonly wordsAmong: (names: readonly string[]) => QueueDialect | undefined
}

/** Creates messages: for publishes, for firings of schedules, and for dead letters that are published again. */
export class Publisher {
  readonly schedules: Schedules
  /** Deduplication of messages. */
  readonly published: Deduplication<Message>
  /** Deduplication of schedules. */
  readonly scheduled: Deduplication<Schedule>
  readonly #readers = new Map<QueueDialect, Reader>()
  /** Origin of the latest message that a direct call published. Messages share it, to save memory. */
  #direct: MessageOrigin | undefined

  constructor(private readonly options: PublisherOptions) {
    const { clock, random, context, note, faults, traffic } = options
    const { policy, limits } = context
    this.published = new Deduplication(policy.deduplicationWindow, traffic.share(messagesShare), weightOfMessage)
    this.scheduled = new Deduplication(policy.deduplicationWindow, traffic.share(messagesShare), weightOfSchedule)
    const trigger = (schedule: Schedule, awaited: boolean, cause: number) => this.#trigger(schedule, awaited, cause)
    this.schedules = new Schedules(clock, random, policy, limits, trigger, note, faults)
  }

  /**
   * Parses and checks a publish. Some conditions are checked only by `send()`, because they may change before `send()`
   * is called.
   * @throws QueueRejection when it is invalid
   */
  prepare(call: PublishCall): PreparedPublish | PreparedRunPublish {
    const { target, body } = call
    const group = this.#groupOf(target)
    const { raw, headers } = overDefaults(group, call.settings, call.headers)
    if (target.group === '') throw refusals.noDestination()
    if (raw.has('workflow-runid') || raw.has('workflow-init')) {
      const accept = this.#prepareRuns({ ...call, headers }, raw, group)
      if (accept !== undefined) {
        this.#checkSize(body)
        return { call, accept }
      }
    }
    this.#checkDefaults(group, raw, headers, call.words)
    const settings = this.#read(raw, headers, call)
    checkTarget(target)
    this.#checkSize(body)
    return { call, settings, group }
  }

  /**
   * Checks a publish that starts or continues a workflow run. A publish to a URL group starts one run per endpoint.
   * @throws QueueRejection when it is invalid
   */
  #prepareRuns(
    call: PublishCall,
    raw: RawSettings,
    group: UrlGroup | undefined,
  ): (() => readonly AcceptedPublish[]) | undefined {
    const workflows = this.options.workflows()
    if (workflows === undefined) return undefined
    if (call.queue !== undefined) this.options.lanes.check(call.queue, undefined)
    const { target } = call
    if (target.url === undefined) {
      checkTarget(target)
      if (group === undefined) throw refusals.notFound('topic', target.group)
    }
    const targets = group === undefined ? [target] : group.endpoints.map(({ url }) => ({ url }))
    const accepts = targets.map((one) => workflows.prepare({ ...call, target: one }, raw))
    return accepts.includes(undefined) ? undefined : () => accepts.map((accept) => accept!())
  }

  /**
   * Checks and sends a publish. Creates one message, or one per endpoint of a URL group.
   * @throws QueueRejection when it is invalid
   */
  publish(call: PublishCall): readonly AcceptedPublish[] {
    return this.send(this.prepare(call))
  }

  #groupOf({ group }: PublishTarget): UrlGroup | undefined {
    return group === undefined ? undefined : this.options.urlGroups.get(group)
  }

  #checkSize(body: Bytes): void {
    const { maxMessageSize } = this.options.context.limits
    if (!this.options.context.policy.enforceQuotas || body.length <= maxMessageSize) return
    throw refusals.quota('maxMessageSize', maxMessageSize, this.options.context.policy.quotaStatus)
  }

  /**
   * Parses the options of a publish without creating a message.
   * @throws QueueRejection when they are invalid
   */
  settings(
    raw: RawSettings,
    words: QueueDialect,
    headers: PublishHeaders = {},
    base?: PublishSettings,
  ): PublishSettings {
    return readSettings(raw, this.#in(words).context, headers, base)
  }

  /**
   * Checks the default headers of a URL group again, for a publish without a dialect. Error messages then spell the
   * header names as in the defaults of the group.
   * @throws QueueRejection when they are invalid
   */
  #checkDefaults(group: UrlGroup | undefined, raw: RawSettings, headers: PublishHeaders, words: QueueDialect): void {
    if (group?.shownDefaults === undefined || words.tongues.length === 1) return
    const named = this.options.wordsAmong(Object.keys(group.shownDefaults))
    if (named !== undefined) this.settings(raw, named, headers)
  }

  #in(words: QueueDialect): Reader {
    const known = this.#readers.get(words)
    if (known !== undefined) return known
    const reader: Reader = { context: { ...this.options.context, words }, shared: new Map() }
    this.#readers.set(words, reader)
    return reader
  }

  /** Parses the settings of a publish. To save memory, publishes with the same options get the same object. */
  #read(raw: RawSettings, headers: PublishHeaders, { queue, words }: PublishCall): PublishSettings {
    const { context, shared } = this.#in(words)
    if (queue !== undefined) this.options.lanes.check(queue, undefined)
    const shareable = !raw.has('header-forward')
    let key = `${queue ?? ''}\n${headers.contentType ?? ''}`
    // Include the length of each name and value. A value may contain any characters, so without the lengths two
    // different lists of options could give the same key.
    if (shareable) {
      for (const [name, given] of raw) {
        if (typeof given === 'string') key += `\n${name.length} ${given.length} ${name}${given}`
        else for (const value of given) key += `\n${name.length} ${value.length} ${name}${value}`
      }
    }
    const known = shareable ? shared.get(key) : undefined
    if (known !== undefined) return known
    // A message is in the queue to which its request published it. The option `Queue-Name` has an effect only for
    // schedules. [queue.md 2.2]
    const settings: PublishSettings = { ...readSettings(raw, context, headers), queue }
    if (shareable) {
      if (shared.size >= sharedAtMost) shared.clear()
      shared.set(key, settings)
    }
    return settings
  }

  /**
   * Sends a prepared publish. Creates one message, or one per endpoint of a URL group.
   * @throws QueueRejection when the destination does not exist
   */
  send(prepared: PreparedPublish | PreparedRunPublish): readonly AcceptedPublish[] {
    if (prepared.accept !== undefined) return prepared.accept()
    const { call, settings, group } = prepared
    const { target, callerIp, region, cause, body } = call
    if (target.url !== undefined) {
      checkReach(target.url, this.options.context.policy)
      return [this.#enqueue(target.url, body, settings, this.#originOf(callerIp, region, cause))]
    }
    if (group === undefined) throw refusals.notFound('topic', target.group)
    return group.endpoints.map(({ url, name }) =>
      this.#enqueue(url, body, settings, { callerIp, region, cause, urlGroup: group.name, endpointName: name }),
    )
  }

  #originOf(callerIp: string, region: string, cause: number | undefined): MessageOrigin {
    if (cause !== undefined) return { callerIp, region, cause }
    if (this.#direct?.callerIp !== callerIp || this.#direct.region !== region)
      this.#direct = { callerIp, region, cause }
    return this.#direct
  }

  #enqueue(url: string, body: Bytes, settings: PublishSettings, origin: MessageOrigin): AcceptedPublish {
    const now = this.options.clock.now()
    const draft = { kind: 'message' as const, url, body, settings, origin }
    const key = deduplicationKey(settings, url, body, origin.urlGroup)
    const before = key === undefined ? undefined : this.published.find(key, now)
    if (before !== undefined) {
      this.options.traffic.adopt(new Published(before, true, draft), origin.cause ?? 0)
      return { message: before, deduplicated: true }
    }
    const message = this.options.courier.accept(draft)
    if (key !== undefined) this.published.remember(key, message, now)
    return { message, deduplicated: false }
  }

  /**
   * Publishes a dead letter again and removes it from the dead-letter queue. `overrides` replace some of its settings.
   * @param dialect dialect in which `overrides` were sent
   */
  retryDeadLetter(letter: DeadLetter, overrides: RawSettings, dialect: QueueDialect, cause?: number): AcceptedPublish {
    const { message } = letter
    checkRetry(letter)
    const base: PublishSettings = {
      ...message.settings,
      delay: 0,
      notBefore: undefined,
      deduplicationId: undefined,
      contentBasedDeduplication: false,
    }
    const settings = overrides.size === 0 ? base : this.settings(overrides, dialect, {}, base)
    // Keep the dialect of the first publish, even if the request for the retry uses another one.
    settings.words = message.settings.words
    settings.queue = message.settings.queue
    this.options.courier.deadLetters.delete(letter)
    const origin = { ...message.origin, cause }
    const key = deduplicationKey(settings, message.url, message.body, message.origin.urlGroup)
    if (key !== undefined) return this.#enqueue(message.url, message.body, settings, origin)
    const draft = { kind: message.kind, url: message.url, body: message.body, settings, origin }
    return { message: this.options.courier.accept(draft), deduplicated: false }
  }

  /**
   * Creates or replaces a schedule.
   * @throws QueueRejection 400 for an invalid cron expression, 412 above the quota
   */
  schedule(call: PublishCall): { readonly schedule: Schedule; readonly deduplicated: boolean } {
    const { target, body, callerIp, region, settings: raw, headers, words } = call
    if (target.group === '') throw refusals.noDestination()
    const settings = this.settings(raw, words, headers)
    settings.queue ??= call.queue
    checkTarget(target)
    if (target.url !== undefined) checkReach(target.url, this.options.context.policy)
    else if (this.#groupOf(target) === undefined) throw refusals.notFound('topic', target.group)
    if (settings.cron === undefined) throw refusals.invalid(words.header('Cron'), 'it is missing')
    this.#checkSize(body)
    if (settings.queue !== undefined) this.options.lanes.open(settings.queue)
    const now = this.options.clock.now()
    const key = deduplicationKey(settings, target.url ?? target.group, body, 'schedule')
    const known = key === undefined ? undefined : this.scheduled.find(key, now)
    if (known !== undefined && this.schedules.get(known.id) !== undefined)
      return { schedule: known, deduplicated: true }
    const { cron } = settings
    const { cause } = call
    const schedule = this.schedules.create({ cron, target, body, settings, raw, headers, callerIp, region, cause })
    if (key !== undefined) this.scheduled.remember(key, schedule, now)
    return { schedule, deduplicated: false }
  }

  /**
   * Publishes the messages of one firing. If the queue rejects the publish, the reason is logged and the result is
   * empty.
   */
  #trigger(schedule: Schedule, awaited: boolean, cause: number): readonly Message[] {
    const { target, body, callerIp, region } = schedule.draft
    schedule.error = undefined
    try {
      const group = this.#groupOf(target)
      if (group === undefined && target.url === undefined) throw refusals.notFound('topic', target.group)
      const runs = this.#scheduledRuns(schedule, group, awaited, cause)
      if (runs !== undefined) return runs().map(({ message }) => message)
      const settings = this.#scheduledSettings(schedule, group)
      const endpoints: readonly UrlGroupEndpoint[] = target.url === undefined ? group!.endpoints : [{ url: target.url }]
      if (endpoints.length === 0)
        this.options.note('schedule', schedule.id, 'refused', { reason: 'the url group is empty' })
      return endpoints.map(({ url, name }) => {
        const origin = { callerIp, region, cause, scheduleId: schedule.id, urlGroup: group?.name, endpointName: name }
        return this.options.courier.accept({ kind: 'message', url, body, settings, origin, awaited })
      })
    } catch (error) {
      if (!(error instanceof QueueRejection)) throw error
      schedule.error = error.message
      this.options.note('schedule', schedule.id, 'refused', { reason: error.message }, cause)
      return []
    }
  }

  /**
   * Prepares the workflow runs of a firing. Returns `undefined` if the headers of the schedule request no workflow run.
   */
  #scheduledRuns(
    { id, draft }: Schedule,
    group: UrlGroup | undefined,
    awaited: boolean,
    cause: number,
  ): (() => readonly AcceptedPublish[]) | undefined {
    const { target, body, callerIp, region, settings } = draft
    if (!draft.raw.has('workflow-init')) return undefined
    const { raw, headers } = overDefaults(group, draft.raw, draft.headers)
    const each = new Map([...raw].filter(([name]) => !ofCreation.has(name)))
    const schedule = { id, awaited }
    const { queue } = settings
    const call = {
      target,
      settings: each,
      headers,
      body,
      callerIp,
      region,
      words: settings.words,
      cause,
      queue,
      schedule,
    }
    return this.#prepareRuns(call, each, group)
  }

  /** Returns the settings of the messages that a firing at this time would publish, one per endpoint. */
  planned(schedule: Schedule): readonly PublishSettings[] {
    const { target } = schedule.draft
    const group = this.#groupOf(target)
    if (target.url === undefined && group === undefined) return []
    try {
      const settings = this.#scheduledSettings(schedule, group)
      return target.url === undefined ? group!.endpoints.map(() => settings) : [settings]
    } catch (error) {
      if (error instanceof QueueRejection) return []
      throw error
    }
  }

  /**
   * Returns the settings for the messages of one firing, with the current defaults of the URL group. Options for
   * deduplication and `not-before` are left out, because they apply only to the creation of the schedule. [queue.md 7,
   * 8]
   */
  #scheduledSettings({ draft }: Schedule, group: UrlGroup | undefined): PublishSettings {
    const { raw, headers } = overDefaults(group, draft.raw, draft.headers)
    return {
      ...(group === undefined ? draft.settings : this.settings(raw, draft.settings.words, headers)),
      queue: draft.settings.queue,
      notBefore: undefined,
      deduplicationId: undefined,
      contentBasedDeduplication: false,
      cron: undefined,
    }
  }
}

/**
 * Rejects the retry of a dead letter that belongs to a workflow run. The run must be resumed or restarted instead.
 * @throws QueueRejection 400
 */
export function checkRetry({ id, message }: DeadLetter): void {
  if (message.part !== undefined)
    throw refusals.invalid('dlqId', `${id} is a failed run of a workflow: resume or restart the run`)
}

/** Options of a schedule that its messages do not get. [queue.md 7] */
const ofCreation = new Set([
  'cron',
  'schedule-id',
  'queue-name',
  'not-before',
  'deduplication-id',
  'content-based-deduplication',
])

/**
 * Merges the options of a publish with the defaults of its URL group. If both set an option, the publish takes
 * precedence. [queue.md 2.1, 8]
 */
function overDefaults(
  group: UrlGroup | undefined,
  settings: RawSettings,
  headers: PublishHeaders | undefined,
): { readonly raw: RawSettings; readonly headers: PublishHeaders } {
  return {
    raw: group?.defaults === undefined ? settings : new Map([...group.defaults, ...settings]),
    headers: {
      ...headers,
      contentType: headers?.contentType ?? group?.contentType,
      ...(group !== undefined && { beneath: group.headers }),
    },
  }
}

function weightOfSchedule({ draft }: Schedule): number {
  return weightOfText(draft.body)
}
