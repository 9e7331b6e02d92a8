// Delivery states of messages. These functions have no side effects: they read no clock, write no log, draw no random
// numbers and call no callbacks. The delivery scheduler and forecasts share them.

/** States of the message log. [queue.md 4.1] */
export type LoggedState =
  | 'CREATED'
  | 'ACTIVE'
  | 'ERROR'
  | 'RETRY'
  | 'DELIVERED'
  | 'FAILED'
  | 'CANCEL_REQUESTED'
  | 'CANCELLED'

/** Delay before the next attempt. The reason is text for timelines. */
export interface RetryWait {
  /** Duration in milliseconds. */
  readonly delay: number
  readonly reason: string
}

/**
 * Fields that all states have. States are classes, because a million messages may be pending at the same time. A field
 * that the constructor of a class does not set uses no memory.
 */
abstract class StateFacts {
  /** Delay before the next attempt, and its reason. */
  declare readonly wait?: RetryWait
  /**
   * Action that a request or a test demanded for this message. `attempt`: deliver the message now, before it is due.
   * `end`: cancel the message. Only planned, running and ended messages can have `end`.
   */
  declare readonly asked?: ManualRequest

  constructor(
    /**
     * Time at which the next attempt is due, in virtual milliseconds. For an ended message, time at which the last
     * attempt was due.
     */
    readonly due: number,
    /** Number of retries so far. This equals the number of the current or next attempt, counted from 0. */
    readonly retried: number,
    wait?: RetryWait | undefined,
    asked?: ManualRequest | undefined,
  ) {
    if (wait !== undefined) this.wait = wait
    if (asked !== undefined) this.asked = asked
  }
}

type ManualRequest = 'attempt' | 'end'

/**
 * State of a message whose timer will fire at the time `due`. The attempt is then due. If a cancel was requested, the
 * message ends at that time, without the attempt. [queue.md 4.2]
 */
export class Planned extends StateFacts {
  readonly is = 'planned'
  /**
   * Time at which flow control began to hold the message. Set only for a message that flow control has held and then
   * admitted. This message has its slots and is about to start.
   */
  declare readonly heldSince?: number

  constructor(
    due: number,
    retried: number,
    wait?: RetryWait | undefined,
    asked?: ManualRequest | undefined,
    heldSince?: number | undefined,
  ) {
    super(due, retried, wait, asked)
    if (heldSince !== undefined) this.heldSince = heldSince
  }
}

/**
 * State of a message that waits: for a slot of its FIFO queue, or for the response to the request that submitted the
 * message.
 */
export class Waiting extends StateFacts {
  readonly is = 'waiting'

  constructor(
    due: number,
    retried: number,
    wait: RetryWait | undefined,
    readonly waitsFor: 'turn' | 'answer',
  ) {
    super(due, retried, wait)
  }
}

/** State of a message whose attempt is in flight. If a cancel was requested, no further attempt follows. */
export class Running extends StateFacts {
  readonly is = 'running'
}

/** State of a due message that flow control holds until a slot is free or the next rate period begins. */
export class Held extends StateFacts {
  readonly is = 'held'

  constructor(
    { due, retried, wait, asked }: StateFacts,
    readonly since: number,
    /**
     * Limit that holds the message. `key`: a limit of its flow-control key. `plan`: the plan's limit for deliveries in
     * flight.
     */
    readonly by: 'key' | 'plan',
  ) {
    super(due, retried, wait, asked)
  }
}

/**
 * State of a message that became due while its FIFO queue was paused. The message keeps its slot until the queue is
 * resumed.
 */
export class Parked extends StateFacts {
  readonly is = 'parked'
}

export class Ended extends StateFacts {
  readonly is = 'ended'

  constructor(
    { due, retried, wait, asked }: StateFacts,
    /** How the message ended. `vanished`: a fault dropped the message. The message log has no entry about this. */
    readonly as: 'delivered' | 'failed' | 'cancelled' | 'vanished',
  ) {
    super(due, retried, wait, asked)
  }
}

export type MessageState = Planned | Waiting | Running | Held | Parked | Ended

/** What happens to a message after an attempt: it ends, or is retried. */
export type AttemptVerdict =
  | { readonly is: 'delivered' | 'failed' }
  /** The workflow run has ended, so the message gets no further attempt. */
  | { readonly is: 'dropped' }
  | { readonly is: 'retried'; readonly wait: RetryWait }

/** Events that change the state of a message. Times are virtual milliseconds. */
export type MessageEvent =
  | {
      readonly is: 'due'
      /** Whether the FIFO queue of the message is paused. */
      readonly isPaused: boolean
      /**
       * Downtime of the service: `now` is the current time, and `until` is the time at which the service is up again.
       */
      readonly downtime?: { readonly now: number; readonly until: number } | undefined
    }
  /**
   * The message no longer waits: it got a slot, the submitting request got its response, or the pause ended. `queue` is
   * the name of its FIFO queue.
   */
  | { readonly is: 'freed'; readonly now: number; readonly notBefore: number; readonly queue?: string }
  /** A fault moves its attempt to the time `to`. `before` is the reason why the message waited until now. */
  | {
      readonly is: 'moved'
      readonly now: number
      readonly to: number
      readonly before: RetryWait | undefined
      readonly because: string
    }
  /** A test or a client requests its attempt now. */
  | { readonly is: 'released'; readonly now: number }
  | { readonly is: 'held'; readonly now: number; readonly by: 'key' | 'plan' }
  | { readonly is: 'admitted'; readonly now: number }
  | { readonly is: 'begun' }
  | { readonly is: 'answered'; readonly now: number; readonly verdict: AttemptVerdict; readonly endsAtOnce: boolean }
  /**
   * A restart of the service cut its attempt off. The attempt is repeated when the service is up, at the time `until`.
   */
  | { readonly is: 'cut off'; readonly now: number; readonly until: number }
  /** The message was canceled. `endsAtOnce`: it ends immediately, and not when its next attempt would be due. */
  | { readonly is: 'cancelled'; readonly now: number; readonly notBefore: number; readonly endsAtOnce: boolean }
  | { readonly is: 'vanished' }

function cancelled({ due, retried, wait }: Pick<StateFacts, 'due' | 'retried' | 'wait'>): Ended {
  return new Ended(new Planned(due, retried, wait, 'end'), 'cancelled')
}

// Latest object of each kind of state. States are immutable, so messages with equal states can share one object. If
// many messages change at the same time, this saves memory and work of the garbage collector.
const latest = {
  planned: new Planned(0, 0),
  waiting: new Waiting(0, 0, undefined, 'turn'),
  running: new Running(0, 0),
  held: new Held(new Planned(0, 0), 0, 'key'),
  admitted: new Planned(0, 0, undefined, undefined, 0),
  delivered: new Ended(new Running(0, 0), 'delivered'),
}

function isSame(state: StateFacts, due: number, retried: number): boolean {
  return state.due === due && state.retried === retried
}

function planned(due: number, retried: number, wait?: RetryWait, asked?: ManualRequest): Planned {
  if (wait !== undefined || asked !== undefined) return new Planned(due, retried, wait, asked)
  if (!isSame(latest.planned, due, retried)) latest.planned = new Planned(due, retried)
  return latest.planned
}

function waiting(due: number, retried: number, wait: RetryWait | undefined, waitsFor: Waiting['waitsFor']): Waiting {
  if (wait !== undefined || waitsFor !== 'turn') return new Waiting(due, retried, wait, waitsFor)
  if (!isSame(latest.waiting, due, retried)) latest.waiting = new Waiting(due, retried, wait, waitsFor)
  return latest.waiting
}

function held(state: Planned, since: number, by: Held['by']): Held {
  const { due, retried, wait, asked } = state
  const known = latest.held
  if (isSame(known, due, retried) && known.since === since && known.by === by && !wait && !asked) return known
  const one = new Held(state, since, by)
  if (wait === undefined && asked === undefined) latest.held = one
  return one
}

function admitted({ retried, wait, asked, since }: Held, now: number): Planned {
  const known = latest.admitted
  if (isSame(known, now, retried) && known.heldSince === since && !wait && !asked) return known
  const one = new Planned(now, retried, wait, asked, since)
  if (wait === undefined && asked === undefined) latest.admitted = one
  return one
}

function running(due: number, retried: number): Running {
  if (!isSame(latest.running, due, retried)) latest.running = new Running(due, retried)
  return latest.running
}

function delivered(state: Running): Ended {
  if (state.asked !== undefined) return new Ended(state, 'delivered')
  if (!isSame(latest.delivered, state.due, state.retried)) latest.delivered = new Ended(state, 'delivered')
  return latest.delivered
}

/** Returns the state of a message that has just been accepted. */
export function accepted(notBefore: number, waitsFor: Waiting['waitsFor'] | undefined): MessageState {
  return waitsFor === undefined ? planned(notBefore, 0) : waiting(notBefore, 0, undefined, waitsFor)
}

/**
 * Returns the state after an event. If the event has no effect in this state, returns the same object. The calling code
 * can compare the two objects to see whether the state changed.
 */
export function next(state: MessageState, event: MessageEvent): MessageState {
  switch (state.is) {
    case 'planned':
      return afterPlanned(state, event)
    case 'waiting':
      return event.is === 'freed' ? turned(state, event) : leftEarly(state, event)
    case 'running':
      return afterRunning(state, event)
    case 'held':
      return afterHeld(state, event)
    case 'parked':
      return event.is === 'freed' ? resumed(state, event) : leftEarly(state, event)
    case 'ended':
      return state
  }
}

function afterPlanned(state: Planned, event: MessageEvent): MessageState {
  const { due, retried, wait, asked, heldSince } = state
  switch (event.is) {
    case 'due':
      return whenDue(state, event)
    case 'begun':
      return asked === 'end' ? state : running(due, retried)
    case 'held':
      return asked === 'end' || heldSince !== undefined ? state : held(state, event.now, event.by)
    case 'moved': {
      const later = waitedThen(event.before, event.to - event.now, event.because)
      return new Planned(event.to, retried, later, asked, heldSince)
    }
    case 'released':
      // An admitted message starts at this time even without the request, so the request changes nothing.
      return heldSince === undefined ? new Planned(event.now, retried, wait, asked ?? 'attempt') : state
    case 'cancelled':
      // Do not end an admitted message here. Its timer must fire first, because that frees its slots.
      if (event.endsAtOnce && heldSince === undefined) return cancelled(state)
      return new Planned(due, retried, wait, 'end', heldSince)
    case 'vanished':
      return new Ended(state, 'vanished')
    default:
      return state
  }
}

/**
 * Handles a message that is due.
 * @returns the unchanged state if an attempt may start; flow control may still hold the message
 */
function whenDue(state: Planned, { isPaused, downtime }: MessageEvent & { readonly is: 'due' }): MessageState {
  const { due, retried, wait, asked, heldSince } = state
  if (asked === 'end') return cancelled(state)
  if (isPaused) return new Parked(due, retried, wait, asked)
  if (downtime === undefined || downtime.until <= downtime.now) return state
  const { now, until } = downtime
  return new Planned(until, retried, waitedThen(wait, until - now, 'until the service was up again'), asked, heldSince)
}

/**
 * Plans the next attempt of a message that no longer waits. The message got a slot of its FIFO queue, or the request
 * that submitted the message got its response.
 */
function turned(state: Waiting, { now, notBefore, queue }: MessageEvent & { readonly is: 'freed' }): MessageState {
  const { retried, wait, asked } = state
  const late = now - notBefore
  const due = Math.max(now, notBefore)
  if (late <= 0) return planned(due, retried, wait, asked)
  const what =
    state.waitsFor === 'turn'
      ? `for its turn in queue ${queue}`
      : 'until the delivery that submitted it had its response'
  return planned(due, retried, { delay: late, reason: `${late / 1000} s ${what}` }, asked)
}

function resumed(state: Parked, { now, queue }: MessageEvent & { readonly is: 'freed' }): MessageState {
  const { due, retried, asked } = state
  const wait = waitedThen(state.wait, now - due, `${(now - due) / 1000} s until queue ${queue} was resumed`)
  return planned(now, retried, wait, asked)
}

/**
 * Handles the cancel of a waiting or parked message. The message ends at its due time, without waiting for a slot. If
 * that time has passed or `endsAtOnce` is set, the message ends immediately.
 */
function leftEarly(state: Waiting | Parked, event: MessageEvent): MessageState {
  if (event.is !== 'cancelled') return state
  const { notBefore, now, endsAtOnce } = event
  if (endsAtOnce || notBefore <= now) return cancelled(state)
  return new Planned(notBefore, state.retried, state.wait, 'end')
}

function afterRunning(state: Running, event: MessageEvent): MessageState {
  const { due, retried, asked } = state
  switch (event.is) {
    case 'answered':
      return whenAnswered(state, event)
    case 'cut off': {
      const delay = event.until - event.now
      const wait = { delay, reason: `${delay / 1000} s until the service was up again` }
      return asked === 'end' ? cancelled({ due, retried, wait }) : new Planned(event.until, retried, wait)
    }
    case 'cancelled':
      return new Running(due, retried, undefined, 'end')
    default:
      return state
  }
}

function whenAnswered(state: Running, event: MessageEvent & { readonly is: 'answered' }): MessageState {
  const { verdict, now, endsAtOnce } = event
  const { asked } = state
  if (verdict.is === 'dropped') return cancelled(state)
  if (verdict.is !== 'retried') return verdict.is === 'delivered' ? delivered(state) : new Ended(state, 'failed')
  const { wait } = verdict
  const retried = state.retried + 1
  if (asked === 'end' && endsAtOnce) return cancelled({ due: state.due, retried, wait })
  return new Planned(now + wait.delay, retried, wait, asked)
}

function afterHeld(state: Held, event: MessageEvent): MessageState {
  switch (event.is) {
    case 'held':
      return new Held(state, state.since, event.by)
    case 'admitted':
      return admitted(state, event.now)
    case 'cancelled':
      return cancelled(state)
    default:
      return state
  }
}

function waitedThen(before: RetryWait | undefined, delay: number, reason: string): RetryWait {
  return { delay, reason: before === undefined ? reason : `${before.reason}, then ${reason}` }
}

/** State of a message as a dump contains it. */
export interface DumpedState {
  readonly state: LoggedState
  readonly due: number
  readonly retried: number
  readonly wait?: RetryWait | undefined
  /**
   * Why the message has no log entries in the dump. `forgotten`: its log entries were deleted. `vanished`: a fault
   * dropped the message. Such a message is in the dump because a workflow run or a callback refers to it.
   */
  readonly kept?: 'forgotten' | 'vanished' | undefined
}

const endings: Partial<Record<LoggedState, Ended['as']>> = {
  DELIVERED: 'delivered',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

/**
 * Returns the state of a message from a dump. If its delivery was in flight, the message is due immediately, as after a
 * restart.
 * @param waitsFor what the message waits for if it has had no attempt: `turn` is a slot, `answer` is a response
 */
export function restored(past: DumpedState, now: number, waitsFor: Waiting['waitsFor'] | undefined): MessageState {
  const { state, retried, wait, kept } = past
  const as = endings[state] ?? (kept === undefined ? undefined : 'vanished')
  const asked = state === 'CANCEL_REQUESTED' ? 'end' : undefined
  const due = isUnderWay(state) ? now : past.due
  const planned = new Planned(due, retried, wait, asked)
  if (as !== undefined) return new Ended(planned, as)
  return asked !== undefined || waitsFor === undefined ? planned : new Waiting(due, retried, wait, waitsFor)
}

/** Whether an attempt is in flight, according to the latest state of the message in the message log. */
export function isUnderWay(state: LoggedState): boolean {
  return state === 'ACTIVE' || state === 'ERROR'
}

/** Fields of a message that decide whether it keeps its slot in a FIFO queue. */
interface Concluding<M> {
  readonly isEnded: boolean
  /** Number of callbacks that report this message and have not ended. */
  openCallbacks: number
  /** If the message is a callback: the message that it reports. */
  readonly source: M | undefined
}

/** Whether a message no longer needs its slot, because the message and all its callbacks have ended. [queue.md 6.1] */
export function isConcluded<M extends Concluding<M>>({ isEnded, openCallbacks }: M): boolean {
  return isEnded && openCallbacks === 0
}

/**
 * Handles the end of a message. If the message is a callback, subtracts 1 from the open callbacks of the message that
 * it reports.
 * @returns the reported message if it no longer needs its slot
 */
export function concludedWith<M extends Concluding<M>>({ source }: M): M | undefined {
  if (source === undefined) return undefined
  source.openCallbacks--
  return isConcluded(source) ? source : undefined
}
