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

/** An instant, a span before now such as `-5m`, or right after an entry of the log. */
export type PastInstant = Instant | `-${Extract<Duration, string>}` | { readonly seq: number }

/** An instant that somebody keeps who is elsewhere: it means the same later, or is refused. */
export interface JournalPoint {
  /** How many worlds the sandbox had before. */
  readonly world: number
  readonly end: number
  readonly at: number
}

/** What a fork is made with. */
export interface ForkOptions {
  /** What it begins as. Default: what the sandbox is now. */
  readonly at?: PastInstant
  /** What answers later deliveries, by pattern, in place of the handlers that the sandbox has. */
  readonly destinations?: Readonly<Record<string, DestinationHandler | DestinationResponse>>
  /** Takes later deliveries that no destination answers, as far as `deliverTo` allows. Default: nothing leaves a fork. */
  readonly fetch?: typeof globalThis.fetch
  readonly deliverTo?: DeliveryHosts
  /** Name of the fork, by which rules that it gets know it; its addresses stay. Default: that of the sandbox. */
  readonly name?: string
}

/** A place in a journal, and what stands before it. */
export interface Past {
  readonly start: CoreState
  readonly inputs: InputColumns
  /** The inputs before it are those of the past. */
  readonly end: number
  /** Work in the middle of which the inputs end. */
  readonly entered: number
  /** How far the world has come now. */
  readonly attach: JournalPosition
  /** Where time stands. */
  readonly at: number
  /** The log. */
  readonly entries: readonly Entry[]
  /** What the fork is to be. */
  readonly fork: Omit<ForkChanges, 'foretold'>
}

/** Where a journal is cut. */
export type JournalCut = Pick<Past, 'end' | 'at'>

interface JournalSource {
  readonly journal: InputJournal | undefined
  readonly traffic: Pick<TrafficLog, 'entries' | 'dropped'>
  readonly clock: Clock
}

/** As `PastInstant`, from a client that looked before. */
type ForkPointInput = PastInstant | JournalPoint | undefined

const optionNames: Readonly<Record<keyof ForkOptions, true>> = {
  at: true,
  destinations: true,
  fetch: true,
  deliverTo: true,
  name: true,
}

/** @throws TypeError for what is no option of a fork: most often an instant, which is one of them */
export function checkFork(options: ForkOptions, without?: keyof ForkOptions): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`sandbox.fork() takes options such as { at: '-5m' }, got ${JSON.stringify(options)}.`)
  }
  checkOptionNames(
    'sandbox.fork()',
    options,
    Object.keys(optionNames).filter((name) => name !== without),
  )
}

/** The place of an instant. @throws RangeError, Error */
export function cutAt(given: ForkPointInput, { journal, traffic, clock }: JournalSource, world = 0): JournalCut {
  if (journal === undefined) {
    throw new Error('This sandbox keeps no journal, and cannot go back: leave journal: false out of its options.')
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
    throw new RangeError(`${iso(at)} is still to come: it is ${iso(now)}. Move time with clock.advanceTo().`)
  const earliest = first?.at ?? begunAt
  if (at < earliest) {
    throw new RangeError(
      `${iso(at)} cannot be told any more: ${first === undefined ? 'this world began' : 'the log has dropped what was before, and begins'} at ${iso(earliest)}.`,
    )
  }
  let end = endOf(inputs, (input) => input.at > at)
  // A move that leads away from the instant is not of it.
  while (inputs.get(end - 1)?.kind === 'moving') end--
  return { end: inputs.between(end), at }
}

/** @throws Error when the world that was looked at is not there any more to be played again */
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
    `The sandbox was reset or loaded after this look at ${iso(at)}, and can only go back in the world that it has now. ` +
      'Fork before that, or take a new sandbox.asOf().',
  )
}

/** @throws Error when the journal has ended: there was too much for it */
export function checkJournaled({ fullAt }: InputJournal): void {
  if (fullAt === undefined) return
  throw new Error(
    `More came into this sandbox than its journal keeps: it ended at ${iso(fullAt)}, and the past cannot be told or forked any more. ` +
      'sandbox.reset() or load() begins a new one; a larger policy.maxTrafficBytes, of which the journal has three eighths, a longer one.',
  )
}

function pastInstant(given: PastInstant, now: number): number {
  try {
    if (typeof given === 'string' && given.startsWith('-')) return now - milliseconds(given.slice(1) as Duration)
    return instant(given as Instant)
  } catch {
    const shown = typeof given === 'string' ? JSON.stringify(given) : String(given)
    throw new RangeError(
      `${shown} is not an instant of the past: give a span before now like '-5m', milliseconds, a Date, a text like '2030-01-01T09:00:00Z', or { seq: 17 }.`,
    )
  }
}

function afterEntry(
  seq: number,
  inputs: InputColumns,
  { first, latest, begunAt }: { readonly first: number; readonly latest: number; readonly begunAt: number },
): JournalCut {
  if (!Number.isSafeInteger(seq) || seq < first || seq > latest) {
    throw new RangeError(`There is no entry ${seq} in the log: it has those from ${first} to ${latest}.`)
  }
  let end = endOf(inputs, ({ log }) => log >= seq)
  // A step of the world that wrote several entries is not to be parted.
  const last = inputs.get(end)?.log ?? latest
  const at = inputs.get(end - 1)?.at ?? begunAt
  // What ended without an entry of its own before the next one came, at the same instant.
  for (let next = inputs.get(end); next?.at === at && next.kind !== 'moving'; next = inputs.get(++end)) {
    if ((inputs.get(end + 1)?.log ?? latest) > last) break
  }
  return { end: inputs.between(end), at }
}

/** How many inputs come before the first of which this is true: it is of all that follow. */
function endOf(inputs: InputColumns, isAfter: (input: JournalInput) => boolean): number {
  let [low, high] = [0, inputs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isAfter(inputs.get(middle)!)) high = middle
    else low = middle + 1
  }
  return low
}
