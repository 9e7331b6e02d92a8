import { text } from '../../src/kernel/bytes.js'
import { dateOf, iso } from '../../src/kernel/instant.js'
import { plural } from '../../src/kernel/plural.js'
import type { Schedule } from '../../src/queue/schedules/schedule.js'
import { plainText, quoted } from '../../src/report/safe-text.js'
import type { MatcherInput } from '../received.js'
import type { TestLocation } from './test-location.js'

// A schedule without CRON_TZ fires in UTC, and whoever wrote it may have meant local time. What is meant is never
// guessed: a zone is named when something mentions it and the expected time is that of the schedule there.

const hour = 3_600_000
/** How far zones are ahead of UTC and behind it, at most. */
const maxHours = { ahead: 14, behind: 12 }

/**
 * Why a schedule fires at another hour than a test expects; `undefined` when no time zone explains it.
 * @param expected when it should fire
 * @param slot when it fires
 * @param schedules those that may mention a zone
 */
export function timeZoneHint(
  evidence: MatcherInput,
  { schedule, expected, slot }: { readonly schedule: Schedule; readonly expected: number; readonly slot: number },
  schedules: readonly Schedule[],
  place: TestLocation | undefined,
): string | undefined {
  const { cron } = schedule.draft
  const [prefix = '', own] = /^\s*(?:CRON_TZ|TZ)=(\S+)\s+/.exec(cron) ?? []
  const fields = cron.slice(prefix.length).trim()
  // It would do both: another slot is missing. A slot that came of a former cron says nothing of this one.
  if (slot === expected || firesAt(schedule, expected) || !firesAt(schedule, slot)) return undefined
  const local = localTime(slot, own ?? 'UTC')
  const isAt = (zone: string): boolean => localTime(expected, zone) === local
  const zone = mentionedZones(schedule, schedules, place).find((one) => one !== own && isAt(one))
  const apart = Math.abs(expected - slot)
  const most = expected < slot ? maxHours.ahead : maxHours.behind
  const isWhole = apart % hour === 0 && apart <= most * hour
  const isUtc = own !== undefined && isAt('UTC')
  if (zone === undefined && !isUtc && !isWhole) return undefined

  const { redaction } = evidence
  const [at, wanted] = shownTimes(slot, expected)
  const clock = local?.slice(-5)
  const where = own === undefined ? 'names no time zone' : `names ${plainText(own)}, where it is ${clock} then`
  const shown = quoted(cron, 100, (given) => redaction.text(given))
  const told = `Schedule ${plainText(schedule.id)} fires at ${own === undefined ? `${at} UTC` : `${at}Z`}: its cron ${shown} ${where}. You expected ${wanted}Z`
  const bare = plainText(redaction.text(fields))
  if (zone !== undefined) return `${told}, which is ${clock} in ${zone}: use CRON_TZ=${zone} ${bare}`
  if (isUtc) return `${told}, which is ${clock} UTC: use ${bare}`
  return `${told}, ${plural(apart / hour, 'hour')} ${expected < slot ? 'before' : 'after'} it.`
}

/** Whether a schedule fires at an instant, as far as it is of a kind that can say so. */
export function firesAt({ cron }: Schedule, at: number): boolean {
  return cron.next(at - 1) === at
}

/** Zones of the schedule, the environment and the test, by their IANA names. */
function mentionedZones(schedule: Schedule, schedules: readonly Schedule[], place: TestLocation | undefined): string[] {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } }
  const mentions = [
    text(schedule.draft.body),
    process?.env?.TZ ?? '',
    ...(place?.names ?? []),
    ...schedules.map(({ draft }) => draft.cron),
  ]
  const names = mentions.flatMap((mention) => mention.slice(0, 10_000).match(/\b[A-Z]\w+(?:\/[A-Z][\w+-]*)+/g) ?? [])
  return [...new Set(names)].filter((name) => localTime(0, name) !== undefined)
}

/** `2030-01-01 02:30` as clocks of the zone show it; `undefined` when there is no such zone. */
function localTime(at: number, timeZone: string): string | undefined {
  try {
    // Swedish clocks write the date as ISO 8601 does.
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(dateOf(at))
  } catch {
    return undefined
  }
}

/** Two instants to the minute, with their dates when these differ. */
function shownTimes(one: number, other: number): [string, string] {
  const from = iso(one).slice(0, 10) === iso(other).slice(0, 10) ? 11 : 0
  return [iso(one).slice(from, 16), iso(other).slice(from, 16)]
}
