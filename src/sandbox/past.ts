import type { Clock } from '../kernel/clock.js'
import { type Duration, milliseconds } from '../kernel/duration.js'
import type { ForkChanges, InputColumns, InputJournal, JournalInput, JournalPosition } from '../kernel/input-journal.js'
import { type Instant, instant, iso } from '../kernel/instant.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { checkPastInstant } from '../kernel/past-instant.js'
import type { Entry, TrafficLog } from '../kernel/traffic-log.js'
import type { DestinationResponse } from '../queue/destinations/destination-responses.js'
import type { DeliveryHosts, DestinationHandler } from '../queue/destinations/destinations.js'
import type { CoreState } from './core.js'

/** A past instant: an instant, a duration before now such as `-5m`, or the position directly after a log entry. */
export type PastInstant =
  | Instant
  | `-${Extract<Duration, string>}`
  | {
      /** `seq` of the log entry directly before the position. */
      readonly seq: number
    }

/**
 * A journal position for clients of a server. It names the same position even after time has moved. It is rejected
 * after a reset or load.
 */
export interface JournalPoint {
  /** Number of resets and loads before the position. */
  readonly world: number
  readonly end: number
  readonly at: number
}

/** Options of `sandbox.fork()`. */
export interface ForkOptions {
  /** Instant at which the fork begins. Default: now. */
  readonly at?: PastInstant
  /** Handlers and responses for later deliveries, by URL pattern. They replace the handlers of the original sandbox. */
  readonly destinations?: Readonly<Record<string, DestinationHandler | DestinationResponse>>
  /**
   * Function that receives later deliveries to URLs without a destination, if `deliverTo` allows their hosts. Default:
   * a fork sends nothing.
   */
  readonly fetch?: typeof globalThis.fetch
  /** Hosts to which `fetch` may send deliveries. Default: the hosts of the original sandbox. */
  readonly deliverTo?: DeliveryHosts
  /**
   * Name of the fork, for rules with `match: { tenant }`. The URLs of the fork stay the same. Default: the name of the
   * original sandbox.
   */
  readonly name?: string
}

/** A journal position and the data that a replay up to this position needs. */
export interface Past {
  readonly start: CoreState
  readonly inputs: InputColumns
  /** Index of the first input after the position. */
  readonly end: number
  /** Number of calls of outside work that had begun and not returned at the position. */
  readonly entered: number
  /** Position at which the sandbox is now. */
  readonly attach: JournalPosition
  readonly at: number
  readonly entries: readonly Entry[]
  readonly fork: Omit<ForkChanges, 'foretold'>
}

/** Position in a journal at which a replay ends. */
export type JournalCut = Pick<Past, 'end' | 'at'>

interface JournalSource {
  readonly journal: InputJournal | undefined
  readonly traffic: Pick<TrafficLog, 'entries' | 'dropped'>
  readonly clock: Clock
}

/** Argument of `fork()` and `asOf()`. A client sends a `JournalPoint`. `undefined` means now. */
type ForkPointInput = PastInstant | JournalPoint | undefined

const optionNames: Readonly<Record<keyof ForkOptions, true>> = {
  at: true,
  destinations: true,
  fetch: true,
  deliverTo: true,
  name: true,
}

/**
 * Checks the options of a fork.
 * @param without name of an option that the caller does not accept
 * @throws TypeError when an option is unknown or when an instant is passed instead of `{ at }`
 */
export function checkFork(options: ForkOptions, without?: keyof ForkOptions): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(
      `sandbox.fork(): options must be an object such as { at: '-5m' } (got ${JSON.stringify(options)}).`,
    )
  }
  checkOptionNames(
    'sandbox.fork()',
    options,
    Object.keys(optionNames).filter((name) => name !== without),
  )
}

/**
 * Returns the journal position of an instant.
 * @throws RangeError when the instant is not in the recorded past
 * @throws Error when there is no journal
 */
export function cutAt(given: ForkPointInput, { journal, traffic, clock }: JournalSource, world = 0): JournalCut {
  if (journal === undefined) {
    throw new Error("Can't go back: this sandbox has no journal. Remove journal: false from its options.")
  }
  checkPastInstant(given)
  const { inputs, begunAt } = journal
  checkJournaled(journal)
  const now = clock.now()
  if (given === undefined) return { end: inputs.length, at: now }
  if (typeof given === 'object' && given !== null && 'world' in given) {
    return placed(given, world, inputs, { begunAt, now })
  }
  const first = traffic.dropped > 0 ? traffic.entries[0] : undefined
  if (typeof given === 'object' && given !== null && 'seq' in given)
    return afterEntry(given.seq, inputs, { first: first?.seq ?? 0, latest: journal.attach.log, begunAt })
  const at = pastInstant(given, now)
  if (at > now)
    throw new RangeError(
      `Can't go back to ${iso(at)}: it is in the future (now is ${iso(now)}). Move time with clock.advanceTo().`,
    )
  const earliest = first?.at ?? begunAt
  if (at < earliest) {
    throw new RangeError(
      `Can't go back to ${iso(at)}: ${first === undefined ? 'the sandbox began' : 'the log dropped older entries and begins'} at ${iso(earliest)}.`,
    )
  }
  let end = endOf(inputs, (input) => input.at > at)
  // If a clock move started exactly at this instant, the position must be before the move.
  while (inputs.get(end - 1)?.kind === 'moving') end--
  return { end: inputs.between(end), at }
}

/**
 * Checks that a past position can still be replayed.
 * @throws Error when the sandbox was reset or loaded after the position was determined, or when its journal was
 * discarded
 */
export function checkThere(cut: JournalCut, { journal }: JournalSource, now: JournalSource): void {
  if (journal !== now.journal) throw replaced(cut)
  checkJournaled(journal!)
}

function placed(
  { world, end, at }: JournalPoint,
  present: number,
  inputs: InputColumns,
  { begunAt, now }: { readonly begunAt: number; readonly now: number },
): JournalCut {
  let next = end
  while (inputs.get(next)?.kind === 'moving') next++
  const [earliest, latest] = [inputs.get(end - 1)?.at ?? begunAt, inputs.get(next)?.at ?? now]
  if (world === present && end <= inputs.length && earliest <= at && at <= latest) {
    return { end: inputs.between(end), at }
  }
  throw replaced({ end, at: Math.min(Math.max(at, begunAt), now) })
}

function replaced({ at }: JournalCut): Error {
  return new Error(
    `Can't go back to ${iso(at)}: the sandbox was reset or loaded since this view was created. ` +
      'Fork before the reset or load, or call sandbox.asOf() again.',
  )
}

/** @throws Error when the journal was discarded because it reached its size limit */
export function checkJournaled({ fullAt }: InputJournal): void {
  if (fullAt === undefined) return
  throw new Error(
    `Can't go back: the journal of this sandbox reached its size limit and ended at ${iso(fullAt)}. ` +
      'Start a new journal with sandbox.reset() or load(), or raise policy.maxTrafficBytes, three eighths of which are for the journal.',
  )
}

function pastInstant(given: PastInstant, now: number): number {
  try {
    if (typeof given === 'string' && given.startsWith('-')) return now - milliseconds(given.slice(1) as Duration)
    return instant(given as Instant)
  } catch {
    const shown = typeof given === 'string' ? JSON.stringify(given) : String(given)
    throw new RangeError(
      `A past instant must be a duration before now such as '-5m', milliseconds, a Date, a text such as '2030-01-01T09:00:00Z', or { seq: 17 } (got ${shown}).`,
    )
  }
}

function afterEntry(
  seq: number,
  inputs: InputColumns,
  { first, latest, begunAt }: { readonly first: number; readonly latest: number; readonly begunAt: number },
): JournalCut {
  if (!Number.isSafeInteger(seq) || seq < first || seq > latest) {
    throw new RangeError(`seq must be the number of a log entry, from ${first} to ${latest} (got ${seq}).`)
  }
  let end = endOf(inputs, ({ log }) => log >= seq)
  // One input can write several entries. The position must be after the last of these entries.
  const last = inputs.get(end)?.log ?? latest
  const at = inputs.get(end - 1)?.at ?? begunAt
  // At the same instant, further inputs may have followed that wrote no entry but ended an entry. They belong to the
  // time before the position.
  for (let next = inputs.get(end); next?.at === at && next.kind !== 'moving'; next = inputs.get(++end)) {
    if ((inputs.get(end + 1)?.log ?? latest) > last) break
  }
  return { end: inputs.between(end), at }
}

/**
 * Returns the index of the first input for which `isAfter` returns true. For all later inputs, `isAfter` must return
 * true as well.
 */
function endOf(inputs: InputColumns, isAfter: (input: JournalInput) => boolean): number {
  let [low, high] = [0, inputs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isAfter(inputs.get(middle)!)) high = middle
    else low = middle + 1
  }
  return low
}
