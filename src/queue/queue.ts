import type { FaultSource } from '../faults/fault.js'
import { type Bytes, fromArray, utf8 } from '../kernel/bytes.js'
import type { Clock } from '../kernel/clock.js'
import { compactJson } from '../kernel/compact-json.js'
import { headerOf } from '../kernel/header-list.js'
import type { Random } from '../kernel/random.js'
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
import { singleId } from './message/ids.js'
import type { MessageLog } from './message/log.js'
import type { Message, Origin } from './message/message.js'
import { Deduplication, deduplicationKey } from './publish/deduplication.js'
import { type PublishHeaders, readSettings } from './publish/publish.js'
import { Published } from './publish/published.js'
import { type GroupEndpoint, type UrlGroup, UrlGroups } from './publish/url-groups.js'
import { type Schedule, Schedules } from './schedules/schedules.js'
import { Refusal, refusals } from './settings/errors.js'
import { publishOptions, type ReadContext } from './settings/options.js'
import { planOf } from './settings/plan.js'
import type { PublishSettings, RawSettings } from './settings/settings.js'
import { type NoteSetting, notingIn } from './settings/settings-log.js'
import { checkUrl, isUrl, resourceName } from './settings/url.js'
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
  /** What shall go wrong. */
  readonly faults?: FaultSource | undefined
  /** Region of messages that come without a request. Default `eu-central-1`. */
  readonly region?: string | undefined
}

/** One publish as a request, a batch item, a schedule or a test says it. */
export interface PublishCall {
  /** A url, or the name of a url group. */
  readonly destination: string
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

type Value = string | number | boolean

/**
 * The options of a message as the direct API takes them, those of callbacks included (`callbackRetries`); numbers and booleans are written as the headers have them. */
export interface PublishOptions {
  readonly method?: string
  readonly timeout?: Value
  readonly retries?: Value
  readonly retryDelay?: Value
  readonly delay?: Value
  readonly notBefore?: Value
  readonly deduplicationId?: Value
  readonly contentBasedDeduplication?: Value
  readonly callback?: string
  readonly failureCallback?: string
  readonly flowControlKey?: string
  readonly flowControlValue?: string
  readonly label?: string
  readonly redactFields?: string
  readonly [callbackOption: `callback${string}` | `failureCallback${string}`]: Value | undefined
}

export interface DirectPublish extends PublishOptions {
  /** A url, or the name of a url group. */
  readonly to: string
  /** A text, bytes, or a value that becomes JSON. */
  readonly body?: unknown
  /** Delivered as they are. */
  readonly headers?: Readonly<Record<string, string>>
  readonly queue?: string
}

/** What a reset makes anew. */
interface Holdings {
  readonly urlGroups: UrlGroups
  readonly lanes: Lanes
  readonly schedules: Schedules
  readonly courier: Courier
  readonly published: Deduplication<Message>
  readonly scheduled: Deduplication<Schedule>
}

/** The message queue: publishing, delivery, and everything that can be asked about it. Spoken to without HTTP. */
export class Queue {
  readonly policy: Policy
  readonly limits: QueueLimits
  readonly words: Words
  readonly destinations: Destinations
  readonly keys: SigningKeys
  readonly #diagnostics = new Set<string>()
  readonly #clock: Clock
  readonly #random: Random
  readonly #traffic: Traffic
  readonly #window: SignatureWindow
  readonly #region: string
  readonly #context: ReadContext
  readonly #note: NoteSetting
  readonly #faults: FaultSource | undefined
  #holdings: Holdings

  constructor(options: QueueOptions) {
    const { clock, random, traffic, policy, words, destinations } = options
    this.#clock = clock
    this.#random = random
    this.#traffic = traffic
    this.#window = options.signing?.window ?? 'wide'
    this.#region = options.region ?? 'eu-central-1'
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

  /** As new: no messages, schedules, groups, queues, keys of flow control or dead letters. Signing keys and destinations stay. */
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
      traffic: this.#traffic,
      policy,
      limits,
      destinations,
      keys,
      writer: deliveryWriter(words, random, this.#window, keys),
      nonRetryableHeader: words.header('NonRetryable-Error').toLowerCase(),
      laneOf: (name) => lanes.open(name),
      faults: this.#faults,
    })
    const trigger = (schedule: Schedule, meanwhile: boolean, cause: number) => this.#trigger(schedule, meanwhile, cause)
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

  /** As `sandbox.snapshot()`: the queue itself. */
  snapshot(): this {
    return this
  }

  /** Everything as plain JSON. */
  dump(): QueueDump {
    return dumpOf(this)
  }

  /**
   * Replaces everything by what `dump()` gave once, here or in another sandbox. A delivery that was under way then is
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

  get courier(): Courier {
    return this.#holdings.courier
  }

  /** The log of everything that happened, which the matchers read. */
  get traffic(): Traffic {
    return this.#traffic
  }

  /** Oddities that were accepted, as sentences: a percent-encoded destination, for example. */
  get diagnostics(): readonly string[] {
    return [...this.#diagnostics]
  }

  get log(): MessageLog {
    return this.courier.log
  }

  get flow(): FlowControl {
    return this.courier.flow
  }

  /** Writes an oddity down, each once. */
  notice(oddity: string): void {
    if (this.#diagnostics.size < mostDiagnostics) this.#diagnostics.add(oddity)
  }

  now(): number {
    return this.#clock.now()
  }

  /** Publishes without HTTP. @returns the message, or one message for each endpoint of a url group */
  publish(direct: DirectPublish): Message | readonly Message[] {
    if (typeof direct?.to !== 'string') {
      throw new TypeError(
        "queue.publish() needs an object with a destination: queue.publish({ to: 'https://…', body })",
      )
    }
    const { to, body, headers = {}, queue, ...options } = direct
    const settings = new Map<string, string>()
    for (const [name, value] of Object.entries(options)) {
      const setting = settingOf(name)
      if (value !== undefined) settings.set(setting, String(value))
    }
    for (const [name, value] of Object.entries(headers)) {
      if (name.toLowerCase() !== 'content-type') settings.set(`forward-${name}`, value)
    }
    const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
    const contentType = headerOf(Object.entries(headers), 'content-type') ?? (isJson ? 'application/json' : undefined)
    const results = this.send(
      this.prepare({
        destination: to,
        settings,
        headers: { contentType },
        body: bytesOf(body),
        callerIp: this.policy.callerIp,
        region: this.#region,
        queue,
      }),
    )
    return isUrl(to) ? results[0]!.message : results.map((result) => result.message)
  }

  /** Reads and checks everything that does not depend on what exists. @throws Refusal */
  prepare(call: PublishCall): PreparedPublish {
    const group = isUrl(call.destination) ? undefined : this.urlGroups.get(call.destination)
    const { raw, headers } = overDefaults(group, call.settings, call.headers)
    if (triggersRun(raw)) throw refusals.noWorkflows()
    if (call.destination === '') throw refusals.noDestination()
    const settings = this.#read(raw, headers, call.queue)
    if (isUrl(call.destination)) checkUrl(call.destination, 'destination', { ...this.policy, refuseLoopback: false })
    else if (!resourceName.test(call.destination)) throw refusals.invalidScheme()
    this.#checkSize(call.body)
    return { call, settings, group }
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
    const { destination, callerIp, region, cause, body } = call
    if (isUrl(destination)) {
      checkUrl(destination, 'destination', this.policy)
      return [this.#enqueue(destination, body, settings, { callerIp, region, cause })]
    }
    if (group === undefined) throw refusals.notFound('topic', destination)
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
      this.#traffic.adopt(new Published(before, true, draft), origin.cause ?? 0)
      return { message: before, deduplicated: true }
    }
    const message = this.courier.accept(draft)
    if (key !== undefined) this.#holdings.published.remember(key, message, now)
    return { message, deduplicated: false }
  }

  /** Creates or replaces a schedule. @throws Refusal 400 for a bad cron, 412 over the plan */
  schedule(call: PublishCall): { readonly schedule: Schedule; readonly deduplicated: boolean } {
    const { destination, body, callerIp, region, settings: raw, headers } = call
    if (triggersRun(raw)) throw refusals.noWorkflows()
    if (destination === '') throw refusals.noDestination()
    const settings = readSettings(raw, this.#context, headers)
    settings.queue ??= call.queue
    if (isUrl(destination)) checkUrl(destination, 'destination', this.policy)
    else if (!resourceName.test(destination)) throw refusals.invalidScheme()
    else if (this.urlGroups.get(destination) === undefined) throw refusals.notFound('topic', destination)
    if (settings.cron === undefined) throw refusals.invalid(this.words.header('Cron'), 'it is missing')
    this.#checkSize(body)
    if (settings.queue !== undefined) this.lanes.open(settings.queue)
    const now = this.#clock.now()
    const key = deduplicationKey(settings, destination, body, 'schedule')
    const known = key === undefined ? undefined : this.#holdings.scheduled.find(key, now)
    if (known !== undefined && this.schedules.get(known.id) !== undefined)
      return { schedule: known, deduplicated: true }
    const { cron } = settings
    const { cause } = call
    const schedule = this.schedules.create({ cron, destination, body, settings, raw, headers, callerIp, region, cause })
    if (key !== undefined) this.#holdings.scheduled.remember(key, schedule, now)
    return { schedule, deduplicated: false }
  }

  /** The messages of one trigger; none where a publish would be refused. */
  #trigger(schedule: Schedule, meanwhile: boolean, cause: number): readonly Message[] {
    const { destination, body, callerIp, region } = schedule.draft
    schedule.error = undefined
    try {
      const group = this.urlGroups.get(destination)
      if (group === undefined && !isUrl(destination)) throw refusals.notFound('topic', destination)
      const settings = this.#scheduledSettings(schedule, group)
      const endpoints: readonly GroupEndpoint[] = group?.endpoints ?? [{ url: destination }]
      if (endpoints.length === 0) this.#note('schedule', schedule.id, 'refused', { reason: 'the url group is empty' })
      return endpoints.map(({ url, name }) => {
        const origin = { callerIp, region, cause, scheduleId: schedule.id, urlGroup: group?.name, endpointName: name }
        return this.courier.accept({ kind: 'message', url, body, settings, origin, meanwhile })
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

  /** Every message that has not ended. */
  get messages(): readonly Message[] {
    return this.courier.live.select({}).items
  }

  /** Where every message stands that has not ended; `adrift` when nothing will ever move it on. */
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

  /** The dead letters, oldest first. */
  get deadLetters(): readonly DeadLetter[] {
    return this.courier.deadLetters.select({}).items
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

/** `retryDelay` → `retry-delay`, the names of the direct API; what needs a request or a schedule has none. */
const settingNames: ReadonlyMap<string, string> = new Map(
  publishOptions
    .filter(({ name, on }) => on !== 'schedule' && name !== 'header-forward')
    .map(({ name }) => [name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), name]),
)

/** Whether a publish begins a run of a workflow. [queue.md 14.2] */
function triggersRun(raw: RawSettings): boolean {
  return raw.get('workflow-init')?.trim().toLowerCase() === 'true'
}

/** Options of the callbacks, and what the workflow protocol adds. */
const openOption = /^(?:callback|failureCallback|workflow|featureSet)/

function settingOf(name: string): string {
  const known = settingNames.get(name)
  if (known !== undefined) return known
  if (openOption.test(name)) return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new TypeError(
    `queue.publish() has no option ${JSON.stringify(name)}. It takes to, body, headers, queue, ${[...settingNames.keys()].join(', ')}.`,
  )
}

function bytesOf(body: unknown): Bytes {
  if (body === undefined) return '' as Bytes
  if (typeof body === 'string') return utf8(body)
  if (body instanceof Uint8Array) return fromArray(body)
  return utf8(compactJson(body))
}
