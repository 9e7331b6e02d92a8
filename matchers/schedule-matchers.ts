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

/** Fields of a schedule as it stands now; all that are given must fit. */
export interface SchedulePattern {
  /** Destination url or name of a url group; `*` stands for any characters. */
  readonly to?: Text
  readonly cron?: Text
  readonly scheduleId?: Text
  readonly paused?: Or<boolean>
  readonly method?: Text
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  readonly body?: unknown
  readonly retries?: Or<number>
  readonly delay?: Or<Duration>
  readonly callback?: Text | undefined
  readonly failureCallback?: Text | undefined
  readonly label?: Text | undefined
  readonly flowControlKey?: Text | undefined
  readonly queue?: Text | undefined
  /** The next slot: ISO text, `Date` or milliseconds. */
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

/** Schedules that exist now. */
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
      `${matcher}() asks the queue itself: write expect(sandbox.queue).${matcher}(…) or expect(sandbox).`,
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
 * Schedules that would publish what is missing, if time went on, which `drain()` does not wait for; or that fire at
 * another time than the pattern names.
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
      // What came at another time only is what was meant, and may be of somebody else.
      const late = nearest.find(({ compared }) => isOnlyWrongIn('deliveredAt', compared))?.thing.published
      const isOther = late !== undefined && late.scheduleId !== schedule.id
      // It has published what was expected, which then came to another end: another slot does no better.
      const isWrong = nearest.some(
        ({ thing, compared }) => thing.published?.scheduleId === schedule.id && !isOnlyWrongIn('deliveredAt', compared),
      )
      if (expected !== undefined && slot !== undefined && !firesAt(schedule, expected - delay)) {
        if (delay > 0 || isOther || (late === undefined && isWrong)) return []
        return timeZoneHint(evidence, { schedule, expected, slot }, all, place) ?? []
      }
      if (isWrong) return []
      if (paused) return [`schedule ${name} is paused.`]
      if (nextTime === undefined || now === undefined || nextTime < now) return []
      const until = expected ?? nextTime
      // A move of time helps where the slot is still to come.
      if (until <= now || (deliveredAt !== undefined && expected === undefined && !moment(deliveredAt).fits(nextTime)))
        return []
      const wait = formatDuration(until - now)
      return [
        `schedule ${name} fires in ${wait}, at ${timeSeenFrom(until, now)}. Await sandbox.clock.advance('${wait}') first: clock.drain() does not wait for schedules, which never end.`,
      ]
    })
}

/** The instant in a pattern; `undefined` for one that is described or that is none. */
function momentOf(given: unknown): number | undefined {
  return given === undefined || isAsymmetric(given) ? undefined : instant(given as Instant)
}

/** The slot of a schedule that comes nearest to an instant: of those that were, and the next one. */
function nearestSlot(evidence: MatcherInput, { id, nextTime }: Schedule, to: number): number | undefined {
  const slots = evidence
    .ofType('published')
    .flatMap(({ scheduleId, kind, at }) => (scheduleId === id && kind === 'message' ? at : []))
  return [...slots, ...(nextTime === undefined ? [] : [nextTime])].reduce<number | undefined>(
    (near, slot) => (near === undefined || Math.abs(slot - to) < Math.abs(near - to) ? slot : near),
    undefined,
  )
}

/** Whether everything else is as expected. */
function isOnlyWrongIn(name: string, compared: readonly ComparedField[]): boolean {
  return compared.every((one) => (one.name === name) === one.differences.length > 0)
}

const maxSchedules = 2

/** What a message has of its schedule. */
const ofBoth = ['to', 'scheduleId', 'body', 'method', 'label', 'flowControlKey', 'queue'] as const

/** A queue. */
interface Owner {
  readonly schedules?: unknown
}

function candidateOf(schedule: Schedule, redaction: Redaction): Candidate {
  const { draft, destination } = schedule
  const next = schedule.nextTime === undefined ? 'never again' : `next ${iso(schedule.nextTime)}`
  const title = `${schedule.id}   ${draft.cron} to ${redaction.url(destination)}, ${schedule.paused ? 'paused' : next}`
  return { seq: 0, at: schedule.createdAt, title: plainText(title) }
}
