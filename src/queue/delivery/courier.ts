import type { FaultSource } from '../../faults/fault.js'
import { type HeaderList, headerOf } from '../../kernel/http.js'
import { IdSource } from '../../kernel/random.js'
import { Records } from '../../kernel/records.js'
import type { Task } from '../../kernel/time.js'
import type { Traffic } from '../../kernel/traffic.js'
import { shownUrl } from '../../secrets/urls.js'
import { Attempt, type DeliveryWriter } from '../destinations/attempt.js'
import { broken, failureText, type WireReply } from '../destinations/wire.js'
import type { Lane } from '../message/lane.js'
import { type LogDetail, MessageLog, messageFields, messagesShare } from '../message/log.js'
import { type Carrier, type Draft, Message, type MessageState, type RetryWait } from '../message/message.js'
import { Published } from '../publish/published.js'
import { notingIn } from '../settings/settings-log.js'
import type { SigningKeys } from '../signing/signing.js'
import { callbackDraft, truncated } from './callback.js'
import { DeadLetters } from './dead-letters.js'
import { FlowControl } from './flow-control.js'
import { InFlight, type InFlightOptions } from './in-flight.js'
import { retryWait } from './retry.js'
import { DeliveryFaults } from './struck-deliveries.js'

export interface CourierOptions extends Omit<InFlightOptions, 'outcomes' | 'keeps'> {
  readonly traffic: Traffic
  readonly keys: SigningKeys
  readonly writer: DeliveryWriter
  /** Name of the header that forbids retries, lower case. */
  readonly laneOf: (name: string) => Lane
  readonly faults?: FaultSource | undefined
}

/** Where a message stood when it was dumped. */
export interface RestoredMessage {
  readonly id: string
  readonly state: MessageState
  readonly createdAt: number
  readonly notBefore: number
  readonly due: number
  readonly retried: number
  readonly wait?: RetryWait | undefined
  /** The log does not know it: it is there for its run, or for a report on it. */
  readonly kept?: 'forgotten' | 'vanished' | undefined
}

/** A line of the log of a dump. */
export interface RestoredLogEntry extends LogDetail {
  readonly message: string
  readonly state: MessageState
  readonly time: number
}

const notAwaited = { awaited: false } as const

/** What the log says of an attempt that a restart cut off. */
const restarted = 'the service restarted'

/** How long a message id is, `msg_` apart. [queue.md 12] */
const messageIdLength = 60

/** Carries messages from acceptance to their end. */
export class Courier {
  /** Every message that the log still knows. */
  readonly byId: Map<string, Message> = new Map()
  /** Messages that have neither ended nor been cancelled. */
  readonly live: Records<Message> = new Records(messageFields)
  readonly log: MessageLog
  readonly deadLetters: DeadLetters
  readonly flow: FlowControl
  readonly #options: CourierOptions
  readonly #ids: IdSource
  readonly #labels = new Map<string, string>()
  readonly #faults: DeliveryFaults | undefined
  readonly #inFlight: InFlight
  readonly #carrier: Carrier = { due: (message, task) => this.#due(message, task) }
  #sequence = 0
  #stopped = false
  #loaded = false

  constructor(options: CourierOptions) {
    const { clock, policy, limits } = options
    this.#options = options
    this.#ids = new IdSource(options.random.fork('message'), 'msg_', messageIdLength)
    this.#inFlight = new InFlight({
      ...options,
      keeps: options.faults !== undefined,
      outcomes: {
        settle: (attempt, reply) => this.#settle(attempt, reply),
        late: (attempt, reply) => this.#late(attempt, reply),
        makeAgain: (attempt, until) => this.#makeAgain(attempt, until),
        restart: (until) => this.restart(until),
      },
    })
    this.#faults =
      options.faults &&
      new DeliveryFaults(options.faults, {
        now: () => clock.now(),
        hold: (message, until, reason) => this.#hold(message, until, reason),
        vanish: (message) => this.#vanish(message),
      })
    const { traffic } = options
    this.log = new MessageLog(limits.logRetention, (message) => this.#forget(message), traffic.share(messagesShare))
    this.deadLetters = new DeadLetters(() => clock.now(), limits.dlqRetention, traffic.share(messagesShare))
    this.flow = new FlowControl(
      clock,
      policy.enforceQuotas ? limits.globalParallelism : undefined,
      (message) => this.#admit(message),
      notingIn(options.traffic),
      ({ id: messageId, trail }, decision, reason, flowControlKey) => {
        const which = flowControlKey === undefined ? {} : { flowControlKey }
        options.traffic.append({ type: 'flow-control', decision, messageId, ...which, reason }, trail)
      },
      policy.waitList === 'shuffled' ? options.random.fork('wait list') : undefined,
    )
  }

  /** Accepts a message and has it delivered. */
  accept(draft: Draft): Message {
    const { clock, traffic, destinations, laneOf } = this.#options
    const now = clock.now()
    const { settings, source } = draft
    const notBefore = Math.max(now, settings.notBefore ?? now + settings.delay)
    const message = new Message(this.#nextId(), ++this.#sequence, now, notBefore, draft, this.#carrier)
    const entry = new Published(message, false)
    traffic.adopt(entry, draft.origin.cause ?? 0)
    message.trail = entry.seq
    this.log.write(message, 'CREATED', now, notBefore > now ? { nextDeliveryTime: notBefore } : undefined)
    this.byId.set(message.id, message)
    this.live.add(message)
    destinations.noticePublisher(message.url)
    message.part?.accepted(message)
    this.flow.arrive(message)
    if (source !== undefined) source.openCallbacks++
    if (settings.queue === undefined) {
      if (message.held !== true) this.#plan(message, notBefore)
    } else {
      const lane = laneOf(settings.queue)
      if (message.awaited && lane.hasUnawaited) {
        for (const before of lane.all()) this.#waitFor(before)
        lane.hasUnawaited = false
      }
      lane.enter(message)
      this.advanceLane(lane)
    }
    return message
  }

  /** One that no loaded message has. */
  #nextId(): string {
    let id = this.#ids.next()
    while (this.#loaded && this.byId.has(id)) id = this.#ids.next()
    return id
  }

  /**
   * Restores a message of a dump, oldest first and callbacks after what they report on. Nothing is added to the traffic log,
   * because nothing happened.
   * @param logged whether `restored` will bring its past; else its log begins with what is known of it now
   */
  restore(draft: Draft, past: RestoredMessage, logged: boolean): Message {
    const { settings, source } = draft
    const now = this.#options.clock.now()
    const message = new Message(past.id, ++this.#sequence, past.createdAt, past.notBefore, draft, this.#carrier)
    const wasRunning = isRunning(past)
    message.retried = past.retried
    message.attempts = past.retried
    message.due = wasRunning ? now : past.due
    message.wait = past.wait
    message.cancelRequested = past.state === 'CANCEL_REQUESTED'
    if (past.kept !== undefined) {
      message.state = past.state
      if (!message.ended) message.vanished = true
      return message
    }
    if (logged) message.state = past.state
    else this.log.write(message, wasRunning ? waitingState(past) : past.state, now)
    this.byId.set(message.id, message)
    this.#loaded = true
    if (message.ended) return message
    if (source !== undefined) source.openCallbacks++
    if (!message.cancelRequested) this.live.add(message)
    const lane = settings.queue === undefined ? undefined : this.#options.laneOf(settings.queue)
    if (message.held === true && !message.cancelRequested) return message
    if (lane === undefined || message.cancelRequested) this.#plan(message, message.due)
    else if (past.retried === 0) lane.enter(message)
    else {
      message.lane = lane
      lane.holding.add(message)
      this.#plan(message, message.due)
    }
    return message
  }

  /** All messages of a dump are back: the log gets their past, oldest first, and the queues continue. */
  restored(log: readonly RestoredLogEntry[]): void {
    for (const { message: id, state, time, ...detail } of log) {
      const message = this.byId.get(id)
      if (message === undefined) continue
      const { state: now } = message
      this.log.write(message, state, time, detail)
      message.state = now
    }
    const now = this.#options.clock.now()
    for (const message of this.byId.values()) {
      // Its call ended together with the world that made it.
      if (isRunning(message)) this.log.write(message, waitingState(message), now)
    }
    const lanes = new Set<Lane>()
    for (const message of this.byId.values()) {
      const lane = message.settings.queue === undefined ? undefined : this.#options.laneOf(message.settings.queue)
      if (lane === undefined) continue
      lanes.add(lane)
      // It has ended, but its callbacks have not: it keeps its slot.
      if (message.ended && message.openCallbacks > 0) {
        message.lane = lane
        lane.holding.add(message)
      }
    }
    for (const lane of lanes) this.advanceLane(lane)
  }

  /** Forgets everything: nothing is delivered any more, attempts that run end without consequence. */
  stop(): void {
    this.#stopped = true
    for (const message of this.byId.values()) message.timer?.cancel()
    this.flow.stop()
  }

  /** Lets as many waiting messages of a queue begin as there are slots. */
  advanceLane(lane: Lane): void {
    const now = this.#options.clock.now()
    for (const message of lane.unpark()) {
      const delay = now - message.due
      const before = message.wait === undefined ? '' : `${message.wait.reason}, then `
      message.wait = { delay, reason: `${before}${delay / 1000} s until queue ${lane.name} was resumed` }
      this.#plan(message, now)
    }
    for (let message = lane.admit(); message !== undefined; message = lane.admit()) {
      if (now > message.notBefore) {
        const delay = now - message.notBefore
        message.wait = { delay, reason: `${delay / 1000} s for its turn in queue ${lane.name}` }
      }
      this.#plan(message, Math.max(now, message.notBefore))
    }
  }

  /** Requests the end of a message; `false` when it has ended or was cancelled before. [queue.md 4.2] */
  cancel(message: Message): boolean {
    if (!message.visible) return false
    const { clock, policy } = this.#options
    const now = clock.now()
    this.live.delete(message)
    message.cancelRequested = true
    this.log.write(message, 'CANCEL_REQUESTED', now)
    this.#note(message, 'CANCEL_REQUESTED')
    if (message.running || message.admitted) return true
    if (message.ticket?.live === true) {
      this.flow.leave(message)
      this.#cancelled(message)
    } else if (policy.cancelledAt === 'now') {
      message.timer?.cancel()
      this.#cancelled(message)
    } else if (message.timer === undefined) {
      // It is in a queue: its turn no longer matters, its time does.
      if (message.notBefore <= now) this.#cancelled(message)
      else this.#plan(message, message.notBefore)
    }
    return true
  }

  /** Ends a message of a run that is over; one that is being delivered ends with its attempt. */
  drop(message: Message): void {
    if (message.ended) return
    this.live.delete(message)
    message.cancelRequested = true
    if (message.running || message.admitted) return
    if (message.ticket?.live === true) this.flow.leave(message)
    message.timer?.cancel()
    this.#cancelled(message)
  }

  /** Delivers a waiting message now; the plan of its retries stays as it is. [queue.md 1.5] */
  release(message: Message): void {
    if (message.timer === undefined || message.admitted) return
    message.timer.cancel()
    message.releasedByHand = true
    this.#note(message, 'RELEASED', 'delivered now on request')
    this.#plan(message, this.#options.clock.now())
  }

  /** The call that submitted a message has answered: its delivery is planned. */
  letGo(message: Message): void {
    if (message.held !== true) return
    message.held = false
    if (message.ended || message.timer !== undefined) return
    const now = this.#options.clock.now()
    if (message.notBefore < now) {
      const delay = now - message.notBefore
      message.wait = { delay, reason: `${delay / 1000} s until the call that submitted it had answered` }
    }
    this.#plan(message, Math.max(now, message.notBefore))
  }

  #plan(message: Message, at: number): void {
    if (this.#stopped) return
    message.due = at
    const options = message.awaited ? undefined : notAwaited
    message.timer = this.#options.clock.schedule(at, this.#label(message.url), message, options)
  }

  /** A message that a drain waits for is behind this one: this one counts, too. */
  #waitFor(message: Message): void {
    if (message.awaited) return
    message.awaited = true
    if (message.timer === undefined) return
    message.timer.cancel()
    this.#plan(message, message.due)
  }

  #label(url: string): string {
    let label = this.#labels.get(url)
    if (label === undefined) {
      if (this.#labels.size > 1000) this.#labels.clear()
      label = `delivery to ${shownUrl(url)}`
      this.#labels.set(url, label)
    }
    return label
  }

  /** Flow control has a slot. Its own timer, so that a long wait list does not become a deep stack. */
  #admit(message: Message): void {
    message.admitted = true
    this.#plan(message, this.#options.clock.now())
  }

  /** The timer of a message fired. */
  #due(message: Message, task: Task): Promise<void> | void {
    message.timer = undefined
    if (message.cancelRequested) {
      if (message.admitted) this.flow.release(message)
      this.#cancelled(message)
      return
    }
    if (message.lane?.paused === true) {
      if (message.admitted) this.flow.release(message)
      message.admitted = false
      message.ticket = undefined
      message.lane.parked.push(message)
      this.#note(message, 'WAITING', `queue ${message.lane.name} is paused`)
      return
    }
    if (this.#faults !== undefined && !this.#faults.source.quiet && this.#faults.prevent(message)) return
    if (message.admitted || this.flow.ask(message)) return this.#attempt(message, task)
    this.#note(message, 'WAITING', waitingReason(message))
  }

  #attempt(message: Message, task: Task): Promise<void> | void {
    const { traffic, keys, writer, clock } = this.#options
    const now = clock.now()
    this.log.write(message, 'ACTIVE', now)
    message.running = true
    const attempt = new Attempt(message, keys.current, writer)
    message.admitted = false
    message.ticket = undefined
    message.wait = undefined
    message.releasedByHand = false
    traffic.adopt(attempt, message.trail)
    message.trail = attempt.seq
    message.part?.begins(message)
    const { strikes } = message
    if (strikes === undefined) return this.#inFlight.begin(attempt, task)
    // The next attempt asks again, whether or not this one is struck.
    message.strikes = undefined
    if (strikes.length === 0) return this.#inFlight.begin(attempt, task)
    return this.#inFlight.begin(attempt, task, this.#faults!.begin(attempt, strikes))
  }

  /** Messages that a fault holds until another delivery has gone. */
  heldBack(): readonly Message[] {
    return this.#faults?.heldBack.map(({ message }) => message) ?? []
  }

  /** The service restarts: what is in flight is cut off and made again once it is up, and no retry is counted. */
  restart(until: number): void {
    this.#faults?.source.takeDown('queue', until)
    this.#inFlight.restart(until)
  }

  #makeAgain(attempt: Attempt, until: number): void {
    if (this.#stopped) return
    const { traffic, clock } = this.#options
    const { message, note } = attempt
    const now = clock.now()
    message.running = false
    const wait = { delay: until - now, reason: `${(until - now) / 1000} s until the service was up again` }
    message.wait = wait
    const reply = { ...broken(restarted), ...(note !== undefined && { note }) }
    attempt.end(now, reply, 'RETRY', wait, restarted)
    traffic.complete(attempt)
    this.flow.release(message)
    if (message.cancelRequested) this.#cancelled(message)
    else this.#plan(message, until)
  }

  /** Makes a message due at another time. A slot that it has is kept. */
  #hold(message: Message, until: number, reason: string): void {
    message.timer?.cancel()
    const before = message.wait === undefined ? '' : `${message.wait.reason}, then `
    message.wait = { delay: until - this.#options.clock.now(), reason: before + reason }
    this.#plan(message, until)
  }

  /** A fault made it vanish: the queue continues as if it had ended. */
  #vanish(message: Message): void {
    message.vanished = true
    this.live.delete(message)
    if (message.admitted) this.flow.release(message)
    message.part?.left(message)
    this.#conclude(message)
  }

  /** The answer came after the attempt had been given up. */
  #late(attempt: Attempt, reply: WireReply): void {
    const { clock, traffic } = this.#options
    const after = (clock.now() - attempt.endedAt) / 1000
    const end = attempt.reply?.error === restarted ? 'the restart' : 'the time-out'
    attempt.note = `the handler answered ${reply.status === 0 ? reply.error : reply.status} ${after} s after ${end}`
    traffic.complete(attempt)
  }

  /** The destination answered, or time ran out. */
  #settle(attempt: Attempt, given: WireReply): void {
    if (this.#stopped) return
    const { clock, traffic, limits, policy } = this.#options
    const { message } = attempt
    const now = clock.now()
    const reply = truncated(given, limits.maxMessageSize)
    message.running = false
    const wrong = message.part?.wrongWith(message, reply)
    const error = wrong ?? failureText(reply)
    if (error === undefined) {
      this.live.delete(message)
      this.log.write(message, 'DELIVERED', now)
      attempt.end(now, reply, 'DELIVERED', undefined)
    } else this.#failed(attempt, reply, error, now, wrong !== undefined)
    traffic.complete(attempt, undefined, reply.body.length)
    this.#report(attempt, reply, error)
    this.flow.release(message)
    if (this.#faults !== undefined && this.#faults.heldBack.length > 0) this.#faults.gone(attempt)
    message.part?.ends(message, reply, error)
    if (message.ended) this.#conclude(message)
    else if (message.cancelRequested && (policy.cancelledAt === 'now' || attempt.next === undefined))
      this.#cancelled(message)
    else if (attempt.next !== undefined) this.#plan(message, now + attempt.next.delay)
  }

  #failed(attempt: Attempt, reply: WireReply, error: string, now: number, isFinal: boolean): void {
    const { policy } = this.#options
    const { message } = attempt
    const { status, headers } = reply
    this.log.write(message, 'ERROR', now, { error, response: reply })
    if (message.part?.isOver === true) {
      this.live.delete(message)
      message.cancelRequested = true
      attempt.end(now, reply, 'CANCELLED', undefined, error)
      return
    }
    const hopeless = isFinal || (status === 489 && forbidsRetries(headers, message))
    if (hopeless || message.retried >= message.maxRetries) {
      this.live.delete(message)
      this.log.write(message, 'FAILED', now, { error })
      attempt.end(now, reply, 'FAILED', undefined, error)
      return
    }
    const after = status === 0 ? error : String(status)
    const wait = retryWait(message.retried, message.settings.retryDelay, headers, now, policy, after)
    message.retried++
    message.wait = wait
    attempt.end(now, reply, message.cancelRequested ? 'CANCELLED' : 'RETRY', wait, error)
    if (!message.cancelRequested) this.log.write(message, 'RETRY', now, { nextDeliveryTime: now + wait.delay })
  }

  /** Callbacks after every attempt, the failure callback after the last; none for a cancelled message. */
  #report(attempt: Attempt, reply: WireReply, error: string | undefined): void {
    const { policy, traffic } = this.#options
    const { message } = attempt
    const { callback, failureCallback } = message.settings
    if (callback === undefined && message.state !== 'FAILED') return
    const reported = { message, retried: attempt.retried, reply, cause: attempt.seq }
    const { part } = message
    const isDue = part?.isCall !== true || policy.callReports === 'every' || message.ended
    if (callback !== undefined && isDue && !message.cancelRequested)
      this.accept(callbackDraft(reported, callback, policy))
    if (message.state !== 'FAILED') return
    if (part?.isCall === true) return
    const letter = this.deadLetters.add(message, reply)
    const { id: messageId, kind, url } = message
    traffic.append(
      { type: 'dead-letter', messageId, dlqId: letter.id, kind, url, status: reply.status, error: error! },
      attempt.seq,
    )
    part?.failed(message, reply, letter.id)
    if (failureCallback === undefined || message.cancelRequested) return
    this.accept(callbackDraft({ ...reported, dlqId: letter.id }, failureCallback, policy))
  }

  #cancelled(message: Message): void {
    this.log.write(message, 'CANCELLED', this.#options.clock.now())
    message.timer = undefined
    this.#note(message, 'CANCELLED')
    message.part?.left(message)
    this.#conclude(message)
  }

  /** A message has ended; once its callbacks have, too, its queue continues. */
  #conclude(message: Message): void {
    if (!message.ended || message.openCallbacks > 0) return
    const { lane, source } = message
    if (lane?.holding.delete(message)) this.advanceLane(lane)
    if (source !== undefined) {
      source.openCallbacks--
      this.#conclude(source)
    }
  }

  #note(message: Message, state: 'CANCEL_REQUESTED' | 'CANCELLED' | 'WAITING' | 'RELEASED', reason?: string): void {
    const entry = this.#options.traffic.append(
      { type: 'message', messageId: message.id, state, ...(reason !== undefined && { reason }) },
      message.trail,
    )
    message.trail = entry.seq
  }

  #forget(message: Message): void {
    if (message.ended) this.byId.delete(message.id)
  }
}

function isRunning({ state }: { readonly state: MessageState }): boolean {
  return state === 'ACTIVE' || state === 'ERROR'
}

/** The state after a restart of a message that was being delivered. */
function waitingState({ retried }: { readonly retried: number }): MessageState {
  return retried === 0 ? 'CREATED' : 'RETRY'
}

function waitingReason(message: Message): string {
  const key = message.settings.flowControl?.key
  return key === undefined ? 'all parallel calls of the plan are taken' : `in the wait list of flow-control key ${key}`
}

function forbidsRetries(headers: HeaderList, { settings }: Message): boolean {
  return settings.words.nonRetryable.some((name) => /^true$/i.test(headerOf(headers, name) ?? ''))
}
