import type { HeapItem } from '../../kernel/heap.js'
import type { Random } from '../../kernel/random.js'
import type { Message } from '../message/message.js'
import type { QueueEngine } from '../queue-engine.js'
import type { Schedule } from '../schedules/schedule.js'
import type { PublishSettings } from '../settings/message-settings.js'
import { type Cause, FifoQueueCopy, ForecastMessage, KeyCopy, type ScheduleCopy } from './forecast-copies.js'
import { PlanCopy } from './plan-copy.js'

/**
 * Model for a forecast: copies of the requested messages and of everything that can affect them. A forecast changes
 * only these copies and never the queue itself.
 */
export class ForecastModel {
  readonly now: number
  readonly items: ForecastMessage[] = []
  /** Timer of each item whose next event has a known time. */
  readonly timers: Map<ForecastMessage, HeapItem> = new Map()
  readonly running: ForecastMessage[] = []
  /** Items that are in no wait list of a key or FIFO queue, and wait for a response or for the limit of the plan. */
  readonly loose: { readonly item: ForecastMessage; readonly cause: Cause }[] = []
  readonly schedules: ScheduleCopy[] = []
  readonly downUntil: number
  readonly draws: Random | undefined
  readonly plan: PlanCopy | undefined
  readonly #queue: QueueEngine
  readonly #byMessage = new Map<Message, ForecastMessage>()
  readonly #keys = new Map<string, KeyCopy>()
  readonly #lanes = new Map<string, FifoQueueCopy>()

  constructor(queue: QueueEngine, asked: readonly Message[]) {
    const { flow } = queue
    this.#queue = queue
    this.now = queue.now()
    this.downUntil = queue.faults?.downUntil?.queue ?? Number.NEGATIVE_INFINITY
    this.draws = flow.comingDraws
    const sharesAll = flow.control.globalMax !== undefined || this.draws !== undefined
    const { messages, schedules } = sharesAll ? everything(queue) : whatMeets(queue, asked)
    // Copy all messages first: the copies of keys and queues refer to them.
    for (const message of messages) this.#copy(message)
    for (const schedule of schedules) this.schedules.push(scheduleCopy(queue, schedule))
    for (const [message, item] of this.#byMessage) this.#place(message, item)
    if (flow.control.globalMax === undefined) return
    const inFlight = this.items.filter(({ message, isAdmitted }) => isAdmitted || message!.running)
    this.plan = new PlanCopy(flow.control.globalMax, inFlight)
    const cause: Cause = { kind: 'answer', of: inFlight, first: true }
    for (const message of flow.control.heldByPlan.all()) this.loose.push({ item: this.#byMessage.get(message)!, cause })
  }

  get keys(): Iterable<KeyCopy> {
    return this.#keys.values()
  }

  get lanes(): Iterable<FifoQueueCopy> {
    return this.#lanes.values()
  }

  of(message: Message): ForecastMessage | undefined {
    return this.#byMessage.get(message)
  }

  keyOf({ flowControl }: PublishSettings): KeyCopy | undefined {
    return flowControl === undefined ? undefined : this.#key(flowControl.key)
  }

  fifoQueueOf({ queue }: PublishSettings): FifoQueueCopy | undefined {
    return queue === undefined ? undefined : this.#lane(queue)
  }

  #copy(message: Message): void {
    const { settings, notBefore, delivery } = message
    const item = new ForecastMessage(message, settings, notBefore, delivery)
    this.items.push(item)
    this.#byMessage.set(message, item)
    item.openCallbacks = message.openCallbacks
    item.unmadeReports = message.openCallbacks
  }

  #place(message: Message, item: ForecastMessage): void {
    item.key = this.keyOf(message.settings)
    // Do not use `settings.queue`: a message that has left its queue still has the queue's name there.
    item.lane = message.lane === undefined ? undefined : this.#lane(message.lane.name)
    item.source = message.source && this.#byMessage.get(message.source)
    if (message.isEnded) return
    item.source?.reports.push(item)
    if (message.running) this.running.push(item)
    else if (isSubmission(message)) this.loose.push({ item, cause: this.#submitters(message) })
    else if (message.timer !== undefined) this.timers.set(item, message.timer as typeof message.timer & HeapItem)
  }

  /**
   * Returns what a message with a submitted step waits for: the responses to the deliveries of its workflow run that
   * are in flight.
   */
  #submitters({ part }: Message): Cause {
    const of = this.items.filter(({ message }) => message?.running === true && message.part?.runId === part?.runId)
    return { kind: 'answer', of, first: true }
  }

  #lane(name: string): FifoQueueCopy {
    const known = this.#lanes.get(name)
    if (known !== undefined) return known
    const copy = new FifoQueueCopy(name, this.now)
    this.#lanes.set(name, copy)
    this.#queue.lanes.get(name)?.copy((message) => this.#byMessage.get(message), copy)
    return copy
  }

  #key(name: string): KeyCopy {
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    const copy = new KeyCopy(name)
    this.#keys.set(name, copy)
    const { flow } = this.#queue
    const key = flow.keys.get(name)
    if (key === undefined) return copy
    key.copy((message) => this.#byMessage.get(message), copy)
    const timer = flow.wakeOf(key)
    copy.begin(timer as (typeof timer & HeapItem) | undefined)
    return copy
  }
}

/**
 * Returns the flow-control keys and FIFO queues of a message and its callbacks as text: `key user-1`, `queue orders`.
 */
function resourcesOf(settings: PublishSettings): string[] {
  const { queue, flowControl, callback, failureCallback } = settings
  const found = queue === undefined ? [] : [`queue ${queue}`]
  if (flowControl !== undefined) found.push(`key ${flowControl.key}`)
  for (const report of [callback, failureCallback])
    if (report !== undefined) found.push(...resourcesOf(report.settings))
  return found
}

interface Meeting {
  readonly messages: Iterable<Message>
  readonly schedules: readonly Schedule[]
}

/** Returns all messages that are pending or hold a slot. */
function everything({ courier, flow, lanes, schedules }: QueueEngine): Meeting {
  const messages = new Set<Message>(courier.live.select({}).items)
  for (const { running } of flow.keys.values()) for (const message of running) messages.add(message)
  const ended = new Set<Message>()
  for (const { holding } of lanes.list()) {
    for (const message of holding) {
      messages.add(message)
      if (message.isEnded) ended.add(message)
    }
  }
  // Add the callbacks of ended messages that still hold a slot: the slot is freed when these callbacks end. Canceled
  // callbacks are added, too.
  if (ended.size > 0)
    for (const message of courier.byId.values())
      if (!message.isEnded && message.source !== undefined && ended.has(message.source)) messages.add(message)
  return { messages, schedules: schedules.list() }
}

/** Whether no other message can affect the message: it waits only for its own timer or response. */
function isAlone({ lane, settings, delivery: { is } }: Message): boolean {
  return (is === 'running' || is === 'planned') && lane === undefined && !settings.flowControl
}

function isSubmission({ delivery }: Message): boolean {
  return delivery.is === 'waiting' && delivery.waitsFor === 'answer'
}

/**
 * Returns all messages and schedules that can affect the requested messages. Each of them shares a key or FIFO queue
 * with a requested message, directly or through other messages.
 */
function whatMeets(queue: QueueEngine, asked: readonly Message[]): Meeting {
  if (asked.every(isAlone)) return { messages: asked, schedules: [] }
  const all = everything(queue)
  const byResource = new Map<string, (Message | Schedule)[]>()
  const resources = new Map<Message | Schedule, readonly string[]>()
  const enter = (thing: Message | Schedule, names: readonly string[]): void => {
    resources.set(thing, names)
    for (const name of names) {
      const others = byResource.get(name)
      if (others === undefined) byResource.set(name, [thing])
      else others.push(thing)
    }
  }
  for (const message of all.messages) {
    const { settings, source } = message
    const held = source?.isEnded === true ? resourcesOf(source.settings) : []
    enter(message, [...resourcesOf(settings), ...held])
  }
  for (const schedule of all.schedules)
    enter(
      schedule,
      queue.publisher.planned(schedule).flatMap((settings) => resourcesOf(settings)),
    )
  const [messages, schedules] = [new Set<Message>(), new Set<Schedule>()]
  const seen = new Set<string>()
  const reach: (Message | Schedule)[] = [...asked]
  for (let thing = reach.pop(); thing !== undefined; thing = reach.pop()) {
    if ('cron' in thing) schedules.add(thing)
    else messages.add(thing)
    for (const name of resources.get(thing) ?? []) {
      if (seen.has(name)) continue
      seen.add(name)
      for (const other of byResource.get(name) ?? []) reach.push(other)
    }
  }
  return { messages: [...all.messages].filter((message) => messages.has(message)), schedules: [...schedules] }
}

function scheduleCopy({ publisher }: QueueEngine, schedule: Schedule): ScheduleCopy {
  const { id, paused, cron, timer } = schedule
  return {
    id,
    isPaused: paused,
    next: timer as (typeof timer & HeapItem) | undefined,
    slotAfter: (at) => cron.next(at),
    publishes: publisher.planned(schedule),
  }
}
