import type { LoggedState, RetryWait } from './message.js'

// What a message waits for, as values: nothing here reads a clock, writes a log, draws or calls back. The courier and
// forecasts play the same functions.

/** What is known of a message in each state. */
interface Known {
  /** When its next attempt is due, or its last one was, in virtual milliseconds. */
  readonly due: number
  /** Retries made so far: the number of the running or the next attempt, counted from 0. */
  readonly retried: number
  /** Why its next attempt has to wait. */
  readonly wait: RetryWait | undefined
  /** Released by hand: its next attempt happens although it was not due. */
  readonly byHand: boolean
  /** A cancel was requested. Of the states before the end, only a planned and a running message can have one pending. */
  readonly cancelled: boolean
}

/**
 * A time moves it on: its attempt is due at `due`. If a cancel was requested, it ends then instead. [queue.md 4.2] A
 * timer of the courier stands for it.
 */
export interface Planned extends Known {
  readonly is: 'planned'
  /** Flow control, which held it since then, has admitted it: it has its slots, and its attempt is about to start. */
  readonly heldSince: number | undefined
}

/** Another message moves it on: a slot of its FIFO queue, or the answer of the call that submitted it. */
export interface Waiting extends Known {
  readonly is: 'waiting'
  readonly for: 'turn' | 'answer'
}

/** An attempt runs. If a cancel was requested, no further one follows. */
export interface Running extends Known {
  readonly is: 'running'
}

/** It is due, and flow control keeps it back: a free slot or the next rate period moves it on. */
export interface Held extends Known {
  readonly is: 'held'
  readonly since: number
  /** Its flow-control key, or the calls in flight that the plan allows. */
  readonly by: 'key' | 'plan'
}

/** It came due while its FIFO queue was paused, and keeps its slot of that queue: resuming the queue moves it on. */
export interface Parked extends Known {
  readonly is: 'parked'
}

/** Nothing moves it on. */
export interface Ended extends Known {
  readonly is: 'ended'
  /** `vanished`: by a fault; the log has no line of it. */
  readonly as: 'delivered' | 'failed' | 'cancelled' | 'vanished'
}

/** What moves a message on, and what it is known by then. */
export type MessageState = Planned | Waiting | Running | Held | Parked | Ended

/** What an attempt means for its message. */
export type Verdict =
  | { readonly is: 'delivered' | 'failed' }
  /** Its run is over: what remains of the message is dropped. */
  | { readonly is: 'dropped' }
  | { readonly is: 'retried'; readonly wait: RetryWait }

/** What can happen to a message. Times are virtual milliseconds. */
export type MessageEvent =
  /** Its time has come. */
  | {
      readonly is: 'due'
      readonly now: number
      /** Its FIFO queue is paused. */
      readonly isPaused: boolean
      /** The service is down until then. */
      readonly downUntil: number | undefined
    }
  /** What it waited for has come; `because` says what that was, as part of a sentence. */
  | { readonly is: 'freed'; readonly now: number; readonly notBefore: number; readonly because: string }
  /** A fault moves its attempt to another time. `before`: what it had waited for until then. */
  | {
      readonly is: 'moved'
      readonly now: number
      readonly to: number
      readonly before: RetryWait | undefined
      readonly because: string
    }
  /** A test or a client asks for its attempt now. */
  | { readonly is: 'released'; readonly now: number }
  | { readonly is: 'held'; readonly now: number; readonly by: 'key' | 'plan' }
  | { readonly is: 'admitted'; readonly now: number }
  | { readonly is: 'begun' }
  | { readonly is: 'answered'; readonly now: number; readonly verdict: Verdict; readonly endsAtOnce: boolean }
  /** A restart cut its attempt off, which is made again. */
  | { readonly is: 'cut off'; readonly now: number; readonly until: number }
  /** `endsAtOnce`: not only when its attempt would be due. */
  | { readonly is: 'cancelled'; readonly now: number; readonly notBefore: number; readonly endsAtOnce: boolean }
  | { readonly is: 'vanished' }

/** The state of a message that has just been accepted. */
export function accepted(notBefore: number, waitsFor: Waiting['for'] | undefined): MessageState {
  const known = { due: notBefore, retried: 0, wait: undefined, byHand: false, cancelled: false }
  return waitsFor === undefined
    ? { is: 'planned', ...known, heldSince: undefined }
    : { is: 'waiting', ...known, for: waitsFor }
}

/**
 * What becomes of a message. A state is left only by the events that are listed here for it; any other event gives the
 * same value back, which tells the caller that nothing was changed. A state is never changed itself, so that a copy of
 * it is the value.
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
  const { due, retried, wait, byHand, cancelled, heldSince } = state
  switch (event.is) {
    case 'due':
      return whenDue(state, event)
    case 'begun':
      return { is: 'running', due, retried, wait: undefined, byHand: false, cancelled: false }
    case 'held':
      return { is: 'held', due, retried, wait, byHand, cancelled, since: event.now, by: event.by }
    case 'moved':
      return { ...state, due: event.to, wait: waitedThen(event.before, event.to - event.now, event.because) }
    case 'released':
      // One that is admitted starts at this instant anyway.
      return heldSince === undefined ? { ...state, due: event.now, byHand: true } : state
    case 'cancelled':
      // One that is admitted gives its slots back when its timer fires.
      return event.endsAtOnce && heldSince === undefined
        ? ended(state, 'cancelled', true)
        : { ...state, cancelled: true }
    case 'vanished':
      return ended(state, 'vanished', state.cancelled)
    default:
      return state
  }
}

/** @returns the same state if an attempt may start, as far as flow control lets it */
function whenDue(state: Planned, { now, isPaused, downUntil }: MessageEvent & { readonly is: 'due' }): MessageState {
  const { due, retried, wait, byHand } = state
  if (state.cancelled) return ended(state, 'cancelled', true)
  if (isPaused) return { is: 'parked', due, retried, wait, byHand, cancelled: false }
  if (downUntil === undefined || downUntil <= now) return state
  return { ...state, due: downUntil, wait: waitedThen(wait, downUntil - now, 'until the service was up again') }
}

/** It has a slot of its queue, or may overtake nothing any more. */
function turned({ retried, wait, byHand }: Waiting, event: MessageEvent & { readonly is: 'freed' }): MessageState {
  const { now, notBefore, because } = event
  const late = now - notBefore
  return {
    is: 'planned',
    due: Math.max(now, notBefore),
    retried,
    wait: late > 0 ? { delay: late, reason: `${late / 1000} s ${because}` } : wait,
    byHand,
    cancelled: false,
    heldSince: undefined,
  }
}

function resumed(state: Parked, { now, because }: MessageEvent & { readonly is: 'freed' }): MessageState {
  const { due, retried, byHand } = state
  const wait = waitedThen(state.wait, now - due, `${(now - due) / 1000} s ${because}`)
  return { is: 'planned', due: now, retried, wait, byHand, cancelled: false, heldSince: undefined }
}

/** Without a slot a cancelled message has no turn to wait for, only its time. */
function leftEarly(state: Waiting | Parked, event: MessageEvent): MessageState {
  if (event.is !== 'cancelled') return state
  const { notBefore, now, endsAtOnce } = event
  if (endsAtOnce || notBefore <= now) return ended(state, 'cancelled', true)
  const { retried, wait, byHand } = state
  return { is: 'planned', due: notBefore, retried, wait, byHand, cancelled: true, heldSince: undefined }
}

function afterRunning(state: Running, event: MessageEvent): MessageState {
  const { retried, cancelled } = state
  switch (event.is) {
    case 'answered':
      return whenAnswered(state, event)
    case 'cut off': {
      const delay = event.until - event.now
      const wait = { delay, reason: `${delay / 1000} s until the service was up again` }
      if (cancelled) return ended({ ...state, wait }, 'cancelled', true)
      return { is: 'planned', due: event.until, retried, wait, byHand: false, cancelled, heldSince: undefined }
    }
    case 'cancelled':
      return { ...state, cancelled: true }
    default:
      return state
  }
}

function whenAnswered(state: Running, event: MessageEvent & { readonly is: 'answered' }): MessageState {
  const { verdict, now, endsAtOnce } = event
  const { cancelled } = state
  if (verdict.is === 'dropped') return ended(state, 'cancelled', true)
  if (verdict.is !== 'retried') return ended(state, verdict.is, cancelled)
  const { wait } = verdict
  const again = { due: now + wait.delay, retried: state.retried + 1, wait, byHand: false, cancelled }
  if (cancelled && endsAtOnce) return ended({ ...again, due: state.due }, 'cancelled', true)
  return { is: 'planned', ...again, heldSince: undefined }
}

function afterHeld(state: Held, event: MessageEvent): MessageState {
  const { retried, wait, byHand, since } = state
  switch (event.is) {
    case 'held':
      return { ...state, by: event.by }
    case 'admitted':
      return { is: 'planned', due: event.now, retried, wait, byHand, cancelled: false, heldSince: since }
    case 'cancelled':
      return ended(state, 'cancelled', true)
    default:
      return state
  }
}

function ended({ due, retried, wait, byHand }: Omit<Known, 'cancelled'>, as: Ended['as'], cancelled: boolean): Ended {
  return { is: 'ended', due, retried, wait, byHand, cancelled, as }
}

function waitedThen(before: RetryWait | undefined, delay: number, reason: string): RetryWait {
  return { delay, reason: before === undefined ? reason : `${before.reason}, then ${reason}` }
}

/** What a dump knows of where a message stood. */
export interface Past {
  readonly state: LoggedState
  readonly due: number
  readonly retried: number
  readonly wait?: RetryWait | undefined
  /** The log does not know it: it is there for its run, or for a report on it. */
  readonly kept?: 'forgotten' | 'vanished' | undefined
}

const endings: Partial<Record<LoggedState, Ended['as']>> = {
  DELIVERED: 'delivered',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

/**
 * The state of a message of a dump. A delivery that was under way is due at once, as after a restart.
 * @param waitsFor what it waits for if it has not begun
 */
export function restored(past: Past, now: number, waitsFor: Waiting['for'] | undefined): MessageState {
  const { state, retried, wait, kept } = past
  const as = endings[state] ?? (kept === undefined ? undefined : 'vanished')
  const cancelled = state === 'CANCEL_REQUESTED'
  const known = { due: isUnderWay(state) ? now : past.due, retried, wait, byHand: false }
  if (as !== undefined) return ended(known, as, cancelled)
  if (cancelled || waitsFor === undefined) return { is: 'planned', ...known, cancelled, heldSince: undefined }
  return { is: 'waiting', ...known, cancelled, for: waitsFor }
}

/** Whether an attempt was being made, by what the log said last. */
export function isUnderWay(state: LoggedState): boolean {
  return state === 'ACTIVE' || state === 'ERROR'
}
