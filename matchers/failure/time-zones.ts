import { text } from '../../src/kernel/bytes.js'
import { hostVariables } from '../../src/kernel/host.js'
import { dateOf, iso } from '../../src/kernel/instant.js'
import { plural } from '../../src/kernel/plural.js'
import type { Schedule } from '../../src/queue/schedules/schedule.js'
import { plainText, quoted } from '../../src/report/safe-text.js'
import type { MatcherInput } from '../received.js'
import type { TestLocation } from './test-location.js'

// A schedule without CRON_TZ fires in UTC, although its author may have meant local time. The hint names a time zone
// only if the test or a schedule mentions it, and if the schedule would fire at the expected time in that zone.

const hour = 3_600_000
/** Maximum offsets of time zones from UTC, in hours: ahead of UTC and behind UTC. */
const maxHours = { ahead: 14, behind: 12 }

/**
 * Returns why a schedule fires at another hour than the test expects. Returns `undefined` if no time zone explains the
 * difference.
 * @param expected expected fire time
 * @param slot actual fire time
 * @param schedules schedules that may mention a zone
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
  // A time zone explains nothing in two cases. If the cron also fires at the expected time, only that fire is missing.
  // If the cron does not fire at the actual time, the actual fire comes from an earlier cron.
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
  const where =
    own === undefined ? 'names no time zone' : `names ${plainText(own)}, where the local time is then ${clock}`
  const shown = quoted(cron, 100, (given) => redaction.text(given))
  const told = `Schedule ${plainText(schedule.id)} fires at ${own === undefined ? `${at} UTC` : `${at}Z`}: its cron ${shown} ${where}. You expected ${wanted}Z`
  const bare = plainText(redaction.text(fields))
  if (zone !== undefined) return `${told}, which is ${clock} in ${zone}: use CRON_TZ=${zone} ${bare}`
  if (isUtc) return `${told}, which is ${clock} UTC: use ${bare}`
  return `${told}, ${plural(apart / hour, 'hour')} ${expected < slot ? 'before' : 'after'} that fire time.`
}

export function firesAt({ cron }: Schedule, at: number): boolean {
  return cron.next(at - 1) === at
}

/**
 * Returns the IANA time zones that occur in the schedules, in the environment variable `TZ` or in the names of the
 * test.
 */
function mentionedZones(schedule: Schedule, schedules: readonly Schedule[], place: TestLocation | undefined): string[] {
  const mentions = [
    text(schedule.draft.body),
    hostVariables('TZ')?.TZ ?? '',
    ...(place?.names ?? []),
    ...schedules.map(({ draft }) => draft.cron),
  ]
  const names = mentions.flatMap((mention) => mention.slice(0, 10_000).match(/\b[A-Z]\w+(?:\/[A-Z][\w+-]*)+/g) ?? [])
  return [...new Set(names)].filter((name) => localTime(0, name) !== undefined)
}

/** Returns the local time in a zone: `2030-01-01 02:30`. Returns `undefined` for an unknown zone. */
function localTime(at: number, timeZone: string): string | undefined {
  try {
    // The Swedish locale is used because its dates have the format of ISO 8601.
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(dateOf(at))
  } catch {
    return undefined
  }
}

/** Formats two instants with a precision of one minute. The dates are included only if they differ. */
function shownTimes(one: number, other: number): [string, string] {
  const from = iso(one).slice(0, 10) === iso(other).slice(0, 10) ? 11 : 0
  return [iso(one).slice(from, 16), iso(other).slice(from, 16)]
}
