import { Cron } from 'croner'
import { dateOf, iso } from './instant.js'

/** The clocks of a zone are set forward, over local times that an expression names. */
export interface ClockGap {
  readonly at: number
  readonly zone: string
  /** What the clocks would have shown, as `02:00`, and what they show. */
  readonly from: string
  readonly to: string
}

/** When a schedule fires. Five fields in UTC, or in the zone of a `CRON_TZ=` prefix. [queue.md 7] */
export class CronExpression {
  readonly #fields: string
  readonly #cron: Cron
  readonly #zone: Zone | undefined
  readonly #everyHour: boolean

  /** @throws SyntaxError with the reason, made for `invalid cron: <reason>` */
  constructor(text: string) {
    const trimmed = text.trim()
    const [prefix = '', zone] = /^(?:CRON_TZ|TZ)=(\S*)(?=\s)/.exec(trimmed) ?? []
    const fields = trimmed.slice(prefix.length).trimStart()
    checkFields(fields)
    this.#fields = fields
    this.#everyHour = namesNoHour.test(fields)
    this.#zone = zone === undefined ? undefined : new Zone(zone)
    try {
      this.#cron =
        this.#zone === undefined
          ? new Cron(fields, { mode: '5-part', utcOffset: 0, paused: true })
          : new Cron(fields, { mode: '5-part', timezone: this.#zone.name, paused: true })
    } catch (error) {
      throw new SyntaxError((error as Error).message.replace(/^CronPattern: /, ''))
    }
  }

  /**
   * The first slot after an instant, `undefined` when there are no more. A local time that does not exist is
   * skipped. One that occurs twice counts once, at its first occurrence, when the expression names its hour; one that
   * names no hour means an interval and continues through the repeated hour, as cron does.
   */
  next(after: number): number | undefined {
    let at = after
    // Skipped candidates lie within one change of the clocks; the bound only guards against the unforeseen.
    for (let tries = 0; tries < 1000; tries++) {
      const found = this.#cron.nextRun(dateOf(at))
      if (found === null) return undefined
      at = found.getTime()
      if (this.#zone === undefined) return at
      // The library moves a time that does not exist to the next one that does, which the expression does not name.
      if (this.#cron.match(found) && (this.#everyHour || !this.#zone.repeats(at))) return at
    }
    return undefined
  }

  /** Where slots between two instants come to nothing, because their local time does not exist. */
  gaps(after: number, until: number): readonly ClockGap[] {
    const zone = this.#zone
    // An interval goes on through the change.
    if (zone === undefined || this.#everyHour) return []
    return zone.forward(after, until).flatMap(({ at, before, now }) => {
      // As if local time were UTC.
      this.#anywhere ??= new Cron(this.#fields, { mode: '5-part', utcOffset: 0, paused: true })
      const named = this.#anywhere.nextRun(dateOf(at + before - 1))
      if (named === null || named.getTime() >= at + now) return []
      const shown = (offset: number): string => iso(at + offset).slice(11, 16)
      return [{ at, zone: zone.name, from: shown(before), to: shown(now) }]
    })
  }

  #anywhere: Cron | undefined
}

/** A time zone by its IANA name. */
class Zone {
  readonly #format: Intl.DateTimeFormat

  constructor(readonly name: string) {
    try {
      this.#format = new Intl.DateTimeFormat('en-US', {
        timeZone: name,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      })
    } catch {
      throw new SyntaxError(`unknown time zone ${JSON.stringify(name)}`)
    }
  }

  /** Whether the same local time occurred once before, until the clocks were set back. */
  repeats(at: number): boolean {
    const now = this.#offset(at)
    const setBack = this.#offset(at - longestSetBack) - now
    return setBack > 0 && this.#offset(at - setBack) - now === setBack
  }

  /** The instants at which the clocks are set forward, with what local time is ahead of UTC before and from then on. */
  forward(after: number, until: number): { at: number; before: number; now: number }[] {
    const changes: { at: number; before: number; now: number }[] = []
    let before = this.#offset(after)
    for (let from = after; from < until; from += week) {
      const to = Math.min(from + week, until)
      const now = this.#offset(to)
      if (now > before) changes.push({ at: this.#changeWithin(from, to, before), before, now })
      before = now
    }
    return changes
  }

  /** To the second. */
  #changeWithin(from: number, to: number, before: number): number {
    let [low, high] = [Math.floor(from / 1000), Math.ceil(to / 1000)]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#offset(middle * 1000) === before) low = middle
      else high = middle
    }
    return high * 1000
  }

  /** Milliseconds by which local time is ahead of UTC. */
  #offset(at: number): number {
    const parts = new Map(this.#format.formatToParts(at).map((part) => [part.type, Number(part.value)]))
    const field = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const days = daysSinceEpoch(field('year'), field('month'), field('day'))
    const local = (days * 86_400 + field('hour') * 3600 + field('minute') * 60 + field('second')) * 1000
    return local - Math.floor(at / 1000) * 1000
  }
}

const week = 604_800_000

/** Clocks are set back by half an hour to two hours. */
const longestSetBack = 7_200_000

/** An hour field of `*`, with or without a step, or the whole day. */
const namesNoHour = /^(?:\S+\s+(?:\*|0-23)(?:\/\d+)?\s|@hourly$)/i

const aliases = /^@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)$/i

/** Standard crontab only: the library knows more than the service. */
function checkFields(fields: string): void {
  if (fields.startsWith('@')) {
    if (aliases.test(fields)) return
    throw new SyntaxError(`${JSON.stringify(fields)} is not supported`)
  }
  const parts = fields.split(/\s+/)
  if (fields === '' || parts.length !== 5)
    throw new SyntaxError(`expected exactly 5 fields, found ${fields === '' ? 0 : parts.length}`)
  for (const part of parts) {
    const plain = part.replace(
      /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)\b/gi,
      '1',
    )
    if (!/^[\d*?,/-]+$/.test(plain)) throw new SyntaxError(`unexpected ${JSON.stringify(part)}`)
  }
}

/** Days from 1970-01-01 in the Gregorian calendar, counting years from March so that leap days come last. */
export function daysSinceEpoch(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
