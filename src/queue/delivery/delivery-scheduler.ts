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
  readonly fifoQueueOf: (name: string) => FifoQueue<Message>
  readonly faults?: FaultSource | undefined
}

/** Message that is restored from a dump. */
export interface RestoredMessage extends DumpedState {
  readonly id: string
  readonly createdAt: number
  readonly notBefore: number
}

/** Entry of the message log that is restored from a dump. */
export interface RestoredLogEntry extends LogDetail {
  readonly message: string
  readonly state: LoggedState
  readonly time: number
}

const notAwaited = { awaited: false } as const
const delivered: AttemptVerdict = { is: 'delivered' }
const begun: MessageEvent = { is: 'begun' }
const mayStart: MessageEvent = { is: 'due', isPaused: false }

/** Error text of an attempt that a restart of the service cut off. */
const restarted = 'the service restarted'

/** Length of a message ID after `msg_`. [queue.md 12] */
const messageIdLength = 60

/** Delivers messages, from the time when they are accepted: schedules attempts, handles responses, and retries. */
export class DeliveryScheduler {
  /** All messages to which the message log refers, by ID. */
  readonly byId: Map<string, Message> = new Map()
  /** Messages that have neither ended nor been canceled. */
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
    this.log.write(message, 'CREATED', now, notBefore > now ? 'not before' : undefined)
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

  /** Returns an ID that no loaded message has. */
  #nextId(): string {
    let id = this.#ids.next()
    while (this.#loaded && this.byId.has(id)) id = this.#ids.next()
    return id
  }

  /**
   * Restores a message from a dump without adding anything to the traffic log. Restore older messages first, and a
   * callback after the message that the callback reports.
   * @param logged `true` if the dump contains log entries about the message, which `restored()` adds later; if `false`,
   *   the message log begins with the current state of the message
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

  /**
   * Completes the restoration of a dump. Adds the log entries of the dump to the message log, oldest first, and starts
   * the messages of FIFO queues.
   */
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
      // An attempt that was in flight in the dump cannot continue. Its message waits again, as after a restart of the
      // service.
      if (isUnderWay(message.state)) this.log.write(message, waitingState(message), now)
    }
    const lanes = new Set<FifoQueue<Message>>()
    for (const message of this.byId.values()) {
      const lane = message.settings.queue === undefined ? undefined : this.#options.fifoQueueOf(message.settings.queue)
      if (lane === undefined) continue
      lanes.add(lane)
      // An ended message keeps its slot until its callbacks have ended.
      if (message.isEnded && message.openCallbacks > 0) {
        message.lane = lane
        lane.holding.add(message)
      }
    }
    for (const lane of lanes) this.advanceLane(lane)
  }

  /** Stops all deliveries. The results of attempts in flight are ignored. */
  stop(): void {
    this.#stopped = true
    for (const message of this.byId.values()) message.timer?.cancel()
    this.flow.stop()
  }

  /** Fills the free slots of a FIFO queue with its next waiting messages, which then start. */
  advanceLane(lane: FifoQueue<Message>): void {
    const now = this.#options.clock.now()
    for (const message of lane.unpark()) this.#free(message, now, lane.name)
    for (let message = lane.admit(); message !== undefined; message = lane.admit()) this.#free(message, now, lane.name)
  }

  /** Schedules the attempt of a message that waited: for a slot, for a response, or for the end of a pause. */
  #free(message: Message, now: number, queue: string): void {
    if (this.#happens(message, { is: 'freed', now, notBefore: message.notBefore, queue })) this.#setTimer(message)
  }

  /**
   * Applies an event to the state of a message.
   * @returns whether the state changed
   */
  #happens(message: Message, event: MessageEvent): boolean {
    const before = message.delivery
    message.delivery = next(before, event)
    return message.delivery !== before
  }

  /** Cancels a message. Returns `false` if it has already ended or been canceled. [queue.md 4.2] */
  cancel(message: Message): boolean {
    if (!message.visible) return false
    this.live.delete(message)
    this.log.write(message, 'CANCEL_REQUESTED', this.#options.clock.now())
    this.#note(message, 'CANCEL_REQUESTED')
    this.#endEarly(message, this.#options.policy.cancelTiming === 'immediate')
    return true
  }

  /**
   * Ends a message because its workflow run has ended. If an attempt of the message is in flight, the message ends
   * after this attempt.
   */
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

  /**
   * Delivers a waiting message now. The number of its retries and the delays of later retries stay unchanged. [queue.md
   * 1.5]
   * @returns `false` for a message that does not wait
   */
  release(message: Message): boolean {
    if (message.cancelRequested || !this.#happens(message, { is: 'released', now: this.#options.clock.now() }))
      return false
    message.timer?.cancel()
    this.#note(message, 'DELIVER_REQUESTED', 'its next attempt was requested for now')
    this.#setTimer(message)
    return true
  }

  /** Schedules the delivery of a message that was held until the request that published it got its response. */
  letGo(message: Message): void {
    const { delivery } = message
    if (delivery.is !== 'waiting' || delivery.waitsFor !== 'answer') return
    this.#free(message, this.#options.clock.now(), '')
  }

  #setTimer(message: Message): void {
    if (this.#stopped) return
    const options = message.awaited ? undefined : notAwaited
    message.timer = this.#options.clock.schedule(message.nextAttemptAt, this.#label(message.url), message, options)
  }

  /** Makes a drain wait for a message, because the drain waits for a later message of the same FIFO queue. */
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

  #due(message: Message, task: Task): Promise<void> | void {
    const { lane, delivery } = message
    message.timer = undefined
    // A message that flow control has admitted keeps its slots. They are freed after the attempt, or if the attempt
    // does not start.
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

  /**
   * Handles a due message whose attempt does not start, because the message was canceled, its queue is paused, or the
   * service is down.
   */
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
    // Remove the injected faults from the message, so that the fault rules are evaluated again before the next attempt.
    message.injections = undefined
    if (strikes.length === 0) return this.#inFlight.begin(attempt, task)
    return this.#inFlight.begin(attempt, task, this.#faults!.begin(attempt, strikes))
  }

  /** Messages that a fault holds until another delivery has ended. */
  heldBack(): readonly Message[] {
    return this.#faults?.heldBack.map(({ message }) => message) ?? []
  }

  /**
   * Restarts the service. A restart cuts off the attempts in flight. These attempts are repeated when the service is up
   * again, and the repetition does not count as a retry.
   */
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

  /** Applies a fault that drops a message or moves its attempt to another time. A moved message keeps its slot. */
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

  /** Drops a message because of a fault. Its FIFO queue continues with the next message. */
  #vanish(message: Message): void {
    const { delivery } = message
    this.#happens(message, { is: 'vanished' })
    this.live.delete(message)
    if (delivery.is === 'planned' && delivery.heldSince !== undefined) this.flow.release(message)
    message.part?.left(message)
    this.#conclude(message)
  }

  /** Handles a late response. The attempt has already ended by its timeout, or a restart has cut it off. */
  #late(attempt: Attempt, reply: RawOutcome): void {
    const { clock, traffic } = this.#options
    const after = (clock.now() - attempt.endedAt) / 1000
    const end = attempt.reply?.error === restarted ? 'the restart' : 'the timeout'
    attempt.note = `the handler responded ${reply.status === 0 ? reply.error : reply.status} ${after} s after ${end}`
    traffic.complete(attempt)
  }

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
    // Stop if the message has changed: handling the response may have ended the workflow run, and with it the message.
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

  /**
   * Publishes the callback of an attempt. If the message has failed, also publishes the failure callback. A canceled
   * message sends no callbacks.
   */
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

  /** Handles the end of a message. Its slot in the FIFO queue is freed if its callbacks have ended, too. */
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

/** Returns the state in the message log for a message whose attempt was cut off by a restart. */
function waitingState({ retried }: { readonly retried: number }): LoggedState {
  return retried === 0 ? 'CREATED' : 'RETRY'
}

function waitingReason(message: Message): string {
  const key = message.settings.flowControl?.key
  return key === undefined
    ? 'the deliveries in flight have reached the limit of the plan'
    : `in the wait list of flow-control key ${key}`
}
