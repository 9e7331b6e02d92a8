import { bindMethods } from '../kernel/bind-methods.js'
import { type Bytes, fromArray, utf8 } from '../kernel/bytes.js'
import { compactJson } from '../kernel/compact-json.js'
import { type DurationText, formatDuration, parseDuration } from '../kernel/duration.js'
import { headerOf } from '../kernel/http.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { type Instant, instant } from '../kernel/instant.js'
import { internals } from '../kernel/internals.js'
import { checkOptionNames, didYouMean } from '../kernel/nearest-name.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import type { DeadLetter } from './delivery/callbacks-and-dead-letters.js'
import { loadInto } from './dump/load-queue.js'
import { dumpOf, type QueueDump } from './dump/queue-dump.js'
import { type ExplainTarget, explain } from './explain/explain.js'
import { type Forecast, forecastsOf } from './explain/forecast.js'
import type { Message } from './message/message.js'
import type { UrlGroup, UrlGroupEndpoint } from './publish/url-groups.js'
import type { QueueEngine } from './queue-engine.js'
import type { Schedule } from './schedules/schedule.js'
import type { RawSettings } from './settings/message-settings.js'
import { publishOptions } from './settings/publish-options.js'
import { targetOf } from './settings/url.js'
import type { SignedRequest, SignOptions } from './signing/signature-lab.js'
import type { SigningKeyPair, SigningKeys } from './signing/signing.js'

type Value = string | number | boolean

/**
 * The options of a message as the direct API takes them, those of callbacks included (`callbackRetries`); numbers and
 * booleans are written as the headers have them. Durations have a unit: a bare number is seconds for the SDK and
 * milliseconds for this package, so it is refused.
 */
export interface MessageSettings {
  readonly method?: string
  /** How long the destination may take to answer: `'30s'`. */
  readonly timeout?: DurationText
  readonly retries?: Value
  readonly retryDelay?: Value
  /** Wait before the first attempt: `'10m'`. */
  readonly delay?: DurationText
  /** Not delivered before this instant; milliseconds since the epoch as a number. */
  readonly notBefore?: Instant
  readonly deduplicationId?: Value
  readonly contentBasedDeduplication?: Value
  readonly callback?: string
  readonly failureCallback?: string
  readonly flowControlKey?: string
  readonly flowControlValue?: string
  readonly label?: string
  readonly redactFields?: string
  readonly callbackTimeout?: DurationText
  readonly callbackDelay?: DurationText
  readonly failureCallbackTimeout?: DurationText
  readonly failureCallbackDelay?: DurationText
  readonly [callbackOption: `callback${string}` | `failureCallback${string}`]: Value | undefined
}

/** How a FIFO queue delivers. */
export interface UpsertQueueOptions {
  /** How many of its messages are delivered at the same time, at least 1. */
  readonly parallelism: number
  /** Whether it delivers nothing. Default: as it is, and not for a new one. */
  readonly paused?: boolean | undefined
}

/** A span of virtual time, both ends included. */
export interface FireTimeSpan {
  readonly from: Instant
  readonly to: Instant
}

/** What a test does with schedules. */
export interface QueueSchedules {
  /**
   * Returns all schedules.
   * @example for (const { id, cron } of sandbox.queue.schedules.list()) console.log(id, cron)
   */
  list(): readonly Schedule[]
  /**
   * Triggers a schedule now; its planned instants stay as they are.
   * @example
   * const [message] = sandbox.queue.schedules.fire('nightly')
   * await sandbox.clock.settle()
   */
  fire(id: string): readonly Message[]
  /**
   * When a schedule fires in a span, in milliseconds, without firing anything.
   * @throws RangeError for an end of the span that is no instant
   * @example queue.schedules.upcoming('nightly', { from: '2030-03-29T12:00:00Z', to: '2030-04-01T12:00:00Z' })
   */
  upcoming(id: string, span: FireTimeSpan): readonly number[]
}

/** What a test does with url groups. */
export interface QueueUrlGroups {
  /**
   * Adds endpoints to a group, or changes those with the same name or url; creates the group.
   * @throws Error where the API would refuse it, with the text of the refusal
   * @example queue.urlGroups.addEndpoints('orders', ['https://shop.test/stock', { url: 'https://shop.test/mail', name: 'mail' }])
   */
  addEndpoints(name: string, endpoints: readonly (UrlGroupEndpoint | string)[]): UrlGroup
  /**
   * Returns all URL groups.
   * @example
   * sandbox.queue.urlGroups.addEndpoints('orders', ['https://shop.test/stock'])
   * expect(sandbox.queue.urlGroups.list().map(({ name }) => name)).toEqual(['orders'])
   */
  list(): readonly UrlGroup[]
  /**
   * Deletes a URL group.
   * @example
   * sandbox.queue.urlGroups.addEndpoints('orders', ['https://shop.test/stock'])
   * sandbox.queue.urlGroups.delete('orders')
   * expect(sandbox.queue.urlGroups.list()).toEqual([])
   */
  delete(name: string): void
}

const queueOptionNames: Readonly<Record<keyof UpsertQueueOptions, true>> = { parallelism: true, paused: true }

function checkQueueOptions(options: UpsertQueueOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `queue.upsertQueue() takes a name and an object: queue.upsertQueue('orders', { parallelism: 2 }), got ${JSON.stringify(options)}.`,
    )
  }
  checkOptionNames('queue.upsertQueue()', options, Object.keys(queueOptionNames))
}

/** Options of `queue.publish()`: the destination, the body and the settings of the message. */
export interface PublishOptions extends MessageSettings {
  /** A url, or the name of a url group. */
  readonly to: string
  /** A text, bytes, or a value that becomes JSON. */
  readonly body?: unknown
  /** Delivered as they are. */
  readonly headers?: Readonly<Record<string, string>>
  readonly queue?: string
}

/**
 * What a publish to it gives: one message for a url, one for each endpoint for the name of a url group, and either where
 * the type is not a text that says which. A slash tells: names have none.
 */
export type PublishResult<To extends string, M> = To extends `${string}/${string}`
  ? M
  : Record<never, never> extends Record<To, unknown>
    ? M | readonly M[]
    : readonly M[]

const noOverrides: RawSettings = new Map()

const { attach, of } = internals<Queue, QueueEngine>('queue')

/** The engine behind the face, for the rest of the house. */
export const engineOf: (queue: Queue) => QueueEngine = of

export type QueueEffects = MethodEffects<
  Queue,
  {
    publish: 'changes'
    getMessage: 'reads'
    explain: 'reads'
    forecast: 'reads'
    cancel: 'changes'
    deliverNow: 'changes'
    retryDeadLetter: 'changes'
    upsertQueue: 'changes'
    pauseQueue: 'changes'
    resumeQueue: 'changes'
    deleteQueue: 'changes'
    sign: 'reads'
    dump: 'reads'
    load: 'changes'
    reset: 'changes'
    snapshot: 'reads'
  }
>

/** The message queue, spoken to directly by a test: no HTTP, no token, no limits of calls. */
export class Queue {
  static {
    bindMethods(Queue)
  }

  readonly #read: () => TrafficLog
  readonly #inputs: InputRecorder<Changes<QueueEffects>>
  readonly #schedules: DirectSchedules
  readonly #urlGroups: DirectUrlGroups
  readonly #keys: DirectKeys

  /** @param read the log, without what only another region's queue did @internal */
  constructor(engine: QueueEngine, read: () => TrafficLog = () => engine.traffic, inputs: InputRecorder = unrecorded) {
    attach(this, engine)
    this.#read = read
    this.#inputs = inputs
    this.#schedules = new DirectSchedules(engine, inputs.below('schedules'))
    this.#urlGroups = new DirectUrlGroups(engine, inputs.below('urlGroups'))
    this.#keys = new DirectKeys(engine, inputs.below('signingKeys'))
  }

  /** The log of everything that happened here, which the matchers read. */
  get traffic(): TrafficLog {
    return this.#read()
  }

  /** Where its messages come from: `us-east-1` or `eu-central-1`. */
  get region(): string {
    return engineOf(this).region
  }

  /**
   * Publishes without HTTP.
   * @returns the message, or one message for each endpoint of a url group
   * @throws Error where the API would refuse it, with the text of the refusal
   * @example
   * const { id } = queue.publish({ to: 'https://shop.example/orders', body: { n: 42 } })
   * const [first] = queue.publish({ to: 'warehouses', body: { n: 42 } })
   */
  publish<To extends string>(direct: PublishOptions & { readonly to: To }): PublishResult<To, Message> {
    const [, given] = this.#inputs.recordCall('publish', [direct])
    for (const name of Object.keys(given ?? {})) if (!ownNames.has(name)) settingOf(name)
    if (typeof given?.to !== 'string') {
      throw new TypeError(
        "queue.publish() needs an object with a destination: queue.publish({ to: 'https://…', body })",
      )
    }
    const { to, body, headers = {}, queue, ...options } = given
    const settings = new Map<string, string>()
    for (const [name, value] of Object.entries(options)) {
      const setting = settingOf(name)
      if (value !== undefined) settings.set(setting, settingText(name, setting, value))
    }
    for (const [name, value] of Object.entries(headers)) {
      if (name.toLowerCase() !== 'content-type') settings.set(`forward-${name}`, value)
    }
    const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
    const contentType = headerOf(Object.entries(headers), 'content-type') ?? (isJson ? 'application/json' : undefined)
    const target = targetOf(to)
    const engine = engineOf(this)
    const { region, policy } = engine
    const results = engine.publisher.publish({
      target,
      settings,
      headers: { contentType },
      body: bytesOf(body),
      callerIp: policy.callerIp,
      region,
      words: engine.words,
      queue,
    })
    const published = target.url === undefined ? results.map((result) => result.message) : results[0]!.message
    return published as PublishResult<To, Message>
  }

  /** Every message that has not ended. */
  get messages(): readonly Message[] {
    return engineOf(this).courier.live.select({}).items
  }

  /**
   * A message that has not ended.
   * @example
   * const { id } = sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m' })
   * sandbox.queue.getMessage(id)?.url // 'https://shop.test/orders'
   */
  getMessage(id: string): Message | undefined {
    return engineOf(this).message(id)
  }

  /**
   * Why a message is where it is and when it goes on; or how a queue, a flow-control key, a schedule or a deduplication id
   * stands. In sentences, for people. A name that is not there is told, with the nearest one.
   * @param what the id of a message, or what by its name
   * @example queue.explain({ flowControlKey: 'user-1' })
   */
  explain(what: string | ExplainTarget): string {
    return explain(engineOf(this), what)
  }

  /**
   * When the next attempt of a message starts, as things stand: an instant in milliseconds, or one before which it does
   * not, with the answer or the pause that it depends on. Nothing moves, and nothing is drawn by chance.
   * @returns `undefined` for a message that has ended or was cancelled, or that nothing will move on
   * @throws RangeError for a message that the log does not know
   * @example queue.forecast(message.id) // { at: 1893456060000 }
   */
  forecast(id: string): Forecast | undefined {
    if (typeof id !== 'string') {
      throw new TypeError(
        "queue.forecast() takes the id of a message; explain({ queue: 'orders' }) tells of queues, keys and schedules.",
      )
    }
    const message = this.#known(id)
    return forecastsOf(engineOf(this), [message]).get(message)
  }

  /**
   * Cancels a message.
   * @returns `false` when it had already ended or been cancelled
   * @throws RangeError for a message that the log does not know
   * @example
   * const { id } = sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m' })
   * expect(sandbox.queue.cancel(id)).toBe(true)
   */
  cancel(id: string): boolean {
    this.#inputs.record('cancel', id)
    return engineOf(this).courier.cancel(this.#known(id))
  }

  /**
   * Delivers a waiting message now; the plan of its retries stays as it is.
   * @throws RangeError for a message that the log does not know
   * @example
   * const { id } = sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1d' })
   * sandbox.queue.deliverNow(id)
   * await sandbox.clock.advance('1s')
   * expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders' })
   */
  deliverNow(id: string): void {
    this.#inputs.record('deliverNow', id)
    engineOf(this).courier.release(this.#known(id))
  }

  #known(id: string): Message {
    const message = engineOf(this).courier.byId.get(id)
    if (message !== undefined) return message
    throw new RangeError(`There is no message ${JSON.stringify(id)}. Those that wait are in queue.messages.`)
  }

  /** The dead letters, oldest first. */
  get deadLetters(): readonly DeadLetter[] {
    return engineOf(this).courier.deadLetters.select({}).items
  }

  /**
   * Publishes a dead letter again; it leaves the dead-letter queue.
   * @param id of the letter, not of its message
   * @throws RangeError for a letter that is not there
   * @example
   * sandbox.destinations.script('https://shop.test/orders', [500])
   * sandbox.queue.publish({ to: 'https://shop.test/orders', retries: 0 })
   * await sandbox.clock.drain()
   * const [letter] = sandbox.queue.deadLetters
   * sandbox.queue.retryDeadLetter(letter!.id)
   * await sandbox.clock.drain()
   * expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: [200] })
   */
  retryDeadLetter(id: string): Message {
    this.#inputs.record('retryDeadLetter', id)
    const letter = engineOf(this).courier.deadLetters.get(id)
    if (letter === undefined) {
      throw new RangeError(`There is no dead letter ${JSON.stringify(id)}. They are in queue.deadLetters.`)
    }
    return engineOf(this).publisher.retryDeadLetter(letter, noOverrides, engineOf(this).words).message
  }

  /** The schedules: `list()`, `fire(id)`, `upcoming(id, { from, to })`. */
  get schedules(): QueueSchedules {
    return this.#schedules
  }

  /** The url groups: `addEndpoints(name, endpoints)`, `list()`, `delete(name)`. */
  get urlGroups(): QueueUrlGroups {
    return this.#urlGroups
  }

  /**
   * Creates a FIFO queue, or changes it.
   * @param options.parallelism how many of its messages are delivered at the same time, at least 1
   * @param options.paused whether it delivers nothing; left out, a queue stays as it is and a new one is not paused
   * @throws TypeError for anything but such an object
   * @example queue.upsertQueue('orders', { parallelism: 2 })
   */
  upsertQueue(name: string, options: UpsertQueueOptions): void {
    checkQueueOptions(options)
    const [, { parallelism, paused }] = this.#inputs.record('upsertQueue', name, options)
    engineOf(this).upsertQueue(name, parallelism, paused)
  }

  /**
   * Pauses a FIFO queue: its messages wait until `resumeQueue()`.
   * @example
   * sandbox.queue.upsertQueue('orders', { parallelism: 1 })
   * sandbox.queue.pauseQueue('orders')
   */
  pauseQueue(name: string): void {
    this.#inputs.record('pauseQueue', name)
    engineOf(this).pauseQueue(name)
  }

  /**
   * Resumes a paused FIFO queue.
   * @example
   * sandbox.queue.upsertQueue('orders', { parallelism: 1, paused: true })
   * sandbox.queue.resumeQueue('orders')
   */
  resumeQueue(name: string): void {
    this.#inputs.record('resumeQueue', name)
    engineOf(this).resumeQueue(name)
  }

  /**
   * Deletes a FIFO queue; its messages are cancelled.
   * @example
   * sandbox.queue.upsertQueue('orders', { parallelism: 1 })
   * sandbox.queue.deleteQueue('orders')
   */
  deleteQueue(name: string): void {
    this.#inputs.record('deleteQueue', name)
    engineOf(this).deleteQueue(name)
  }

  /** The keys that deliveries are signed with: `current`, `next`, `former`, `pair()`, `rotate()`. */
  get signingKeys(): Pick<SigningKeys, 'current' | 'next' | 'former' | 'pair' | 'rotate'> {
    return this.#keys
  }

  /**
   * The signature that a delivery of this request would carry now, or one that is wrong on purpose.
   * @example
   * const signature = sandbox.queue.sign({ url: 'https://shop.test/orders', body: '{"id":42}' })
   * const expired = sandbox.queue.sign({ url: 'https://shop.test/orders' }, { flaw: 'expired' })
   */
  sign(request: SignedRequest, overrides: SignOptions = {}): string {
    checkSigning(request, overrides)
    return engineOf(this).sign(request, overrides)
  }

  /** Mistakes in requests that were accepted all the same, as sentences: a percent-encoded destination, for example. */
  get diagnostics(): readonly string[] {
    return engineOf(this).diagnostics
  }

  /**
   * Everything as plain JSON.
   * @example
   * const dump = sandbox.queue.dump()
   * writeFileSync('queue.json', JSON.stringify(dump))
   */
  dump(): QueueDump {
    return dumpOf(engineOf(this))
  }

  /**
   * Replaces everything with what `dump()` returned, here or in another sandbox. A delivery that was under way then is
   * due at once, as after a restart. Throws TypeError for anything else, and nothing has changed.
   * @example
   * const dump = sandbox.queue.dump()
   * using other = createSandbox()
   * other.queue.load(dump)
   */
  load(dump: QueueDump): void {
    const [given] = this.#inputs.record('load', dump)
    loadInto(engineOf(this), given)
  }

  /**
   * Empties the queue: no messages, schedules, groups, queues, keys of flow control or dead letters. Signing keys and destinations stay.
   * @example
   * sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m' })
   * sandbox.queue.reset()
   * expect(sandbox.queue.messages).toEqual([])
   */
  reset(): void {
    this.#inputs.record('reset')
    engineOf(this).reset()
  }

  /**
   * As `sandbox.snapshot()`: the queue itself.
   * @example expect(await sandbox.queue.snapshot()).not.toHaveDeadLetter()
   */
  snapshot(): this {
    return this
  }
}

export type SchedulesEffects = MethodEffects<DirectSchedules, { list: 'reads'; fire: 'changes'; upcoming: 'reads' }>

/** `queue.schedules`. */
class DirectSchedules implements QueueSchedules {
  static {
    bindMethods(DirectSchedules)
  }

  readonly #engine: QueueEngine
  readonly #inputs: InputRecorder<Changes<SchedulesEffects>>

  constructor(engine: QueueEngine, inputs: InputRecorder) {
    this.#engine = engine
    this.#inputs = inputs
  }

  list(): readonly Schedule[] {
    return this.#engine.schedules.list()
  }

  fire(id: string): readonly Message[] {
    this.#inputs.record('fire', id)
    return this.#engine.schedules.fire(id)
  }

  upcoming(id: string, span: FireTimeSpan): readonly number[] {
    checkOptionNames('queue.schedules.upcoming()', span, { from: true, to: true })
    const { from, to } = span
    return this.#engine.schedules.upcoming(id, instant(from), instant(to))
  }
}

export type UrlGroupsEffects = MethodEffects<
  DirectUrlGroups,
  { addEndpoints: 'changes'; list: 'reads'; delete: 'changes' }
>

/** `queue.urlGroups`. */
class DirectUrlGroups implements QueueUrlGroups {
  static {
    bindMethods(DirectUrlGroups)
  }

  readonly #engine: QueueEngine
  readonly #inputs: InputRecorder<Changes<UrlGroupsEffects>>

  constructor(engine: QueueEngine, inputs: InputRecorder) {
    this.#engine = engine
    this.#inputs = inputs
  }

  addEndpoints(name: string, endpoints: readonly (UrlGroupEndpoint | string)[]): UrlGroup {
    for (const endpoint of endpoints)
      if (typeof endpoint !== 'string')
        checkOptionNames('An endpoint of queue.urlGroups.addEndpoints()', endpoint, { url: true, name: true })
    return this.#engine.urlGroup(...this.#inputs.record('addEndpoints', name, endpoints))
  }

  list(): readonly UrlGroup[] {
    return this.#engine.urlGroups.list()
  }

  delete(name: string): void {
    this.#inputs.record('delete', name)
    this.#engine.urlGroups.delete(name)
  }
}

export type KeysEffects = MethodEffects<DirectKeys, { pair: 'reads'; rotate: 'changes' }>

/** `queue.signingKeys`. */
class DirectKeys implements Pick<SigningKeys, 'current' | 'next' | 'former' | 'pair' | 'rotate'> {
  static {
    bindMethods(DirectKeys)
  }

  readonly #engine: QueueEngine
  readonly #inputs: InputRecorder<Changes<KeysEffects>>

  constructor(engine: QueueEngine, inputs: InputRecorder) {
    this.#engine = engine
    this.#inputs = inputs
  }

  get current(): string {
    return this.#engine.keys.current
  }

  get next(): string {
    return this.#engine.keys.next
  }

  get former(): readonly string[] {
    return this.#engine.keys.former
  }

  pair(): SigningKeyPair {
    return this.#engine.keys.pair()
  }

  rotate(): SigningKeyPair {
    this.#inputs.record('rotate')
    return this.#engine.keys.rotate()
  }
}

/** @throws TypeError for a name that none of them has */
export function checkSigning(request: SignedRequest, overrides: SignOptions): void {
  checkOptionNames('The request of queue.sign()', request, { url: true, body: true })
  const names = { flaw: true, claims: true, key: true, window: true, dialect: true } as const
  checkOptionNames('queue.sign()', overrides, names)
  const claims = ['iss', 'sub', 'exp', 'nbf', 'iat', 'jti', 'body']
  if (overrides.claims !== undefined) checkOptionNames('claims of queue.sign()', overrides.claims, claims)
}

/** `retryDelay` → `retry-delay`, the names of the direct API; what needs a request or a schedule has none. */
const settingNames: ReadonlyMap<string, string> = new Map(
  publishOptions
    .filter(({ name, on }) => on !== 'schedule' && name !== 'header-forward')
    .map(({ name }) => [name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), name]),
)

/** What is no setting of the message. */
const ownNames: ReadonlySet<string> = new Set(['to', 'body', 'headers', 'queue'])

/** What the workflow protocol adds. */
const openOption = /^(?:workflow|featureSet)/

/** Options of the callbacks: those of a message, headers that are forwarded, and what the workflow protocol adds. */
const callbackOption = /^(callback|failureCallback)(.+)/
const openCallbackOption = /^(?:Forward|Workflow|FeatureSet)/

function settingOf(name: string): string {
  const known = settingNames.get(name)
  if (known !== undefined) return known
  const [, callback, own = ''] = callbackOption.exec(name) ?? []
  const names =
    callback === undefined
      ? ['to', 'body', 'headers', 'queue', ...settingNames.keys()]
      : [...settingNames.keys()].map((setting) => `${callback}${setting[0]!.toUpperCase()}${setting.slice(1)}`)
  const isOpen = callback === undefined ? openOption.test(name) : openCallbackOption.test(own) || names.includes(name)
  if (isOpen) return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new TypeError(
    `queue.publish() has no option ${JSON.stringify(name)}.${didYouMean(name, names)} It takes ${names.join(', ')}.`,
  )
}

/** Spans of time, those of callbacks included. */
/** The header of a setting: spans as texts, and an instant in seconds, fractions and all. */
function settingText(name: string, setting: string, value: unknown): string {
  if (name === 'notBefore') return String(instant(value as Instant) / 1000)
  return spanSetting.test(setting) ? spanText(name, value) : String(value)
}

const spanSetting = /^(?:(?:failure-)?callback-)?(?:delay|timeout)$/

/** A span of time as the service writes it, which has no milliseconds. */
function spanText(name: string, given: unknown): string {
  const span = typeof given === 'string' ? parseDuration(given) : undefined
  if (span !== undefined) return (given as string).includes('ms') ? `${span / 1000}s` : (given as string)
  const bare = Number(given === '' ? Number.NaN : given)
  throw new TypeError(
    Number.isFinite(bare) && bare >= 0
      ? `queue.publish() takes ${name} with a unit, got ${given}: a bare number is seconds for the SDK and milliseconds for this package. Write '${formatDuration(bare * 1000)}' or '${formatDuration(bare)}'.`
      : `queue.publish() takes ${name} as a text such as '90s', '5m' or '1d10h30m', got ${JSON.stringify(given)}.`,
  )
}

function bytesOf(body: unknown): Bytes {
  if (body === undefined) return '' as Bytes
  if (typeof body === 'string') return utf8(body)
  if (body instanceof Uint8Array) return fromArray(body)
  return utf8(compactJson(body))
}
