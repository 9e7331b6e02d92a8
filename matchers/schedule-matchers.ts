import { type Duration, formatDuration } from '../src/kernel/duration.js'
import { type Instant, instant, iso } from '../src/kernel/instant.js'
import type { Schedule } from '../src/queue/schedules/schedule.js'
import type { Redaction } from '../src/report/redaction.js'
import { plainText } from '../src/report/safe-text.js'
import { timeSeenFrom } from '../src/report/shown-times.js'
import { moment } from './comparison-kinds.js'
import type { TestLocation } from './failure/test-location.js'
import { firesAt, timeZoneHint } from './failure/time-zones.js'
import { isAsymmetric } from './literal.js'
import { type MessageLifecycle, ofMessages } from './message-lifecycle.js'
import { type Candidate, type ComparedField, type ScoredCandidate, testOf } from './near-misses.js'
import {
  bodyField,
  booleanField,
  checkPattern,
  type FieldsOf,
  headersField,
  instantField,
  labelField,
  methodField,
  numberField,
  optional,
  spanField,
  textField,
  urlField,
} from './pattern-fields.js'
import type { Or, Text } from './patterns.js'
import { evidenceOf, type MatcherInput } from './received.js'
import { callOf, type MatchOptions, search, timesOf, type Verdict } from './verdict.js'

/** Fields of a current schedule. All fields in the pattern must match. */
export interface SchedulePattern {
  /** URL of the destination, or name of a URL group; `*` matches any characters. */
  readonly to?: Text
  /** Cron expression as the app set it, such as `0 3 * * *`. */
  readonly cron?: Text
  /** ID of the schedule: `scd_…`, or the ID that the app chose. */
  readonly scheduleId?: Text
  /** Whether the schedule is paused. */
  readonly paused?: Or<boolean>
  /** HTTP method of its deliveries, in upper case. */
  readonly method?: Text
  /** Headers for the destination; names are case-insensitive. */
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  /**
   * Body: a string is compared with its text, a `Uint8Array` with its bytes, and an object or list with its JSON.
   * Fields that the pattern omits are ignored.
   */
  readonly body?: unknown
  /** Maximum number of retries of each message. */
  readonly retries?: Or<number>
  /** Delay of the first attempt of each message: `'90s'`, or milliseconds. 0 without a delay. */
  readonly delay?: Or<Duration>
  /**
   * URL of the callback of its messages. `*` matches any characters. `undefined` matches schedules without a callback.
   */
  readonly callback?: Text | undefined
  /**
   * URL of the failure callback of its messages. `*` matches any characters. `undefined` matches schedules without a
   * failure callback.
   */
  readonly failureCallback?: Text | undefined
  /** A label of its messages. `undefined` matches schedules without labels. */
  readonly label?: Text | undefined
  /** Flow-control key of its messages. `undefined` matches schedules without flow control. */
  readonly flowControlKey?: Text | undefined
  /** Name of the FIFO queue of its messages. `undefined` matches schedules without a FIFO queue. */
  readonly queue?: Text | undefined
  /** Next fire time: ISO text, `Date` or milliseconds since the epoch. */
  readonly next?: Or<string | number | Date> | undefined
}

const fields: FieldsOf<SchedulePattern, Schedule> = {
  to: urlField(({ destination }) => destination),
  cron: textField(({ draft }) => draft.cron),
  scheduleId: textField(({ id }) => id),
  paused: booleanField(({ paused }) => paused),
  method: methodField(({ draft }) => draft.settings.method),
  headers: headersField(({ draft }) => draft.settings.headers),
  body: bodyField(({ draft }) => draft.body),
  retries: numberField(({ draft }) => draft.settings.retries),
  delay: spanField(({ draft }) => draft.settings.delay),
  callback: optional(urlField(({ draft }) => draft.settings.callback?.url)),
  failureCallback: optional(urlField(({ draft }) => draft.settings.failureCallback?.url)),
  label: labelField(({ draft }) => draft.settings.labels),
  flowControlKey: optional(textField(({ draft }) => draft.settings.flowControl?.key)),
  queue: optional(textField(({ draft }) => draft.settings.queue)),
  next: optional(instantField(({ nextTime }) => nextTime)),
}

/** Searches the schedules that exist now. */
export function scheduled(received: unknown, pattern: SchedulePattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveSchedule'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, fields)
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    things: () => schedulesOf(matcher, received),
    test: testOf(fields, { ...pattern }),
    candidate: (schedule) => candidateOf(schedule, evidence.redaction),
    times: timesOf(matcher, options),
    noun: ['schedule', 'schedules'],
    hints: (nearest, place) => {
      const expected = momentOf(pattern.next)
      return nearest.flatMap(({ thing, compared }) => {
        if (expected === undefined || thing.nextTime === undefined || !isOnlyWrongIn('next', compared)) return []
        const asked = { schedule: thing, expected, slot: thing.nextTime }
        return timeZoneHint(evidence, asked, schedulesOf(matcher, received), place) ?? []
      })
    },
    shown: ofMessages,
  })
}

function schedulesOf(matcher: string, received: unknown): readonly Schedule[] {
  const lists = listsOf(received)
  if (lists.some((schedules) => typeof schedules?.list !== 'function')) {
    throw new TypeError(
      `${matcher}(): expect() must get the queue or the sandbox, because a log has no schedules. Write expect(sandbox.queue).${matcher}(…).`,
    )
  }
  return lists.flatMap((schedules) => schedules!.list!())
}

type List = { list?: () => readonly Schedule[] } | undefined

function listsOf(received: unknown): readonly List[] {
  const given = received as Owner & { queue?: Owner; queues?: readonly Owner[] }
  const owners = given.schedules === undefined ? (given.queues ?? [given.queue]) : [given]
  return owners.map((owner) => owner?.schedules as List)
}

/**
 * Returns hints about schedules. A schedule may publish the missing message later, which `drain()` does not wait for.
 * Or it may fire at another time than the test expects.
 */
export function scheduleHints(
  evidence: MatcherInput,
  pattern: Readonly<Record<string, unknown>>,
  nearest: readonly ScoredCandidate<MessageLifecycle>[],
  place: TestLocation | undefined,
): string[] {
  if (evidence.role === 'traffic' || pattern.messageId !== undefined) return []
  const shared = ofBoth.filter((name) => pattern[name] !== undefined).map((name) => [name, pattern[name]])
  const test = testOf<Schedule>(fields, Object.fromEntries(shared))
  const now = evidence.context.now?.()
  const all = listsOf(evidence.received).flatMap((schedules) => schedules?.list?.() ?? [])
  const { deliveredAt } = pattern
  const expected = momentOf(deliveredAt)
  return all
    .filter(test.fits)
    .slice(0, maxSchedules)
    .flatMap((schedule) => {
      const { paused, nextTime } = schedule
      const name = plainText(schedule.id)
      const slot = expected === undefined ? undefined : nearestSlot(evidence, schedule, expected)
      const delay = schedule.draft.settings.delay ?? 0
      // If a message differs from the pattern only in its delivery time, it is the expected message. Another schedule
      // may have published it.
      const late = nearest.find(({ compared }) => isOnlyWrongIn('deliveredAt', compared))?.thing.published
      const isOther = late !== undefined && late.scheduleId !== schedule.id
      // If this schedule has already published the message and a field other than the time differs, waiting for a later
      // fire time does not help.
      const isWrong = nearest.some(
        ({ thing, compared }) => thing.published?.scheduleId === schedule.id && !isOnlyWrongIn('deliveredAt', compared),
      )
      if (expected !== undefined && slot !== undefined && !firesAt(schedule, expected - delay)) {
        if (delay > 0 || isOther || (late === undefined && isWrong)) return []
        return timeZoneHint(evidence, { schedule, expected, slot }, all, place) ?? []
      }
      if (isWrong) return []
      if (paused) return [`Schedule ${name} is paused, so it publishes nothing. Resume it first.`]
      if (nextTime === undefined || now === undefined || nextTime < now) return []
      const until = expected ?? nextTime
      // Advancing the clock helps only if the fire time is in the future.
      if (until <= now || (deliveredAt !== undefined && expected === undefined && !moment(deliveredAt).fits(nextTime)))
        return []
      const wait = formatDuration(until - now)
      return [
        `Schedule ${name} fires in ${wait}, at ${timeSeenFrom(until, now)}. Await sandbox.clock.advance('${wait}') first: clock.drain() does not wait for schedules, which never end.`,
      ]
    })
}

/**
 * Returns the expected instant in a pattern. Returns `undefined` if the pattern has no instant, or an asymmetric
 * matcher.
 */
function momentOf(given: unknown): number | undefined {
  return given === undefined || isAsymmetric(given) ? undefined : instant(given as Instant)
}

/**
 * Returns the fire time of a schedule that is nearest to an instant. The result is a past fire time or the next fire
 * time.
 */
function nearestSlot(evidence: MatcherInput, { id, nextTime }: Schedule, to: number): number | undefined {
  const slots = evidence
    .ofType('published')
    .flatMap(({ scheduleId, kind, at }) => (scheduleId === id && kind === 'message' ? at : []))
  return [...slots, ...(nextTime === undefined ? [] : [nextTime])].reduce<number | undefined>(
    (near, slot) => (near === undefined || Math.abs(slot - to) < Math.abs(near - to) ? slot : near),
    undefined,
  )
}

/** Returns whether this field differs and all other fields match. */
function isOnlyWrongIn(name: string, compared: readonly ComparedField[]): boolean {
  return compared.every((one) => (one.name === name) === one.differences.length > 0)
}

const maxSchedules = 2

/** Fields that a schedule and its messages have in common. */
const ofBoth = ['to', 'scheduleId', 'body', 'method', 'label', 'flowControlKey', 'queue'] as const

/** An object that may have schedules, such as a queue. */
interface Owner {
  readonly schedules?: unknown
}

function candidateOf(schedule: Schedule, redaction: Redaction): Candidate {
  const { draft, destination } = schedule
  const next = schedule.nextTime === undefined ? 'never again' : `next ${iso(schedule.nextTime)}`
  const title = `${schedule.id}   ${draft.cron} to ${redaction.url(destination)}, ${schedule.paused ? 'paused' : next}`
  return { seq: 0, at: schedule.createdAt, title: plainText(title) }
}
