import type { FaultSource } from '../../faults/fault.js'
import { Records } from '../../kernel/indexed-records.js'
import { IdSource } from '../../kernel/random.js'
import type { Task } from '../../kernel/time.js'
import type { TrafficLog } from '../../kernel/traffic-log.js'
import { shownUrl } from '../../secrets/urls.js'
import { failedOutcome } from '../destinations/raw-response.js'
import type { FifoQueue } from '../message/fifo-queue.js'
import {
  type Draft,
  type LogDetail,
  Message,
  type MessageCarrier,
  MessageLog,
  messageFields,
  messagesShare,
  type RawOutcome,
} from '../message/message.js'
import { Attempt, type DeliveryWriter, Published } from '../message/message-entries.js'
import {
  type AttemptVerdict,
  accepted,
  concludedWith,
  type DumpedState,
  isConcluded,
  isUnderWay,
  type LoggedState,
  type MessageEvent,
  next,
  restored,
} from '../message/state.js'
import { notingIn } from '../settings/settings-log.js'
import type { SigningKeys } from '../signing/signing.js'
import { callbackDraft, DeadLetters, truncated } from './callbacks-and-dead-letters.js'
import { DeliveryFaultRules, type Prevention } from './delivery-faults.js'
import { Admissions } from './flow-control.js'
import { InFlight, type InFlightOptions } from './in-flight.js'
import { failureText, firstDue, verdictOn } from './retry.js'

export interface DeliverySchedulerOptions extends Omit<InFlightOptions, 'outcomes' | 'keeps'> {
  readonly traffic: TrafficLog
  readonly keys: SigningKeys
  readonly writer: DeliveryWriter
  /** The queue of this name, which is made if there is none. */
  readonly fifoQueueOf: (name: string) => FifoQueue<Message>
  readonly faults?: FaultSource | undefined
}

/** A message of a dump. */
export interface RestoredMessage extends DumpedState {
  readonly id: string
  readonly createdAt: number
  readonly notBefore: number
}

/** A line of the log of a dump. */
export interface RestoredLogEntry extends LogDetail {
  readonly message: string
  readonly state: LoggedState
  readonly time: number
}

const notAwaited = { awaited: false } as const
const delivered: AttemptVerdict = { is: 'delivered' }
const begun: MessageEvent = { is: 'begun' }
const mayStart: MessageEvent = { is: 'due', isPaused: false }

/** What the log says of an attempt that a restart cut off. */
const restarted = 'the service restarted'

/** How long a message id is, `msg_` apart. [queue.md 12] */
const messageIdLength = 60

/** Carries messages from acceptance to their end. */
export class DeliveryScheduler {
  /** Every message that the log still knows. */
  readonly byId: Map<string, Message> = new Map()
  /** Messages that have neither ended nor been cancelled. */
  readonly live: Records<Message> = new Records(messageFields)
  readonly log: MessageLog
  readonly deadLetters: DeadLetters
  readonly flow: Admissions
  readonly #options: DeliverySchedulerOptions
  readonly #ids: IdSource
  readonly #labels = new Map<string, string>()
  readonly #faults: DeliveryFaultRules | undefined
  readonly #inFlight: InFlight
  readonly #carrier: MessageCarrier = { due: (message, task) => this.#due(message, task) }
  #sequence = 0
  #stopped = false
  #loaded = false

  constructor(options: DeliverySchedulerOptions) {
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
    this.#faults = options.faults && new DeliveryFaultRules(options.faults)
    const { traffic } = options
    this.log = new MessageLog(limits.logRetention, (message) => this.#forget(message), traffic.share(messagesShare))
    this.deadLetters = new DeadLetters(() => clock.now(), limits.dlqRetention, traffic.share(messagesShare))
    this.flow = new Admissions({
      clock,
      globalMax: policy.enforceQuotas ? limits.globalParallelism : undefined,
      start: (message) => this.#setTimer(message),
      note: notingIn(traffic),
      decide: ({ id: messageId, lastEntrySeq: trail }, decision, reason, flowControlKey) => {
        const which = flowControlKey === undefined ? {} : { flowControlKey }
        traffic.append({ type: 'flow-control', decision, messageId, ...which, reason }, trail)
      },
      draws: policy.flowControlOrder === 'shuffled' ? options.random.fork('wait list') : undefined,
    })
  }

  /** Accepts a message and has it delivered. */
  accept(draft: Draft): Message {
    const { clock, traffic, destinations, fifoQueueOf: laneOf } = this.#options
    const now = clock.now()
    const { settings, source } = draft
    const notBefore = firstDue(settings, now)
    const lane = settings.queue === undefined ? undefined : laneOf(settings.queue)
    const state = accepted(notBefore, lane !== undefined ? 'turn' : draft.held === true ? 'answer' : undefined)
    const message = new Message(this.#nextId(), ++this.#sequence, now, notBefore, draft, state, this.#carrier)
    const entry = new Published(message, false)
    traffic.adopt(entry, draft.origin.cause ?? 0)
    message.lastEntrySeq = entry.seq
    this.log.write(message, 'CREATED', now, notBefore > now ? { nextDeliveryTime: notBefore } : undefined)
    this.byId.set(message.id, message)
    this.live.add(message)
    destinations.recordPublisher(message.url)
    message.part?.accepted(message)
    this.flow.arrive(message)
    if (source !== undefined) source.openCallbacks++
    if (lane === undefined) {
      if (state.is === 'planned') this.#setTimer(message)
      return message
    }
    if (message.awaited && lane.hasUnawaited) {
      for (const before of lane.all()) this.#waitFor(before)
      lane.hasUnawaited = false
    }
    message.lane = lane
    lane.enter(message)
    this.advanceLane(lane)
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
    const waitsForTurn = settings.queue !== undefined && past.retried === 0
    const state = restored(past, now, draft.held === true ? 'answer' : waitsForTurn ? 'turn' : undefined)
    const message = new Message(past.id, ++this.#sequence, past.createdAt, past.notBefore, draft, state, this.#carrier)
    message.attempts = past.retried
    if (past.kept !== undefined) {
      message.state = past.state
      return message
    }
    if (logged) message.state = past.state
    else this.log.write(message, isUnderWay(past.state) ? waitingState(past) : past.state, now)
    this.byId.set(message.id, message)
    this.#loaded = true
    if (state.is === 'ended') return message
    if (source !== undefined) source.openCallbacks++
    if (state.asked !== 'end') this.live.add(message)
    const lane = settings.queue === undefined ? undefined : this.#options.fifoQueueOf(settings.queue)
    const isInLine = state.is === 'waiting' && state.waitsFor === 'turn'
    if (lane !== undefined && state.asked !== 'end' && (isInLine || state.is === 'planned')) {
      message.lane = lane
      if (isInLine) lane.enter(message)
      else lane.holding.add(message)
    }
    if (state.is === 'planned') this.#setTimer(message)
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
      if (isUnderWay(message.state)) this.log.write(message, waitingState(message), now)
    }
    const lanes = new Set<FifoQueue<Message>>()
    for (const message of this.byId.values()) {
      const lane = message.settings.queue === undefined ? undefined : this.#options.fifoQueueOf(message.settings.queue)
      if (lane === undefined) continue
      lanes.add(lane)
      // It has ended, but its callbacks have not: it keeps its slot.
      if (message.isEnded && message.openCallbacks > 0) {
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
  advanceLane(lane: FifoQueue<Message>): void {
    const now = this.#options.clock.now()
    for (const message of lane.unpark()) this.#free(message, now, lane.name)
    for (let message = lane.admit(); message !== undefined; message = lane.admit()) this.#free(message, now, lane.name)
  }

  /** What a message waited for has come. */
  #free(message: Message, now: number, queue: string): void {
    if (this.#happens(message, { is: 'freed', now, notBefore: message.notBefore, queue })) this.#setTimer(message)
  }

  /** @returns whether that changed anything */
  #happens(message: Message, event: MessageEvent): boolean {
    const before = message.delivery
    message.delivery = next(before, event)
    return message.delivery !== before
  }

  /** Requests the end of a message; `false` when it has ended or was cancelled before. [queue.md 4.2] */
  cancel(message: Message): boolean {
    if (!message.visible) return false
    this.live.delete(message)
    this.log.write(message, 'CANCEL_REQUESTED', this.#options.clock.now())
    this.#note(message, 'CANCEL_REQUESTED')
    this.#endEarly(message, this.#options.policy.cancelTiming === 'immediate')
    return true
  }

  /** Ends a message of a run that is over; one that is being delivered ends with its attempt. */
  drop(message: Message): void {
    if (message.isEnded) return
    this.live.delete(message)
    this.#endEarly(message, true)
  }

  #endEarly(message: Message, endsAtOnce: boolean): void {
    const { delivery, notBefore } = message
    this.flow.leave(message)
    const now = this.#options.clock.now()
    this.#happens(message, { is: 'cancelled', now, notBefore, endsAtOnce })
    if (message.isEnded) {
      message.timer?.cancel()
      this.#cancelled(message)
    } else if (message.delivery.is === 'planned' && delivery.is !== 'planned') this.#setTimer(message)
  }

  /** Delivers a waiting message now; the plan of its retries stays as it is. [queue.md 1.5] */
  release(message: Message): void {
    if (!this.#happens(message, { is: 'released', now: this.#options.clock.now() })) return
    message.timer?.cancel()
    this.#note(message, 'DELIVER_REQUESTED', 'delivered now on request')
    this.#setTimer(message)
  }

  /** The call that submitted a message has answered: its delivery is planned. */
  letGo(message: Message): void {
    const { delivery } = message
    if (delivery.is !== 'waiting' || delivery.waitsFor !== 'answer') return
    this.#free(message, this.#options.clock.now(), '')
  }

  /** Of a message that is planned now. */
  #setTimer(message: Message): void {
    if (this.#stopped) return
    const options = message.awaited ? undefined : notAwaited
    message.timer = this.#options.clock.schedule(message.nextAttemptAt, this.#label(message.url), message, options)
  }

  /** A message that a drain waits for is behind this one: this one counts, too. */
  #waitFor(message: Message): void {
    if (message.awaited) return
    message.awaited = true
    if (message.timer === undefined) return
    message.timer.cancel()
    this.#setTimer(message)
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

  /** The timer of a message fired. */
  #due(message: Message, task: Task): Promise<void> | void {
    const { lane, delivery } = message
    message.timer = undefined
    // One that is admitted has its slots until it starts or its attempt is given up.
    const isAdmitted = delivery.is === 'planned' && delivery.heldSince !== undefined
    const faults = this.#faults?.source.isInactive === false ? this.#faults : undefined
    const until = faults?.source.downUntil?.queue
    const now = this.#options.clock.now()
    const downtime = until === undefined ? undefined : { now, until }
    const isPaused = lane?.paused === true
    if (this.#happens(message, isPaused || downtime ? { is: 'due', isPaused, downtime } : mayStart)) {
      this.#putOff(message, isAdmitted)
      return
    }
    const prevention = faults?.prevent(message, now)
    if (prevention !== undefined) {
      this.#prevented(prevention, now)
      return
    }
    if (isAdmitted || this.flow.ask(message)) return this.#attempt(message, task)
    this.#note(message, 'WAITING', waitingReason(message))
  }

  /** It is due, and does not start: it has ended, is parked, or waits until the service is up. */
  #putOff(message: Message, isAdmitted: boolean): void {
    const { lane, delivery } = message
    if (delivery.is === 'planned') {
      this.#setTimer(message)
      return
    }
    if (isAdmitted) this.flow.release(message)
    if (delivery.is === 'ended') {
      this.#cancelled(message)
      return
    }
    lane!.parked.push(message)
    this.#note(message, 'WAITING', `queue ${lane!.name} is paused`)
  }

  #attempt(message: Message, task: Task): Promise<void> | void {
    const { traffic, keys, writer, clock } = this.#options
    this.log.write(message, 'ACTIVE', clock.now())
    const attempt = new Attempt(message, keys.current, writer)
    this.#happens(message, begun)
    traffic.adopt(attempt, message.lastEntrySeq)
    message.lastEntrySeq = attempt.seq
    message.part?.begins(message)
    const { injections: strikes } = message
    if (strikes === undefined) return this.#inFlight.begin(attempt, task)
    // The next attempt asks again, whether or not this one is struck.
    message.injections = undefined
    if (strikes.length === 0) return this.#inFlight.begin(attempt, task)
    return this.#inFlight.begin(attempt, task, this.#faults!.begin(attempt, strikes))
  }

  /** Messages that a fault holds until another delivery has gone. */
  heldBack(): readonly Message[] {
    return this.#faults?.heldBack.map(({ message }) => message) ?? []
  }

  /** The service restarts: what is in flight is cut off and made again once it is up, and no retry is counted. */
  restart(until: number): void {
    this.#faults?.source.markDown('queue', until)
    this.#inFlight.restart(until)
  }

  #makeAgain(attempt: Attempt, until: number): void {
    if (this.#stopped) return
    const { traffic, clock } = this.#options
    const { message, note } = attempt
    const now = clock.now()
    this.#happens(message, { is: 'cut off', now, until })
    const reply = { ...failedOutcome(restarted), ...(note !== undefined && { note }) }
    attempt.end(now, reply, 'RETRY', message.delivery.wait, restarted)
    traffic.complete(attempt)
    this.flow.release(message)
    if (message.isEnded) this.#cancelled(message)
    else this.#setTimer(message)
  }

  /** A fault made a message vanish, or due at another time. A slot that it has is kept then. */
  #prevented(prevention: Prevention, now: number): void {
    const { message } = prevention
    if (prevention.is === 'vanished') {
      this.#vanish(message)
      return
    }
    const { to, before, because } = prevention
    message.timer?.cancel()
    this.#happens(message, { is: 'moved', now, to, before, because })
    this.#setTimer(message)
  }

  /** A fault made it vanish: the queue continues as if it had ended. */
  #vanish(message: Message): void {
    const { delivery } = message
    this.#happens(message, { is: 'vanished' })
    this.live.delete(message)
    if (delivery.is === 'planned' && delivery.heldSince !== undefined) this.flow.release(message)
    message.part?.left(message)
    this.#conclude(message)
  }

  /** The answer came after the attempt had been given up. */
  #late(attempt: Attempt, reply: RawOutcome): void {
    const { clock, traffic } = this.#options
    const after = (clock.now() - attempt.endedAt) / 1000
    const end = attempt.reply?.error === restarted ? 'the restart' : 'the time-out'
    attempt.note = `the handler answered ${reply.status === 0 ? reply.error : reply.status} ${after} s after ${end}`
    traffic.complete(attempt)
  }

  /** The destination answered, or time ran out. */
  #settle(attempt: Attempt, given: RawOutcome): void {
    if (this.#stopped) return
    const { clock, traffic, limits, policy } = this.#options
    const { message } = attempt
    const now = clock.now()
    const reply = truncated(given, limits.maxMessageSize)
    const wrong = message.part?.wrongWith(message, reply)
    const error = wrong ?? failureText(reply)
    const { status, headers } = reply
    const verdict =
      error === undefined
        ? delivered
        : verdictOn(
            { status, headers, error, isFinal: wrong !== undefined, isOver: message.part?.isOver === true },
            message.retried,
            message.settings,
            now,
            policy,
          )
    this.#happens(message, { is: 'answered', now, verdict, endsAtOnce: policy.cancelTiming === 'immediate' })
    const { delivery } = message
    this.#logVerdict(attempt, verdict, reply, error, now)
    traffic.complete(attempt, undefined, reply.body.length)
    this.#report(attempt, reply, error)
    this.flow.release(message)
    if (this.#faults !== undefined && this.#faults.heldBack.length > 0)
      for (const released of this.#faults.gone(attempt, now)) this.#prevented(released, now)
    message.part?.ends(message, reply, error)
    // What follows from the answer may have ended it.
    if (message.delivery !== delivery) return
    if (delivery.is === 'planned') this.#setTimer(message)
    if (delivery.is !== 'ended') return
    if (delivery.as === 'cancelled') this.#cancelled(message)
    else this.#conclude(message)
  }

  #logVerdict(
    attempt: Attempt,
    verdict: AttemptVerdict,
    reply: RawOutcome,
    error: string | undefined,
    now: number,
  ): void {
    const { message } = attempt
    if (error !== undefined) this.log.write(message, 'ERROR', now, { error, response: reply })
    if (verdict.is === 'retried') {
      const { wait } = verdict
      attempt.end(now, reply, message.cancelRequested ? 'CANCELLED' : 'RETRY', wait, error)
      if (!message.cancelRequested) this.log.write(message, 'RETRY', now, { nextDeliveryTime: now + wait.delay })
      return
    }
    this.live.delete(message)
    if (verdict.is === 'dropped') {
      attempt.end(now, reply, 'CANCELLED', undefined, error)
      return
    }
    const state = verdict.is === 'delivered' ? 'DELIVERED' : 'FAILED'
    this.log.write(message, state, now, error === undefined ? undefined : { error })
    attempt.end(now, reply, state, undefined, error)
  }

  /** Callbacks after every attempt, the failure callback after the last; none for a cancelled message. */
  #report(attempt: Attempt, reply: RawOutcome, error: string | undefined): void {
    const { policy, traffic } = this.#options
    const { message } = attempt
    const { callback, failureCallback } = message.settings
    if (callback === undefined && message.state !== 'FAILED') return
    const reported = { message, retried: attempt.retried, reply, cause: attempt.seq }
    const { part } = message
    const isDue = part?.isCall !== true || policy.workflowCallCallbacks === 'every' || message.isEnded
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
    let one: Message | undefined = isConcluded(message) ? message : undefined
    for (; one !== undefined; one = concludedWith(one)) {
      const { lane } = one
      if (lane?.release(one)) this.advanceLane(lane)
    }
  }

  #note(
    message: Message,
    state: 'CANCEL_REQUESTED' | 'CANCELLED' | 'WAITING' | 'DELIVER_REQUESTED',
    reason?: string,
  ): void {
    const entry = this.#options.traffic.append(
      { type: 'message', messageId: message.id, state, ...(reason !== undefined && { reason }) },
      message.lastEntrySeq,
    )
    message.lastEntrySeq = entry.seq
  }

  #forget(message: Message): void {
    if (message.isEnded) this.byId.delete(message.id)
  }
}

/** The state after a restart of a message that was being delivered. */
function waitingState({ retried }: { readonly retried: number }): LoggedState {
  return retried === 0 ? 'CREATED' : 'RETRY'
}

function waitingReason(message: Message): string {
  const key = message.settings.flowControl?.key
  return key === undefined ? 'all parallel calls of the plan are taken' : `in the wait list of flow-control key ${key}`
}
