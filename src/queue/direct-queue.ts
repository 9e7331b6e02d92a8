import { bindMethods } from '../kernel/bind-methods.js'
import { type Bytes, fromArray, utf8 } from '../kernel/bytes.js'
import { compactJson } from '../kernel/compact-json.js'
import { type DurationText, formatDuration, parseDuration } from '../kernel/duration.js'
import { headerOf } from '../kernel/http.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { type Instant, instant } from '../kernel/instant.js'
import { checkOptionNames, didYouMean } from '../kernel/nearest-name.js'
import { shownValue } from '../kernel/shown-value.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import type { BulkAction } from './bulk-actions.js'
import type { DeadLetter } from './delivery/callbacks-and-dead-letters.js'
import { filterQuery, type MessageFilter, messageFilterNames } from './direct-filters.js'
import { loadInto } from './dump/load-queue.js'
import { dumpOf, type QueueDump } from './dump/queue-dump.js'
import { type ExplainTarget, explain } from './explain/explain.js'
import { type Forecast, forecastsOf } from './explain/forecast.js'
import type { Message } from './message/message.js'
import type { UrlGroup, UrlGroupEndpoint } from './publish/url-groups.js'
import type { QueueEngine } from './queue-engine.js'
import { engineOf, queueInternals } from './queue-internals.js'
import type { Schedule } from './schedules/schedule.js'
import type { RawSettings } from './settings/message-settings.js'
import { publishOptions } from './settings/publish-options.js'
import { targetOf } from './settings/url.js'
import type { SignedRequest, SignOptions } from './signing/signature-lab.js'
import type { SigningKeyPair, SigningKeys } from './signing/signing.js'

type Value = string | number | boolean

/**
 * Options of a message in the direct API, including those of its callbacks such as `callbackRetries`. A duration must
 * be text with a unit, such as `'30s'`, because the SDK reads a number as seconds and this package as milliseconds.
 */
export interface MessageSettings {
  /** HTTP method of the delivery: GET, POST, PUT, PATCH or DELETE. Default POST. */
  readonly method?: string
  /** Maximum time for the destination to respond: `'30s'`. */
  readonly timeout?: DurationText
  /** Maximum number of retries after the first attempt. Default: the policy `retries`, which is 3. */
  readonly retries?: Value
  /**
   * Expression for the delay before each retry in milliseconds: `1000 * (1 + retried)`. Default: exponential backoff.
   */
  readonly retryDelay?: Value
  /** Delay before the first attempt: `'10m'`. */
  readonly delay?: DurationText
  /** Earliest instant of delivery; a number is milliseconds since the epoch. */
  readonly notBefore?: Instant
  /** ID by which duplicates are recognized, for 10 minutes by default. It must not contain `:`. [queue.md 2.4] */
  readonly deduplicationId?: Value
  /** Whether a message with the same destination, headers and body is a duplicate. Default false. */
  readonly contentBasedDeduplication?: Value
  /** URL that receives a callback after each attempt. Default: none. [queue.md 5.4] */
  readonly callback?: string
  /** URL that receives the failure callback if the message fails. Default: none. [queue.md 5.4] */
  readonly failureCallback?: string
  /** Flow-control key whose limits apply to the message. Default: none. */
  readonly flowControlKey?: string
  /** New limits for the flow-control key: `parallelism=2, rate=10, period=1m`. Default: its limits stay unchanged. */
  readonly flowControlValue?: string
  /** Labels, separated by commas. A search can find the message by its labels. Default: none. */
  readonly label?: string
  /**
   * Parts of the message that API responses redact, separated by commas: `body`, `header`, `header[<Name>]`. Default:
   * none.
   */
  readonly redactFields?: string
  /** Maximum time for the callback URL to respond: `'30s'`. */
  readonly callbackTimeout?: DurationText
  /** Delay before the first attempt of the callback: `'10m'`. */
  readonly callbackDelay?: DurationText
  /** Maximum time for the failure callback URL to respond: `'30s'`. */
  readonly failureCallbackTimeout?: DurationText
  /** Delay before the first attempt of the failure callback: `'10m'`. */
  readonly failureCallbackDelay?: DurationText
  readonly [callbackOption: `callback${string}` | `failureCallback${string}`]: Value | undefined
}

/** Options of `queue.upsertQueue()`: the settings of a FIFO queue. */
export interface UpsertQueueOptions {
  /** Number of messages that are delivered at the same time, at least 1. */
  readonly parallelism: number
  /** Whether the queue is paused. Default: `false` for a new queue, otherwise unchanged. */
  readonly paused?: boolean | undefined
}

/** Period of virtual time for `upcoming()`. It includes both `from` and `to`. */
export interface FireTimeSpan {
  /** First instant of the period. */
  readonly from: Instant
  /** Last instant of the period. */
  readonly to: Instant
}

/** Schedules of a queue. */
export interface QueueSchedules {
  /**
   * Returns all schedules.
   * @example for (const { id, cron } of sandbox.queue.schedules.list()) console.log(id, cron)
   */
  list(): readonly Schedule[]
  /**
   * Fires a schedule now and returns the messages that it published. Its next fire times stay unchanged.
   * @throws RangeError when the schedule does not exist
   * @example
   * const [message] = sandbox.queue.schedules.fire('nightly')
   * await sandbox.clock.settle()
   */
  fire(id: string): readonly Message[]
  /**
   * Returns the fire times of a schedule in a period, in milliseconds. The schedule does not fire.
   * @throws RangeError when an end of the period is not an instant
   * @example queue.schedules.upcoming('nightly', { from: '2030-03-29T12:00:00Z', to: '2030-04-01T12:00:00Z' })
   */
  upcoming(id: string, span: FireTimeSpan): readonly number[]
}

/** URL groups of a queue. */
export interface QueueUrlGroups {
  /**
   * Adds endpoints to a URL group, and creates the group if it does not exist. An endpoint replaces the one with the
   * same name or URL.
   * @throws Error when the API would reject the endpoints, with the text of its response
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
      `queue.upsertQueue(): the second argument must be an object such as { parallelism: 2 } (got ${JSON.stringify(options)}).`,
    )
  }
  checkOptionNames('queue.upsertQueue()', options, Object.keys(queueOptionNames))
  const { parallelism, paused } = options
  if (!Number.isSafeInteger(parallelism) || parallelism < 1) {
    throw new TypeError(
      `queue.upsertQueue(): parallelism must be a whole number of at least 1 (got ${shownValue(parallelism)}).`,
    )
  }
  if (paused !== undefined && typeof paused !== 'boolean') {
    throw new TypeError(`queue.upsertQueue(): paused must be true or false (got ${shownValue(paused)}).`)
  }
}

/** Options of `queue.publish()`: the destination, the body and the settings of the message. */
export interface PublishOptions extends MessageSettings {
  /** URL, or name of a URL group. */
  readonly to: string
  /** Body: a string, bytes, or a value that is serialized as JSON. */
  readonly body?: unknown
  /** Headers that are delivered unchanged. */
  readonly headers?: Readonly<Record<string, string>>
  /** Name of the FIFO queue. */
  readonly queue?: string
}

/**
 * Result of a publish. A destination with a slash is a URL and gives one message. A destination without a slash is the
 * name of a URL group and gives one message per endpoint. If TypeScript knows the destination only as `string`, the
 * result type is the union of both.
 */
export type PublishResult<To extends string, M> = To extends `${string}/${string}`
  ? M
  : Record<never, never> extends Record<To, unknown>
    ? M | readonly M[]
    : readonly M[]

const noOverrides: RawSettings = new Map()

export type QueueEffects = MethodEffects<
  Queue,
  {
    publish: 'changes'
    getMessage: 'reads'
    explain: 'reads'
    forecast: 'reads'
    cancel: 'changes'
    cancelMessages: 'changes'
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

/** Message queue for tests: no HTTP, no token, no rate limits. */
export class Queue {
  static {
    bindMethods(Queue)
  }

  readonly #read: () => TrafficLog
  readonly #inputs: InputRecorder<Changes<QueueEffects>>
  readonly #schedules: DirectSchedules
  readonly #urlGroups: DirectUrlGroups
  readonly #keys: DirectKeys

  /**
   * @param read returns the traffic log; entries of queues in other regions are left out
   * @internal
   */
  constructor(engine: QueueEngine, read: () => TrafficLog = () => engine.traffic, inputs: InputRecorder = unrecorded) {
    queueInternals.attach(this, engine)
    this.#read = read
    this.#inputs = inputs
    this.#schedules = new DirectSchedules(engine, inputs.below('schedules'))
    this.#urlGroups = new DirectUrlGroups(engine, inputs.below('urlGroups'))
    this.#keys = new DirectKeys(engine, inputs.below('signingKeys'))
  }

  /** Traffic log of the sandbox, which the matchers read. */
  get traffic(): TrafficLog {
    return this.#read()
  }

  /** Region of the queue and its messages: `us-east-1` or `eu-central-1`. */
  get region(): string {
    return engineOf(this).region
  }

  /**
   * Publishes a message without HTTP.
   * @returns the message, or one message per endpoint of a URL group
   * @throws TypeError when an option is unknown or a duration has no unit
   * @throws Error when the API would reject the publish, with the text of its response
   * @example
   * const { id } = queue.publish({ to: 'https://shop.example/orders', body: { n: 42 } })
   * const [first] = queue.publish({ to: 'warehouses', body: { n: 42 } })
   */
  publish<To extends string>(direct: PublishOptions & { readonly to: To }): PublishResult<To, Message> {
    const [, given] = this.#inputs.recordCall('publish', [direct])
    for (const name of Object.keys(given ?? {})) if (!ownNames.has(name)) settingOf(name)
    if (typeof given?.to !== 'string') {
      throw new TypeError(
        "queue.publish(): the argument must be an object with a destination `to`. For example, queue.publish({ to: 'https://…', body }).",
      )
    }
    const { to, body, headers = {}, queue, ...options } = given
    if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
      throw new TypeError(
        `queue.publish(): headers must be an object of names and values (got ${shownValue(headers)}).`,
      )
    }
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

  /** Messages that have not ended. */
  get messages(): readonly Message[] {
    return engineOf(this).courier.live.select({}).items
  }

  /**
   * Returns a message that has not ended; `undefined` when there is none with this ID.
   * @example
   * const { id } = sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m' })
   * sandbox.queue.getMessage(id)?.url // 'https://shop.test/orders'
   */
  getMessage(id: string): Message | undefined {
    return engineOf(this).message(id)
  }

  /**
   * Explains in text why a message is in its state, and when it continues. Explains FIFO queues, flow-control keys,
   * schedules and deduplication IDs, too. For an unknown name, the text suggests the nearest known name.
   * @param what ID of a message, or an object with the name of a resource, such as `{ queue: 'orders' }`
   * @throws TypeError when `what` is neither
   * @example queue.explain({ flowControlKey: 'user-1' })
   */
  explain(what: string | ExplainTarget): string {
    return explain(engineOf(this), what)
  }

  /**
   * Returns when the next attempt of a message starts. The forecast assumes that no further request changes the queue.
   * The result has the exact instant in milliseconds (`at`). If the start depends on a response or a pause, the result
   * has the earliest instant (`notBefore`) and names the cause (`blockedBy`). Virtual time does not move, and no random
   * numbers are drawn.
   * @returns `undefined` for a message that has ended, was canceled or will never be delivered
   * @throws RangeError when the log does not contain the message
   * @example queue.forecast(message.id) // { at: 1893456060000 }
   */
  forecast(id: string): Forecast | undefined {
    if (typeof id !== 'string') {
      throw new TypeError(
        "queue.forecast(): the argument must be the ID of a message. Use explain({ queue: 'orders' }) for queues, keys and schedules.",
      )
    }
    const message = this.#known(id)
    return forecastsOf(engineOf(this), [message]).get(message)
  }

  /**
   * Cancels a message.
   * @returns `false` when it had already ended or been canceled
   * @throws RangeError when the log does not contain the message
   * @example
   * const { id } = sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m' })
   * expect(sandbox.queue.cancel(id)).toBe(true)
   */
  cancel(id: string): boolean {
    this.#inputs.record('cancel', id)
    return engineOf(this).courier.cancel(this.#known(id))
  }

  /**
   * Cancels all pending messages that match the filters, as one bulk action. Without filters, cancels all. With the
   * policy `bulkActionTime`, the action is in progress until that time has passed.
   * @throws TypeError when a filter is unknown or has no value
   * @throws Error when the API would reject the cancel, with the text of its response
   * @example
   * sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m', label: 'campaign' })
   * const { total } = sandbox.queue.cancelMessages({ label: 'campaign' })
   * expect(total).toBe(1)
   */
  cancelMessages(filter: MessageFilter = {}): BulkAction {
    const [given] = this.#inputs.record('cancelMessages', filter)
    const query = filterQuery('queue.cancelMessages()', given, messageFilterNames)
    return engineOf(this).bulkActions.begin('messages', query)
  }

  /** Bulk actions that cancel messages, of the last seven days, oldest first. */
  get bulkActions(): readonly BulkAction[] {
    return engineOf(this).bulkActions.select('messages', {}).items
  }

  /**
   * Delivers a waiting message now. The number of its retries and the delays of later retries stay unchanged.
   * @returns `false` when the message does not wait, because it is being delivered, was canceled or has ended. The API
   * then responds with 404
   * @throws RangeError when the log does not contain the message
   * @example
   * const { id } = sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1d' })
   * expect(sandbox.queue.deliverNow(id)).toBe(true)
   * await sandbox.clock.advance('1s')
   * expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders' })
   */
  deliverNow(id: string): boolean {
    this.#inputs.record('deliverNow', id)
    return engineOf(this).courier.release(this.#known(id))
  }

  #known(id: string): Message {
    const message = engineOf(this).courier.byId.get(id)
    if (message !== undefined) return message
    throw new RangeError(`There is no message ${JSON.stringify(id)}. Use an ID from queue.messages.`)
  }

  /** Dead letters, oldest first. */
  get deadLetters(): readonly DeadLetter[] {
    return engineOf(this).courier.deadLetters.select({}).items
  }

  /**
   * Publishes a dead letter again and removes it from the dead-letter queue.
   * @param id ID of the dead letter, not of its message
   * @throws RangeError when the dead letter does not exist
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
      throw new RangeError(`There is no dead letter ${JSON.stringify(id)}. Use an ID from queue.deadLetters.`)
    }
    return engineOf(this).publisher.retryDeadLetter(letter, noOverrides, engineOf(this).words).message
  }

  /** Schedules: `list()`, `fire(id)`, `upcoming(id, { from, to })`. */
  get schedules(): QueueSchedules {
    return this.#schedules
  }

  /** URL groups: `addEndpoints(name, endpoints)`, `list()`, `delete(name)`. */
  get urlGroups(): QueueUrlGroups {
    return this.#urlGroups
  }

  /**
   * Creates or changes a FIFO queue.
   * @param options.parallelism number of messages that are delivered at the same time, at least 1
   * @param options.paused whether the queue is paused; by default `false` for a new queue, otherwise unchanged
   * @throws TypeError when `options` is not an object or has an unknown field
   * @example queue.upsertQueue('orders', { parallelism: 2 })
   */
  upsertQueue(name: string, options: UpsertQueueOptions): void {
    checkQueueOptions(options)
    const [, { parallelism, paused }] = this.#inputs.record('upsertQueue', name, options)
    engineOf(this).upsertQueue(name, parallelism, paused)
  }

  /**
   * Pauses a FIFO queue. Its messages are not delivered until `resumeQueue()`.
   * @example
   * sandbox.queue.upsertQueue('orders', { parallelism: 1 })
   * sandbox.queue.pauseQueue('orders')
   */
  pauseQueue(name: string): void {
    this.#inputs.record('pauseQueue', name)
    engineOf(this).pauseQueue(name)
  }

  /**
   * Resumes a FIFO queue.
   * @example
   * sandbox.queue.upsertQueue('orders', { parallelism: 1, paused: true })
   * sandbox.queue.resumeQueue('orders')
   */
  resumeQueue(name: string): void {
    this.#inputs.record('resumeQueue', name)
    engineOf(this).resumeQueue(name)
  }

  /**
   * Deletes a FIFO queue and cancels its messages.
   * @example
   * sandbox.queue.upsertQueue('orders', { parallelism: 1 })
   * sandbox.queue.deleteQueue('orders')
   */
  deleteQueue(name: string): void {
    this.#inputs.record('deleteQueue', name)
    engineOf(this).deleteQueue(name)
  }

  /** Signing keys of deliveries: `current`, `next`, `former`, `pair()`, `rotate()`. */
  get signingKeys(): Pick<SigningKeys, 'current' | 'next' | 'former' | 'pair' | 'rotate'> {
    return this.#keys
  }

  /**
   * Returns the signature that the queue would send now with a delivery of this request. With `flaw`, the signature has
   * a deliberate defect.
   * @throws TypeError when an option or the flaw is unknown
   * @example
   * const signature = sandbox.queue.sign({ url: 'https://shop.test/orders', body: '{"id":42}' })
   * const expired = sandbox.queue.sign({ url: 'https://shop.test/orders' }, { flaw: 'expired' })
   */
  sign(request: SignedRequest, overrides: SignOptions = {}): string {
    checkSigning(request, overrides)
    return engineOf(this).sign(request, overrides)
  }

  /**
   * Warnings about requests that the sandbox accepted although the real service would reject them. One example is a
   * percent-encoded destination.
   */
  get diagnostics(): readonly string[] {
    return engineOf(this).diagnostics
  }

  /**
   * Returns the whole queue as plain JSON.
   * @example
   * const dump = sandbox.queue.dump()
   * writeFileSync('queue.json', JSON.stringify(dump))
   */
  dump(): QueueDump {
    return dumpOf(engineOf(this))
  }

  /**
   * Replaces the contents of the queue with a dump of this or another sandbox. If a delivery was in flight in the dump,
   * its message is due immediately.
   * @throws TypeError when the dump is invalid; the queue then stays unchanged
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
   * Removes all messages, schedules, URL groups, FIFO queues, flow-control keys and dead letters. Signing keys and
   * destinations stay.
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
   * Returns this queue. A remote sandbox has a `snapshot()` that copies the queue, so the same test code works with
   * both.
   * @example expect(await sandbox.queue.snapshot()).not.toHaveDeadLetter()
   */
  snapshot(): this {
    return this
  }
}

export type SchedulesEffects = MethodEffects<DirectSchedules, { list: 'reads'; fire: 'changes'; upcoming: 'reads' }>

/** Implements `queue.schedules`. */
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

/** Implements `queue.urlGroups`. */
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
    if (!Array.isArray(endpoints)) {
      throw new TypeError(
        `queue.urlGroups.addEndpoints(): the second argument must be a list (got ${shownValue(endpoints)}). Use addEndpoints('orders', ['https://shop.test/stock']).`,
      )
    }
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

/** Implements `queue.signingKeys`. */
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

/**
 * Checks the request and the options that `queue.sign()` gets.
 * @throws TypeError when an option is unknown
 */
export function checkSigning(request: SignedRequest, overrides: SignOptions): void {
  checkOptionNames('The request of queue.sign()', request, { url: true, body: true })
  const names = { flaw: true, claims: true, key: true, window: true, dialect: true } as const
  checkOptionNames('queue.sign()', overrides, names)
  const claims = ['iss', 'sub', 'exp', 'nbf', 'iat', 'jti', 'body']
  if (overrides.claims !== undefined) checkOptionNames('claims of queue.sign()', overrides.claims, claims)
  const { key, window } = overrides
  if (key !== undefined && (typeof key !== 'string' || key === '')) {
    throw new TypeError(`queue.sign(): key must be 'current', 'next' or the text of a key (got ${shownValue(key)}).`)
  }
  if (window !== undefined && !windows.includes(window)) {
    throw new TypeError(
      `queue.sign(): window must be 'wide' or 'real' (got ${shownValue(window)}).${didYouMean(window, windows)}`,
    )
  }
}

const windows: readonly string[] = ['wide', 'real']

/**
 * Header names by option name: `retryDelay` → `retry-delay`. The table omits `header-forward`, which only HTTP requests
 * can have, and the options of schedules.
 */
const settingNames: ReadonlyMap<string, string> = new Map(
  publishOptions
    .filter(({ name, on }) => on !== 'schedule' && name !== 'header-forward')
    .map(({ name }) => [name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), name]),
)

/** Fields of the argument of `publish()` that do not become message settings. */
const ownNames: ReadonlySet<string> = new Set(['to', 'body', 'headers', 'queue'])

/** Prefixes of option names that belong to the workflow protocol. Any option with one of these prefixes is accepted. */
const openOption = /^(?:workflow|featureSet)/

/**
 * Names of callback options: `callback` or `failureCallback`, followed by the name of a message option, such as
 * `callbackRetries`. The second part can also be `Forward` with a header name, or a workflow option.
 */
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
    `queue.publish() has no option ${JSON.stringify(name)}.${didYouMean(name, names)} The options are ${names.join(', ')}.`,
  )
}

/** Returns the header value of an option. A duration is formatted as text, and an instant as seconds with decimals. */
function settingText(name: string, setting: string, value: unknown): string {
  if (name === 'notBefore') return String(instant(value as Instant) / 1000)
  return spanSetting.test(setting) ? spanText(name, value) : String(value)
}

/** Header names of the options whose value is a duration, with or without a callback prefix. */
const spanSetting = /^(?:(?:failure-)?callback-)?(?:delay|timeout)$/

/**
 * Returns a duration in the format of the service. The format has no unit for milliseconds, so 1500 ms become `1.5s`.
 */
function spanText(name: string, given: unknown): string {
  const span = typeof given === 'string' ? parseDuration(given) : undefined
  if (span !== undefined) return (given as string).includes('ms') ? `${span / 1000}s` : (given as string)
  const isBare = typeof given === 'number' || (typeof given === 'string' && given.trim() !== '')
  const bare = isBare ? Number(given) : Number.NaN
  throw new TypeError(
    Number.isFinite(bare) && bare >= 0
      ? `queue.publish(): ${name} must have a unit (got ${given}), because a bare number is seconds for the SDK and milliseconds for this package. Use '${formatDuration(bare * 1000)}' or '${formatDuration(bare)}'.`
      : `queue.publish(): ${name} must be a duration such as '90s', '5m' or '1d10h30m' (got ${shownValue(given)}).`,
  )
}

function bytesOf(body: unknown): Bytes {
  if (body === undefined) return '' as Bytes
  if (typeof body === 'string') return utf8(body)
  if (body instanceof Uint8Array) return fromArray(body)
  return utf8(compactJson(body))
}
