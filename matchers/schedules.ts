import { iso } from '../src/kernel/clock.js'
import type { Duration } from '../src/kernel/duration.js'
import type { Schedule } from '../src/queue/schedules.js'
import { plainText } from '../src/report/safe-text.js'
import { address, body, type Field, headers, moment, plain, span } from './fields.js'
import { argumentList } from './literal.js'
import { type Candidate, checkPattern, compareFields } from './near-misses.js'
import type { Or, Text } from './patterns.js'
import { evidenceOf } from './received.js'
import { label } from './stories.js'
import { type MatchOptions, search, type Verdict } from './verdict.js'

/** Fields of a schedule as it stands now; all that are given must fit. */
export interface SchedulePattern {
  /** Destination url or name of a url group; `*` stands for any chars. */
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

const fieldNames = [
  'to',
  'cron',
  'scheduleId',
  'paused',
  'method',
  'headers',
  'body',
  'retries',
  'delay',
  'callback',
  'failureCallback',
  'label',
  'flowControlKey',
  'queue',
  'next',
]

/** Schedules that exist now. */
export function scheduled(received: unknown, pattern: SchedulePattern = {}, options: MatchOptions = {}): Verdict {
  const matcher = 'toHaveScheduled'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, fieldNames, { delay: 'span', next: 'moment' })
  const given = Object.keys(pattern).length === 0 && options.times === undefined ? [] : [pattern]
  return search({
    matcher,
    call: argumentList(options.times === undefined ? given : [...given, options]),
    evidence,
    candidates: schedulesOf(matcher, received).map((schedule) => candidateOf(schedule, { ...pattern })),
    times: options.times,
    noun: ['schedule', 'schedules'],
    shown: (entry) => entry.type !== 'command' && entry.type !== 'keyspace',
  })
}

function schedulesOf(matcher: string, received: unknown): readonly Schedule[] {
  const given = received as { queue?: { schedules?: unknown }; schedules?: unknown }
  const schedules = (given.schedules ?? given.queue?.schedules) as { list?: () => readonly Schedule[] } | undefined
  if (typeof schedules?.list !== 'function') {
    throw new TypeError(
      `${matcher}() asks the queue itself: write expect(sandbox.queue).${matcher}(…) or expect(sandbox).`,
    )
  }
  return schedules.list()
}

function candidateOf(schedule: Schedule, pattern: Record<string, unknown>): Candidate {
  const { cron, destination } = schedule.draft
  const next = schedule.nextTime === undefined ? 'never again' : `next ${iso(schedule.nextTime)}`
  return {
    seq: 0,
    at: schedule.createdAt,
    title: () => plainText(`${schedule.id}   ${cron} to ${destination}, ${schedule.paused ? 'paused' : next}`),
    compared: compareFields(fieldsOf(schedule), pattern, ['to', 'cron', 'scheduleId']),
  }
}

function fieldsOf(schedule: Schedule): Record<string, Field> {
  const { cron, destination, settings, body: carried } = schedule.draft
  return {
    to: address(destination),
    cron: plain(cron),
    scheduleId: plain(schedule.id),
    paused: plain(schedule.paused),
    method: plain(settings.method),
    headers: headers(() => settings.headers),
    body: body(carried),
    retries: plain(settings.retries),
    delay: span(settings.delay),
    callback: address(settings.callback?.url),
    failureCallback: address(settings.failureCallback?.url),
    label: label(settings.labels),
    flowControlKey: plain(settings.flowControl?.key),
    queue: plain(settings.queue),
    next: moment(schedule.nextTime),
  }
}
