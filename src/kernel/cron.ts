import { Cron } from 'croner'
import { goDuration } from './duration.js'
import { dateOf, daysSinceEpoch, iso } from './instant.js'

/** A change that sets the clocks of a zone forward, so that local times of an expression do not exist on that day. */
export interface ClockGap {
  readonly at: number
  readonly zone: string
  /** Local time at which the clocks are set forward, such as `02:00`. `to` is the local time to which they are set. */
  readonly from: string
  readonly to: string
}

/** Choices where sources disagree. If a choice is undefined, both readings are accepted. */
export interface CronDialect {
  /**
   * `crontab`: 7 means Sunday and `5/15` is invalid. `go`: 7 is invalid and `5/15` is accepted, as in the Go library.
   */
  readonly reads?: 'go' | 'crontab' | undefined
  /** Whether `@every 90s` is accepted. */
  readonly every?: boolean | undefined
}

/**
 * Parses a cron expression and computes when a schedule fires. An expression has five fields in UTC, or in the time
 * zone of a `CRON_TZ=` prefix, as the Go library robfig/cron parses them. Error reasons have that library's text.
 * [queue.md 7]
 */
export class CronExpression {
  readonly #fields: string
  readonly #cron: Cron
  readonly #zone: Zone | undefined
  readonly #everyHour: boolean
  /** Milliseconds between two fire times of `@every`. */
  readonly #interval: number | undefined

  /** @throws SyntaxError with the reason, for the message `Invalid cron expression: <reason>` */
  constructor(text: string, dialect: CronDialect = {}) {
    const trimmed = text.trim()
    const [prefix = '', zone] = /^(?:CRON_TZ|TZ)=(\S*)(?=\s)/.exec(trimmed) ?? []
    const given = trimmed.slice(prefix.length).trimStart()
    if (given === '') throw new SyntaxError('empty spec string')
    // An empty zone name means UTC in Go, so an expression without a prefix is in UTC.
    this.#zone = zone ? new Zone(zone) : undefined
    this.#interval = dialect.every ? intervalOf(given) : undefined
    const fields = this.#interval === undefined ? (given.startsWith('@') ? descriptor(given) : given) : '* * * * *'
    this.#everyHour = namesNoHour.test(fields)
    this.#fields = valuesOf(fields, dialect)
    const options = this.#zone === undefined ? { utcOffset: 0 } : { timezone: this.#zone.name }
    this.#cron = new Cron(this.#fields, { mode: '5-part', ...options, paused: true })
  }

  /**
   * Returns the first fire time after an instant, in milliseconds since the epoch, or `undefined` if there is none. A
   * local time that does not exist is skipped. At a local time that occurs twice, an expression that names hours fires
   * once, at the first occurrence. An expression without hours is an interval and also fires in the repeated hour, as
   * in cron. Fire times of `@every` are multiples of its interval since 1970, so that they do not depend on history.
   */
  next(after: number): number | undefined {
    const interval = this.#interval
    if (interval !== undefined) return (Math.floor(after / interval) + 1) * interval
    let at = after
    // Candidates are skipped only near a change of the clocks, so few iterations are needed. The limit prevents an
    // endless loop.
    for (let tries = 0; tries < 1000; tries++) {
      const found = this.#cron.nextRun(dateOf(at))
      if (found === null) return undefined
      at = found.getTime()
      if (this.#zone === undefined) return at
      // If a local time does not exist, the library returns the next existing time. The expression does not name that
      // time, so it is skipped.
      if (this.#cron.match(found) && (this.#everyHour || !this.#zone.repeats(at))) return at
    }
    return undefined
  }

  /**
   * Returns the changes of the clocks, between two instants, that skip fire times: the local times of these fire times
   * do not exist.
   */
  gaps(after: number, until: number): readonly ClockGap[] {
    const zone = this.#zone
    // An expression without hours is an interval, which fires at all times that exist. It skips nothing.
    if (zone === undefined || this.#everyHour) return []
    return zone.forward(after, until).flatMap(({ at, before, now }) => {
      // With `utcOffset`, the library ignores changes of the clocks. Its result is the fire time without the change.
      this.#anywhere ??= new Cron(this.#fields, { mode: '5-part', utcOffset: 0, paused: true })
      const named = this.#anywhere.nextRun(dateOf(at + before - 1))
      if (named === null || named.getTime() >= at + now) return []
      const shown = (offset: number): string => iso(at + offset).slice(11, 16)
      return [{ at, zone: zone.name, from: shown(before), to: shown(now) }]
    })
  }

  #anywhere: Cron | undefined
}

class Zone {
  readonly #format: Intl.DateTimeFormat

  constructor(readonly name: string) {
    if (!isIanaName(name)) throw unknownZone(name)
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
      throw unknownZone(name)
    }
    // The service treats zone names as case-sensitive.
    // The host accepts any case and returns the correct spelling, except for aliases.
    const { timeZone } = this.#format.resolvedOptions()
    if (timeZone !== name && timeZone.toLowerCase() === name.toLowerCase()) throw unknownZone(name)
  }

  /** Returns whether the local time at this instant has already occurred once, because the clocks were set back. */
  repeats(at: number): boolean {
    const now = this.#offset(at)
    const setBack = this.#offset(at - maxSetBack) - now
    return setBack > 0 && this.#offset(at - setBack) - now === setBack
  }

  /** Returns the instants at which the clocks are set forward, each with the UTC offset before and after the change. */
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

  /**
   * Finds the second in which the UTC offset changes, between two instants.
   * @param before UTC offset before the change
   */
  #changeWithin(from: number, to: number, before: number): number {
    let [low, high] = [Math.floor(from / 1000), Math.ceil(to / 1000)]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#offset(middle * 1000) === before) low = middle
      else high = middle
    }
    return high * 1000
  }

  /** Returns the UTC offset in milliseconds. */
  #offset(at: number): number {
    const parts = new Map(this.#format.formatToParts(at).map((part) => [part.type, Number(part.value)]))
    const field = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const days = daysSinceEpoch(field('year'), field('month'), field('day'))
    const local = (days * 86_400 + field('hour') * 3600 + field('minute') * 60 + field('second')) * 1000
    return local - Math.floor(at / 1000) * 1000
  }
}

const week = 604_800_000

/**
 * Maximum duration, in milliseconds, by which a zone sets its clocks back. Real zones set them back by half an hour to
 * two hours.
 */
const maxSetBack = 7_200_000

/** Zones that the host accepts in addition to IANA names: offsets and old abbreviations. */
const hostZones =
  /^(?:[+-].*|ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST|SystemV\/.*)$/

function isIanaName(name: string): boolean {
  return /^[A-Z]/.test(name) && !hostZones.test(name)
}

function unknownZone(name: string): SyntaxError {
  return new SyntaxError(`provided bad location ${name}: unknown time zone ${name}`)
}

/** Matches expressions that do not name an hour: their hour field is `*`, `*` with a step, or all hours. */
const namesNoHour = /^\S+\s+(?:[*?]|0-23)(?:\/\d+)?\s/

const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

function descriptor(given: string): string {
  const fields = Object.hasOwn(descriptors, given) ? descriptors[given] : undefined
  if (fields === undefined) throw new SyntaxError(`unrecognized descriptor: ${given}`)
  return fields
}

/**
 * Returns the interval of `@every <duration>` in milliseconds: whole seconds, rounded down, but at least one second.
 * The Go library rounds in the same way.
 */
function intervalOf(given: string): number | undefined {
  const [, duration] = /^@every (.*)$/.exec(given) ?? []
  if (duration === undefined) return undefined
  const wait = goDuration(duration)
  if (wait === undefined)
    throw new SyntaxError(`failed to parse duration ${given}: time: invalid duration ${JSON.stringify(duration)}`)
  return Math.max(1, Math.floor(wait / 1000)) * 1000
}

interface Field {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const dayOfWeek: Field = { min: 0, max: 6, names: weekdays }
const cronFields: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  dayOfWeek,
]

/**
 * Expands each field to a list of values, or to `*` for any value. The two dialects differ only in the syntax of
 * ranges, and both read such lists in the same way.
 */
function valuesOf(fields: string, dialect: CronDialect): string {
  const parts = fields.split(/\s+/)
  if (parts.length !== cronFields.length)
    throw new SyntaxError(`expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`)
  return parts.map((part, index) => fieldValues(part, cronFields[index]!, dialect)).join(' ')
}

function fieldValues(text: string, field: Field, dialect: CronDialect): string {
  const values = new Set<number>()
  let isAny = false
  // The library skips empty ranges.
  const ranges = text.split(',').filter((range) => range !== '' || dialect.reads === 'crontab')
  if (ranges.length === 0) throw new SyntaxError(`no value in ${text}`)
  for (const range of ranges) {
    const { start, end, step, any } = rangeOf(range, field, dialect)
    isAny ||= any
    for (let value = start; value <= end; value += step) values.add(field === dayOfWeek ? value % 7 : value)
  }
  return isAny ? '*' : [...values].sort((one, other) => one - other).join(',')
}

/**
 * Returns the bounds and the step of a range. `any` is true for `*`. A list of all values is not the same as `*`: if
 * one of the two day fields is `*`, a day must match both fields. Otherwise, a day must match only one of them.
 */
function rangeOf(text: string, field: Field, { reads }: CronDialect) {
  const refuse = (reason: string): SyntaxError => new SyntaxError(`${reason}: ${text}`)
  const max = field === dayOfWeek && reads !== 'go' ? 7 : field.max
  const [range = '', stepText, ...slashes] = text.split('/')
  const [low = '', high, ...hyphens] = range.split('-')
  const isStar = low === '*' || low === '?'
  if (hyphens.length > 0) throw refuse('too many hyphens')
  if (slashes.length > 0) throw refuse('too many slashes')
  const step = stepText === undefined ? 1 : integerOf(stepText)
  const start = isStar ? field.min : fieldValue(low, field)
  if (high === undefined && stepText !== undefined && !isStar && reads === 'crontab')
    throw refuse('a step needs a range')
  const end = isStar || (high === undefined && stepText !== undefined) ? field.max : fieldValue(high ?? low, field)
  if (start < field.min) throw refuse(`beginning of range (${start}) below minimum (${field.min})`)
  if (end > max) throw refuse(`end of range (${end}) above maximum (${max})`)
  if (start > end) throw refuse(`beginning of range (${start}) beyond end of range (${end})`)
  if (step === 0) throw refuse('step of range should be a positive number')
  return { start, end, step, any: isStar && step === 1 }
}

function fieldValue(text: string, { min, names = [] }: Field): number {
  const named = names.indexOf(text.toLowerCase())
  return named < 0 ? integerOf(text) : named + min
}

function integerOf(text: string): number {
  if (/^-\d+$/.test(text)) throw new SyntaxError(`negative number (${text}) not allowed: ${text}`)
  // Parses as Go's `Atoi` does. A number that is too large is rejected later, as outside the range of its field.
  if (/^\+?\d+$/.test(text)) return Number(text)
  throw new SyntaxError(
    `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
  )
}

/** Creates a CronExpression. @throws SyntaxError */
export function parseCron(text: string, dialect?: CronDialect): CronExpression {
  return new CronExpression(text, dialect)
}
