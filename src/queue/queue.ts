import type { FaultSource } from '../faults/fault.js'
import { type Bytes, utf8 } from '../kernel/bytes.js'
import type { Clock } from '../kernel/clock.js'
import { type Random, singleId } from '../kernel/random.js'
import type { Traffic } from '../kernel/traffic.js'
import type { Policy, QueueLimits } from '../policy/policy.js'
import { Courier } from './delivery/courier.js'
import type { DeadLetter } from './delivery/dead-letters.js'
import type { FlowControl } from './delivery/flow-control.js'
import { deliveryWriter } from './delivery/headers.js'
import { Lanes } from './delivery/lanes.js'
import type { Destinations } from './destinations/destinations.js'
import { loadInto, parsedQueue } from './dump/loading.js'
import { dumpOf, type QueueDump } from './dump/snapshot.js'
import { explain } from './explain.js'
import type { MessageLog } from './message/log.js'
import type { Message, Origin } from './message/message.js'
import { Deduplication, deduplicationKey } from './publish/deduplication.js'
import { type PublishHeaders, readSettings } from './publish/publish.js'
import { Published } from './publish/published.js'
import { type GroupEndpoint, type UrlGroup, UrlGroups } from './publish/url-groups.js'
import { type Schedule, Schedules } from './schedules/schedules.js'
import { Refusal, refusals } from './settings/errors.js'
import type { ReadContext } from './settings/options.js'
import { planOf } from './settings/plan.js'
import type { PublishSettings, RawSettings } from './settings/settings.js'
import { type NoteSetting, notingIn } from './settings/settings-log.js'
import { checkReach, checkTarget, type Target } from './settings/url.js'
import type { Words } from './settings/words.js'
import { mintSignature, type SignatureOverrides, type SignedRequest } from './signing/signature-lab.js'
import { bodyHash, type SignatureWindow, type SigningKeyPair, SigningKeys } from './signing/signing.js'

export interface QueueOptions {
  readonly clock: Clock
  readonly random: Random
  readonly traffic: Traffic
  readonly policy: Policy
  readonly words: Words
  readonly destinations: Destinations
  /** Made from the seed where not given. */
  readonly keys?: Partial<SigningKeyPair> | undefined
  /** What later keys are drawn from; by default `random`. */
  readonly keyDraws?: Random | undefined
  readonly signing?: { readonly window?: SignatureWindow } | undefined
  /** What goes wrong. */
  readonly faults?: FaultSource | undefined
  /** Region of messages that come without a request. Default `eu-central-1`. */
  readonly region?: string | undefined
}

/** One publish as a request, a batch item, a schedule or a test says it. */
export interface PublishCall {
  readonly target: Target
  readonly settings: RawSettings
  readonly headers?: PublishHeaders
  readonly body: Bytes
  readonly callerIp: string
  readonly region: string
  readonly cause?: number | undefined
  /** The queue to go through. */
  readonly queue?: string | undefined
}

/** A publish that was read and found in order; only the destination may still fail it. */
export interface PreparedPublish {
  readonly call: PublishCall
  readonly settings: PublishSettings
  readonly group: UrlGroup | undefined
}

export interface PublishResult {
  readonly message: Message
  readonly deduplicated: boolean
}

const mostDiagnostics = 1000
/** Different settings that are kept for sharing. */
const sharedAtMost = 256

/** What a reset replaces. */
interface Holdings {
  readonly urlGroups: UrlGroups
  readonly lanes: Lanes
  readonly schedules: Schedules
  readonly courier: Courier
  readonly published: Deduplication<Message>
  readonly scheduled: Deduplication<Schedule>
}

/** The engine of the message queue: publishing, delivery, and everything that can be asked about it. */
export class Queue {
  readonly policy: Policy
  readonly limits: QueueLimits
  readonly words: Words
  readonly destinations: Destinations
  readonly keys: SigningKeys
  readonly traffic: Traffic
  /** Of messages that come without a request. */
  readonly region: string
  readonly #diagnostics = new Set<string>()
  readonly #clock: Clock
  readonly #random: Random
  readonly #window: SignatureWindow
  readonly #context: ReadContext
  readonly #note: NoteSetting
  readonly #faults: FaultSource | undefined
  #holdings: Holdings

  constructor(options: QueueOptions) {
    const { clock, random, traffic, policy, words, destinations } = options
    this.#clock = clock
    this.#random = random
    this.traffic = traffic
    this.#window = options.signing?.window ?? 'wide'
    this.region = options.region ?? 'eu-central-1'
    this.policy = policy
    this.limits = planOf(policy)
    this.words = words
    this.destinations = destinations
    this.#note = notingIn(traffic)
    this.#faults = options.faults
    const { keys, keyDraws = random } = options
    this.keys = new SigningKeys(keyDraws, keys, () => this.#note('signing-keys', 'current', 'rotated'))
    this.#context = { words, policy, limits: this.limits }
    this.#holdings = this.#fresh()
  }

  /** Empties the queue: no messages, schedules, groups, queues, keys of flow control or dead letters. Signing keys and destinations stay. */
  reset(): void {
    stop(this.#holdings)
    this.#note('service', 'queue', 'reset')
    this.#diagnostics.clear()
    this.#holdings = this.#fresh()
  }

  #fresh(): Holdings {
    const { policy, limits, destinations, keys, words } = this
    const clock = this.#clock
    const random = this.#random
    const now = (): number => clock.now()
    const lanes = new Lanes(now, policy, limits)
    const courier = new Courier({
      clock,
      random,
      traffic: this.traffic,
      policy,
      limits,
      destinations,
      keys,
      writer: deliveryWriter(words, random, this.#window, keys),
      nonRetryableHeader: words.header('NonRetryable-Error').toLowerCase(),
      laneOf: (name) => lanes.open(name),
      faults: this.#faults,
    })
    const trigger = (schedule: Schedule, awaited: boolean, cause: number) => this.#trigger(schedule, awaited, cause)
    const schedules = new Schedules(clock, random, policy, limits, trigger, this.#note, this.#faults)
    return {
      urlGroups: new UrlGroups(now, policy, limits),
      lanes,
      schedules,
      courier,
      published: new Deduplication(policy.deduplicationWindow),
      scheduled: new Deduplication(policy.deduplicationWindow),
    }
  }

  /** Everything as plain JSON. */
  dump(): QueueDump {
    return dumpOf(this)
  }

  /**
   * Replaces everything with what `dump()` returned, here or in another sandbox. A delivery that was under way then is
   * due at once, as after a restart. Throws TypeError for anything else, and nothing has changed.
   */
  load(given: QueueDump): void {
    const dump = parsedQueue(given)
    const before = this.#holdings
    this.#holdings = this.#fresh()
    this.#note('service', 'queue', 'loaded')
    try {
      loadInto(this, dump)
    } catch (error) {
      stop(this.#holdings)
      this.#holdings = before
      throw error
    }
    stop(before)
  }

  /** What counts as published, and what as scheduled already. */
  get duplicates(): { readonly messages: Deduplication<Message>; readonly schedules: Deduplication<Schedule> } {
    const { published, scheduled } = this.#holdings
    return { messages: published, schedules: scheduled }
  }

  get urlGroups(): UrlGroups {
    return this.#holdings.urlGroups
  }

  get lanes(): Lanes {
    return this.#holdings.lanes
  }

  get schedules(): Schedules {
    return this.#holdings.schedules
  }

  /** Messages that have not ended. */
  get backlog(): number {
    return this.courier.live.size
  }

  get courier(): Courier {
    return this.#holdings.courier
  }

  /** Mistakes in requests that were accepted all the same, as sentences. */
  get diagnostics(): readonly string[] {
    return [...this.#diagnostics]
  }

  get log(): MessageLog {
    return this.courier.log
  }

  get flow(): FlowControl {
    return this.courier.flow
  }

  /** Records mistakes in requests that were accepted all the same, each sentence once. */
  notice(sentence: string): void {
    if (this.#diagnostics.size < mostDiagnostics) this.#diagnostics.add(sentence)
  }

  now(): number {
    return this.#clock.now()
  }

  /** Reads and checks everything that does not depend on what exists. @throws Refusal */
  prepare(call: PublishCall): PreparedPublish {
    const { target, body } = call
    const group = this.#groupOf(target)
    const { raw, headers } = overDefaults(group, call.settings, call.headers)
    if (triggersRun(raw)) throw refusals.noWorkflows()
    if (target.group === '') throw refusals.noDestination()
    const settings = this.#read(raw, headers, call.queue)
    checkTarget(target)
    this.#checkSize(body)
    return { call, settings, group }
  }

  #groupOf({ group }: Target): UrlGroup | undefined {
    return group === undefined ? undefined : this.urlGroups.get(group)
  }

  #checkSize(body: Bytes): void {
    const { maxMessageSize } = this.limits
    if (!this.policy.enforceQuotas || body.length <= maxMessageSize) return
    throw refusals.quota('maxMessageSize', maxMessageSize, this.policy.quotaStatus)
  }

  /** Options as a publish reads them. @throws Refusal */
  settings(raw: RawSettings, headers: PublishHeaders = {}): PublishSettings {
    return readSettings(raw, this.#context, headers)
  }

  /** Reads the settings of a publish; those that say the same share one object. */
  #read(raw: RawSettings, headers: PublishHeaders, queue: string | undefined): PublishSettings {
    if (queue !== undefined) this.lanes.check(queue, undefined)
    const shareable = !raw.has('header-forward')
    let key = `${queue ?? ''}\n${headers.contentType ?? ''}`
    // With lengths, because a value out of a query may contain anything.
    if (shareable) for (const [name, value] of raw) key += `\n${name.length} ${value.length} ${name}${value}`
    const known = shareable ? this.#shared.get(key) : undefined
    if (known !== undefined) return known
    // `Queue-Name` is for schedules: a message goes through the queue that it was enqueued into. [queue.md 2.2]
    const settings: PublishSettings = { ...readSettings(raw, this.#context, headers), queue }
    if (shareable) {
      if (this.#shared.size >= sharedAtMost) this.#shared.clear()
      this.#shared.set(key, settings)
    }
    return settings
  }

  readonly #shared = new Map<string, PublishSettings>()

  /** Enqueues what was prepared, one message for each endpoint. @throws Refusal when the destination is not there */
  send({ call, settings, group }: PreparedPublish): readonly PublishResult[] {
    const { target, callerIp, region, cause, body } = call
    if (target.url !== undefined) {
      checkReach(target.url, this.policy)
      return [this.#enqueue(target.url, body, settings, { callerIp, region, cause })]
    }
    if (group === undefined) throw refusals.notFound('topic', target.group)
    return group.endpoints.map(({ url, name }) =>
      this.#enqueue(url, body, settings, { callerIp, region, cause, urlGroup: group.name, endpointName: name }),
    )
  }

  #enqueue(url: string, body: Bytes, settings: PublishSettings, origin: Origin): PublishResult {
    const now = this.#clock.now()
    const draft = { kind: 'message' as const, url, body, settings, origin }
    const key = deduplicationKey(settings, url, body, origin.urlGroup)
    const before = key === undefined ? undefined : this.#holdings.published.find(key, now)
    if (before !== undefined) {
      this.traffic.adopt(new Published(before, true, draft), origin.cause ?? 0)
      return { message: before, deduplicated: true }
    }
    const message = this.courier.accept(draft)
    if (key !== undefined) this.#holdings.published.remember(key, message, now)
    return { message, deduplicated: false }
  }

  /** Creates or replaces a schedule. @throws Refusal 400 for a bad cron, 412 over the plan */
  schedule(call: PublishCall): { readonly schedule: Schedule; readonly deduplicated: boolean } {
    const { target, body, callerIp, region, settings: raw, headers } = call
    if (triggersRun(raw)) throw refusals.noWorkflows()
    if (target.group === '') throw refusals.noDestination()
    const settings = readSettings(raw, this.#context, headers)
    settings.queue ??= call.queue
    checkTarget(target)
    if (target.url !== undefined) checkReach(target.url, this.policy)
    else if (this.#groupOf(target) === undefined) throw refusals.notFound('topic', target.group)
    if (settings.cron === undefined) throw refusals.invalid(this.words.header('Cron'), 'it is missing')
    this.#checkSize(body)
    if (settings.queue !== undefined) this.lanes.open(settings.queue)
    const now = this.#clock.now()
    const key = deduplicationKey(settings, target.url ?? target.group, body, 'schedule')
    const known = key === undefined ? undefined : this.#holdings.scheduled.find(key, now)
    if (known !== undefined && this.schedules.get(known.id) !== undefined)
      return { schedule: known, deduplicated: true }
    const { cron } = settings
    const { cause } = call
    const schedule = this.schedules.create({ cron, target, body, settings, raw, headers, callerIp, region, cause })
    if (key !== undefined) this.#holdings.scheduled.remember(key, schedule, now)
    return { schedule, deduplicated: false }
  }

  /** The messages of one trigger; none where a publish would be refused. */
  #trigger(schedule: Schedule, awaited: boolean, cause: number): readonly Message[] {
    const { target, body, callerIp, region } = schedule.draft
    schedule.error = undefined
    try {
      const group = this.#groupOf(target)
      if (group === undefined && target.url === undefined) throw refusals.notFound('topic', target.group)
      const settings = this.#scheduledSettings(schedule, group)
      const endpoints: readonly GroupEndpoint[] = target.url === undefined ? group!.endpoints : [{ url: target.url }]
      if (endpoints.length === 0) this.#note('schedule', schedule.id, 'refused', { reason: 'the url group is empty' })
      return endpoints.map(({ url, name }) => {
        const origin = { callerIp, region, cause, scheduleId: schedule.id, urlGroup: group?.name, endpointName: name }
        return this.courier.accept({ kind: 'message', url, body, settings, origin, awaited })
      })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      schedule.error = error.message
      this.#note('schedule', schedule.id, 'refused', { reason: error.message }, cause)
      return []
    }
  }

  /** Deduplication and not-before belong to the creation of the schedule, defaults to the group as it is now. [queue.md 7, 8] */
  #scheduledSettings({ draft }: Schedule, group: UrlGroup | undefined): PublishSettings {
    const { raw, headers } = overDefaults(group, draft.raw, draft.headers)
    return {
      ...(group === undefined ? draft.settings : readSettings(raw, this.#context, headers)),
      queue: draft.settings.queue,
      notBefore: undefined,
      deduplicationId: undefined,
      contentBasedDeduplication: false,
      cron: undefined,
    }
  }

  /** A pending message, as the API shows it. */
  message(id: string): Message | undefined {
    const message = this.courier.byId.get(id)
    return message?.visible === true ? message : undefined
  }

  /** The same, or one that was delivered not too long ago. Dead letters and cancelled messages are gone at once. */
  readable(id: string): Message | undefined {
    const now = this.now()
    this.log.prune(now)
    const message = this.courier.byId.get(id)
    if (message?.state !== 'DELIVERED' || message.cancelRequested) return this.message(id)
    const { deliveredReadableFor: time = Number.POSITIVE_INFINITY } = this.policy
    return now - message.lastLog!.time < time ? message : undefined
  }

  /** Publishes a dead letter again, with some settings replaced; it leaves the dead-letter queue. */
  retryDeadLetter(letter: DeadLetter, overrides: RawSettings, cause?: number): PublishResult {
    const { message } = letter
    const base: PublishSettings = {
      ...message.settings,
      delay: 0,
      notBefore: undefined,
      deduplicationId: undefined,
      contentBasedDeduplication: false,
    }
    const settings = overrides.size === 0 ? base : readSettings(overrides, this.#context, {}, base)
    settings.queue = message.settings.queue
    this.courier.deadLetters.delete(letter)
    const origin = { ...message.origin, cause }
    const key = deduplicationKey(settings, message.url, message.body, message.origin.urlGroup)
    if (key !== undefined) return this.#enqueue(message.url, message.body, settings, origin)
    const draft = { kind: message.kind, url: message.url, body: message.body, settings, origin }
    return { message: this.courier.accept(draft), deduplicated: false }
  }

  deleteQueue(name: string): void {
    const lane = this.lanes.delete(name)
    if (lane !== undefined) this.#note('queue', name, 'deleted')
    for (const message of lane?.all() ?? []) this.courier.cancel(message)
  }

  pauseQueue(name: string): void {
    const lane = this.lanes.open(name)
    lane.paused = true
    lane.updatedAt = this.#clock.now()
    this.#note('queue', name, 'paused')
  }

  resumeQueue(name: string): void {
    const lane = this.lanes.open(name)
    lane.paused = false
    lane.updatedAt = this.#clock.now()
    this.#note('queue', name, 'resumed')
    this.courier.advanceLane(lane)
  }

  upsertQueue(name: string, parallelism: number, paused?: boolean | undefined): void {
    const lane = this.lanes.upsert(name, parallelism, paused)
    this.#note('queue', name, 'set', { parallelism, paused: lane.paused })
    this.courier.advanceLane(lane)
  }

  /** Why a message is where it is, in sentences. */
  explain(id: string): string {
    return explain(this, id)
  }

  /** The state of every message that has not ended; `adrift` when nothing will ever move it on. */
  whereabouts(): ReadonlyMap<string, 'planned' | 'running' | 'held' | 'adrift'> {
    const places = new Map<string, 'planned' | 'running' | 'held' | 'adrift'>()
    for (const message of this.courier.byId.values()) {
      if (message.ended) continue
      const { running, timer, ticket, lane } = message
      const isInLine = ticket?.live === true || (lane !== undefined && (!lane.holding.has(message) || lane.paused))
      places.set(message.id, running ? 'running' : timer ? 'planned' : isInLine ? 'held' : 'adrift')
    }
    return places
  }

  /** Adds endpoints to a url group, creating it. */
  urlGroup(name: string, endpoints: readonly (GroupEndpoint | string)[]): UrlGroup {
    return this.urlGroups.upsert(
      name,
      endpoints.map((endpoint) => (typeof endpoint === 'string' ? { url: endpoint } : endpoint)),
    )
  }

  /** The signature that a delivery of this request would carry now, or one that is wrong on purpose. */
  sign(request: SignedRequest, overrides: SignatureOverrides = {}): string {
    return mintSignature(request, overrides, this.keys, {
      at: this.#clock.now(),
      issuer: this.words.issuer,
      jti: singleId(this.#random.fork(`jwt/lab/${request.url}/${bodyHash(utf8(request.body ?? ''))}`), 'jwt_', 28),
      window: this.#window,
    })
  }
}

function stop({ courier, schedules }: Holdings): void {
  courier.stop()
  schedules.stop()
}

/** A publish to a group with the defaults of the group underneath. [queue.md 2.1, 8] */
function overDefaults(
  group: UrlGroup | undefined,
  settings: RawSettings,
  headers: PublishHeaders | undefined,
): { readonly raw: RawSettings; readonly headers: PublishHeaders } {
  return {
    raw: group?.defaults === undefined ? settings : new Map([...group.defaults, ...settings]),
    headers: { ...headers, contentType: headers?.contentType ?? group?.contentType },
  }
}

/** Whether a publish begins a run of a workflow. [queue.md 14.2] */
function triggersRun(raw: RawSettings): boolean {
  return raw.get('workflow-init')?.trim().toLowerCase() === 'true'
}
