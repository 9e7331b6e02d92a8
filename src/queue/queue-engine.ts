import type { FaultSource } from '../faults/fault.js'
import { utf8 } from '../kernel/bytes.js'
import { accompany, type Clock } from '../kernel/clock.js'
import { type Random, singleId } from '../kernel/random.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import type { ResolvedPolicy, ResolvedQueueLimits } from '../policy/policy.js'
import { BulkActions, type BulkTarget, matchesOf } from './bulk-actions.js'
import { deliveryWriter } from './delivery/delivery-headers.js'
import { DeliveryScheduler } from './delivery/delivery-scheduler.js'
import { FifoQueues } from './delivery/fifo-queues.js'
import type { Admissions } from './delivery/flow-control.js'
import type { DeliveryTarget } from './destinations/destinations.js'
import { type Message, type MessageLog, messagesShare } from './message/message.js'
import { readMessageCancel } from './message/message-filters.js'
import { type UrlGroup, type UrlGroupEndpoint, UrlGroups } from './publish/url-groups.js'
import { Publisher, type WorkflowPublisher } from './publisher.js'
import type { Schedules } from './schedules/schedules.js'
import type { ReadContext } from './settings/publish-options.js'
import type { DialectSpelling, QueueDialect, QueueDialects } from './settings/queue-dialect.js'
import { planOf } from './settings/queue-plan.js'
import { type NoteSetting, notingIn } from './settings/settings-log.js'
import { mintSignature, type SignedRequest, type SignOptions } from './signing/signature-lab.js'
import { bodyHash, type SignatureWindow, type SigningKeyPair, SigningKeys } from './signing/signing.js'

export interface QueueOptions {
  readonly clock: Clock
  readonly random: Random
  readonly traffic: TrafficLog
  readonly policy: ResolvedPolicy
  readonly words: QueueDialects
  readonly destinations: DeliveryTarget
  /** Signing keys; derived from the seed by default. */
  readonly keys?: Partial<SigningKeyPair> | undefined
  /** Random stream for the keys that later rotations create. Default: `random`. */
  readonly keyDraws?: Random | undefined
  readonly signing?: { readonly window?: SignatureWindow } | undefined
  /** Fault rules. */
  readonly faults?: FaultSource | undefined
  /** Region of messages that no request published, such as the messages of a test. Default `eu-central-1`. */
  readonly region?: string | undefined
}

export const maxDiagnostics = 1000
/** Fields of the engine that are replaced when the queue is reset or loads a dump. */
type Holdings = Pick<QueueEngine, 'urlGroups' | 'lanes' | 'courier' | 'publisher' | 'bulkActions'>

/** Engine of the message queue: publishes, delivers and looks up messages. */
export class QueueEngine {
  readonly policy: ResolvedPolicy
  readonly limits: ResolvedQueueLimits
  /** Dialect for requests that have no header of any dialect. */
  readonly words: QueueDialect
  readonly wordsByName: ReadonlyMap<string, QueueDialect>
  readonly destinations: DeliveryTarget
  readonly keys: SigningKeys
  readonly traffic: TrafficLog
  /** Region of messages that no request published, such as the messages of a test. */
  readonly region: string
  /**
   * Part of the workflow engine that the queue uses. The workflow engine sets it. `undefined` without a workflow
   * engine.
   */
  workflows: WorkflowPublisher | undefined
  readonly #diagnostics = new Set<string>()
  readonly #clock: Clock
  readonly #random: Random
  readonly #window: SignatureWindow
  readonly #context: ReadContext
  readonly #note: NoteSetting
  readonly #faults: FaultSource | undefined
  urlGroups!: UrlGroups
  lanes!: FifoQueues
  courier!: DeliveryScheduler
  publisher!: Publisher
  bulkActions!: BulkActions

  constructor(options: QueueOptions) {
    const { clock, random, traffic, policy, words, destinations } = options
    this.#clock = clock
    this.#random = random
    this.traffic = traffic
    this.#window = options.signing?.window ?? 'wide'
    this.region = options.region ?? 'eu-central-1'
    this.policy = policy
    this.limits = planOf(policy)
    this.words = words.fallback
    // Add the dialects in reverse order, so that the first of two with the same name is kept. A user's dialect may have
    // the name of a built-in one.
    this.wordsByName = new Map(words.all.toReversed().map((one) => [one.name, one]))
    this.destinations = destinations
    this.#note = notingIn(traffic)
    this.#faults = options.faults
    const { keys, keyDraws = random } = options
    this.keys = new SigningKeys(keyDraws, keys, () => this.#note('signing-keys', 'current', 'rotated'))
    this.#context = { words: this.words, policy, limits: this.limits }
    this.#take(this.#fresh())
  }

  reset(): void {
    stop(this)
    this.#note('service', 'queue', 'reset')
    this.#diagnostics.clear()
    this.workflows?.reset()
    this.#take(this.#fresh())
  }

  #fresh(): Holdings {
    const { policy, limits, destinations, keys } = this
    const clock = this.#clock
    const random = this.#random
    const now = (): number => clock.now()
    const lanes = new FifoQueues(now, policy, limits)
    const courier = new DeliveryScheduler({
      clock,
      random,
      traffic: this.traffic,
      policy,
      limits,
      destinations,
      keys,
      writer: deliveryWriter(random, this.#window, keys, policy.workflowEchoConfiguration),
      fifoQueueOf: (name) => lanes.open(name),
      faults: this.#faults,
    })
    const urlGroups = new UrlGroups(now, policy, limits)
    const publisher = new Publisher({
      clock,
      random,
      traffic: this.traffic,
      context: this.#context,
      urlGroups,
      lanes,
      courier,
      note: this.#note,
      faults: this.#faults,
      workflows: () => this.workflows,
      wordsAmong: (names) => this.wordsAmong(names),
    })
    const messages = messageTarget(courier, policy)
    const bulkActions = new BulkActions({
      clock,
      random,
      traffic: this.traffic,
      policy,
      target: (of) => (of === 'messages' ? messages : this.workflows!.bulkTarget),
      kept: this.traffic.share(messagesShare),
    })
    return { urlGroups, lanes, courier, publisher, bulkActions }
  }

  #take({ urlGroups, lanes, courier, publisher, bulkActions }: Holdings): void {
    Object.assign(this, { urlGroups, lanes, courier, publisher, bulkActions })
    accompany(this.#clock, { waiting: { [this.region]: courier.live } })
  }

  /**
   * Empties the queue and calls `fill()` to create its new contents. If `fill()` throws, the previous contents are
   * restored.
   */
  replace(fill: () => void): void {
    const { urlGroups, lanes, courier, publisher, bulkActions } = this
    const before: Holdings = { urlGroups, lanes, courier, publisher, bulkActions }
    const runsBefore = this.workflows?.renew()
    this.#take(this.#fresh())
    this.#note('service', 'queue', 'loaded')
    try {
      fill()
    } catch (error) {
      stop(this)
      this.#take(before)
      runsBefore?.takeBack()
      throw error
    }
    stop(before)
    runsBefore?.end()
  }

  /** Returns the dialect with this name. If there is none, returns the fallback dialect. */
  wordsNamed(name: string | undefined): QueueDialect {
    return (name === undefined ? undefined : this.wordsByName.get(name)) ?? this.words
  }

  get schedules(): Schedules {
    return this.publisher.schedules
  }

  get diagnostics(): readonly string[] {
    return [...this.#diagnostics]
  }

  get log(): MessageLog {
    return this.courier.log
  }

  get flow(): Admissions {
    return this.courier.flow
  }

  /** Adds a warning. A text that was already added is ignored. */
  notice(sentence: string): void {
    if (this.#diagnostics.size < maxDiagnostics) this.#diagnostics.add(sentence)
  }

  now(): number {
    return this.#clock.now()
  }

  /** Returns a message that has not ended and was not canceled. */
  message(id: string): Message | undefined {
    const message = this.courier.byId.get(id)
    return message?.visible === true ? message : undefined
  }

  /**
   * Returns a pending message, or a message that was delivered within the policy's `deliveredRetention`. Failed and
   * canceled messages are not returned.
   */
  readable(id: string): Message | undefined {
    const now = this.now()
    this.log.prune(now)
    const message = this.courier.byId.get(id)
    if (message?.state !== 'DELIVERED' || message.cancelRequested) return this.message(id)
    const { deliveredRetention: time = Number.POSITIVE_INFINITY } = this.policy
    return now - message.lastLog!.createdAt < time ? message : undefined
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

  get faults(): FaultSource | undefined {
    return this.#faults
  }

  /**
   * Returns the state of each message that has not ended. `adrift` is an error of the engine: the message has no timer,
   * waits in no list and expects no response, so it will never end.
   */
  whereabouts(): ReadonlyMap<string, 'planned' | 'running' | 'held' | 'adrift'> {
    const places = new Map<string, 'planned' | 'running' | 'held' | 'adrift'>()
    const held = new Set(this.flow.control.held())
    for (const message of this.courier.byId.values()) {
      if (message.isEnded) continue
      places.set(message.id, isAdrift(message, held) ? 'adrift' : placeNames[message.delivery.is])
    }
    return places
  }

  urlGroup(name: string, endpoints: readonly (UrlGroupEndpoint | string)[]): UrlGroup {
    return this.urlGroups.upsert(
      name,
      endpoints.map((endpoint) => (typeof endpoint === 'string' ? { url: endpoint } : endpoint)),
    )
  }

  /**
   * Returns the dialect to which these header names belong. If they belong to several, returns the vendor's dialect.
   * Returns `undefined` if they belong to none.
   */
  wordsAmong(names: readonly string[]): QueueDialect | undefined {
    const lower = names.map((name) => name.toLowerCase())
    const prefix = this.words.prefixes.findLast((one) => lower.some((name) => name.startsWith(one)))
    if (prefix === undefined) return undefined
    if (this.words.tongues.length === 1) return this.words
    return [...this.wordsByName.values()].find(({ prefixes }) => prefixes.length === 1 && prefixes[0] === prefix)
  }

  #signer(name: string | undefined): DialectSpelling {
    const words = name === undefined ? this.words : this.wordsByName.get(name)
    if (words !== undefined) return words.tongues.at(-1)!
    throw new TypeError(
      `queue.sign(): there is no dialect ${JSON.stringify(name)}. Use one of ${[...this.wordsByName.keys()].filter((one) => one !== 'both').join(', ')}.`,
    )
  }

  sign(request: SignedRequest, overrides: SignOptions = {}): string {
    return mintSignature(request, overrides, this.keys, {
      at: this.#clock.now(),
      issuer: this.#signer(overrides.dialect).issuer,
      jti: singleId(this.#random.fork(`jwt/lab/${request.url}/${bodyHash(utf8(request.body ?? ''))}`), 'jwt_', 28),
      window: this.#window,
    })
  }
}

const placeNames = {
  planned: 'planned',
  waiting: 'held',
  running: 'running',
  held: 'held',
  parked: 'held',
  ended: 'adrift',
} as const

/**
 * Whether a message waits for an event that cannot happen. This would be an error of the engine.
 * @param held messages in the wait lists of flow control
 */
function isAdrift(message: Message, held: ReadonlySet<Message>): boolean {
  const { delivery, timer, lane } = message
  switch (delivery.is) {
    case 'planned':
      return timer === undefined
    case 'held':
      return !held.has(message)
    case 'parked':
      return lane?.paused !== true
    case 'waiting':
      return delivery.waitsFor === 'turn' && lane?.holding.has(message) !== false
    default:
      return false
  }
}

function messageTarget(courier: DeliveryScheduler, policy: ResolvedPolicy): BulkTarget {
  return {
    matching: (query) =>
      matchesOf<Message>(
        readMessageCancel(query, policy),
        (wanted) => courier.live.select(wanted).items,
        (message) => void courier.cancel(message),
      ),
    seqOf: (id) => courier.byId.get(id)?.seq,
  }
}

function stop({ courier, publisher, bulkActions }: Holdings): void {
  courier.stop()
  publisher.schedules.stop()
  bulkActions.stop()
}
