import { checkOptionNames, didYouMean } from '../kernel/nearest-name.js'
import { plural } from '../kernel/plural.js'
import { isRegional } from '../kernel/region-traffic.js'
import { shownValue } from '../kernel/shown-value.js'
import type { Entry } from '../kernel/traffic-log.js'
import type { EntryWording } from './describe.js'
import { type Nesting, nestingOf } from './nesting.js'
import { Redaction, standardRedaction } from './redaction.js'
import { plainText } from './safe-text.js'
import { shortNames } from './short-names.js'
import { dateOf, since, timeOf } from './shown-times.js'
import { type RenderContext, TimelineWriter } from './timeline-writer.js'

/** Options of `traffic.timeline()`. */
export interface TimelineOptions {
  /** Number of bytes of a body that are shown, 0 for none. Default: 80. */
  readonly bodies?: number
  /**
   * Form of message IDs. `full`: complete IDs. `short` (default): as many characters as are needed to distinguish the
   * IDs.
   */
  readonly ids?: 'short' | 'full'
  /**
   * Whether to show keyspace events that only repeat the effect of a command. Default: `false`, which shows only
   * `expired` and `evicted`.
   */
  readonly keyspace?: boolean
  /** Maximum number of entries. If there are more, the last ones are shown. Default: no limit. */
  readonly limit?: number
  /** Additional names of JSON fields and query parameters that contain secrets. `body` hides all bodies. */
  readonly redact?: readonly string[]
  /**
   * `seq` of an entry that must be shown in spite of `limit`. If there are enough later entries, this entry is near the
   * middle of the shown range.
   */
  readonly around?: number
}

/** @throws TypeError when the value of an option is invalid */
function checkValues({ ids, ...numbers }: TimelineOptions): void {
  for (const name of ['bodies', 'limit', 'around'] as const) {
    const number: unknown = numbers[name]
    if (number === undefined || (typeof number === 'number' && number >= 0)) continue
    throw new TypeError(`timeline(): ${name} must be 0 or a positive number (got ${shownValue(number)}).`)
  }
  if (ids === undefined || ids === 'short' || ids === 'full') return
  throw new TypeError(
    `timeline(): ids must be 'short' or 'full' (got ${shownValue(ids)}).${didYouMean(ids, ['short', 'full'])}`,
  )
}

const deepest = 8
const optionNames: Readonly<Record<keyof TimelineOptions, true>> = {
  bodies: true,
  ids: true,
  keyspace: true,
  limit: true,
  redact: true,
  around: true,
}

/**
 * Returns entries as a numbered text in virtual time.
 * An entry is indented below its cause. An entry that a handler created is indented below its delivery. Every wait has
 * its reason and its end. The same entries always give the same bytes.
 * @throws TypeError with the nearest name when an option is unknown, or when a value is invalid
 * @example
 * 2030-01-01
 *   #1  09:00:00.000        POST https://queue.test/v2/publish/https://shop.test/orders → 201
 *   #2  09:00:00.000          published msg_2Kd… to https://shop.test/orders, 3 retries
 *   #3  09:00:00.000            attempt 1 of 4 of msg_2Kd… to https://shop.test/orders → 500 Internal Server Error
 *                                 waits 12s until 09:00:12.000: default back-off
 *   #4  09:00:12.000  +12s      attempt 2 of 4 of msg_2Kd… to https://shop.test/orders → 200
 */
export function timeline(
  all: readonly Entry[],
  options: TimelineOptions = {},
  redaction: Redaction = options.redact === undefined ? standardRedaction : new Redaction(options),
  known: RenderContext = {},
): string {
  checkOptionNames('timeline()', options, Object.keys(optionNames))
  checkValues(options)
  const { choice } = known
  const entries = choice ? all : all.filter((entry, index) => isNews(entry, all[index - 1], options.keyspace === true))
  if (entries.length === 0) return '(no traffic)'
  const [from, to] = windowOf(entries, options)
  const shown = entries.slice(from, to)
  const wording: EntryWording = {
    bodies: options.bodies ?? 80,
    name: options.ids === 'full' ? plainText : (known.name ?? shortNames(entries)),
    redaction,
  }
  const telling = new TimelineWriter(entries, wording, known)
  const depths = depthsOf(entries, telling.nesting)
  const isApart = areTwoRegions(all)
  const numberWidth = String(shown.at(-1)!.seq).length + 1
  const gaps = shown.map((entry, index) =>
    index > 0 && entry.at > shown[index - 1]!.at ? since(shown[index - 1]!.at, entry.at) : '',
  )
  const gapWidth = gaps.reduce((widest, gap) => Math.max(widest, gap.length), 4)
  const margin = ' '.repeat(2 + numberWidth + 2 + 12 + 2 + gapWidth + 2)
  const lines: string[] = []
  if (from > 0) lines.push(`(${plural(from, 'earlier entry', 'earlier entries')} not shown)`)
  let date = ''
  shown.forEach((entry, index) => {
    if (dateOf(entry.at) !== date) {
      date = dateOf(entry.at)
      lines.push(date)
    }
    const leftOut = choice?.leftOut.get(entry.seq)
    if (leftOut !== undefined) lines.push(`  … ${plural(leftOut, 'entry', 'entries')} left out`)
    const indent = '  '.repeat(Math.min(depths.get(entry.seq)!, deepest))
    const { head, details } = telling.report(entry, choice?.isBrief(entry))
    const number = `#${entry.seq}`.padStart(numberWidth)
    lines.push(
      `  ${number}  ${timeOf(entry.at)}  ${gaps[index]!.padEnd(gapWidth)}  ${indent}${head}${placeOf(entry, isApart)}`,
    )
    for (const detail of details) lines.push(`${margin}${indent}  ${detail}`)
  })
  const later = entries.length - to
  if (later > 0) lines.push(`(${plural(later, 'later entry', 'later entries')} not shown)`)
  return lines.join('\n')
}

/**
 * Returns the region or the added database of an entry, in parentheses.
 * @param isApart whether there are entries of queues in both regions
 */
function placeOf({ region, database }: Entry, isApart: boolean): string {
  if (database !== undefined) return ` (${plainText(database)})`
  return isApart && region ? ` (${plainText(region)})` : ''
}

/** Returns whether there are entries of queues in both regions. Otherwise, the timeline does not show regions. */
function areTwoRegions(entries: readonly Entry[]): boolean {
  return entries.some(({ region }) => region !== undefined) && entries.some((one) => !one.region && isRegional(one))
}

/** Returns whether an entry adds information. For example, a keyspace entry usually repeats the effect of a command. */
export function isNews(entry: Entry, before: Entry | undefined, keyspace: boolean): boolean {
  switch (entry.type) {
    case 'keyspace':
      return keyspace || entry.event === 'expired' || entry.event === 'evicted'
    case 'message':
      return !(
        entry.state === 'WAITING' &&
        before?.type === 'flow-control' &&
        before.decision === 'held' &&
        before.messageId === entry.messageId
      )
    case 'clock':
      return entry.to !== entry.at || entry.endedAfterSeq !== entry.seq
    default:
      return true
  }
}

function windowOf(entries: readonly Entry[], options: TimelineOptions): [from: number, to: number] {
  const limit = Math.max(1, options.limit ?? entries.length)
  if (entries.length <= limit) return [0, entries.length]
  const { around } = options
  const found = around === undefined ? -1 : entries.findIndex((entry) => entry.seq >= around)
  if (found === -1 || found >= entries.length - limit) return [entries.length - limit, entries.length]
  const from = Math.max(0, found - Math.floor(limit / 2))
  return [from, from + limit]
}

/**
 * Returns the level of each entry, which is the number of causes above it. A cause counts only if it is in the list.
 * Each attempt of a message results from the previous attempt, but all attempts have the same level.
 */
export function depthsOf(
  entries: readonly Entry[],
  nesting: Nesting = nestingOf(entries),
): ReadonlyMap<number, number> {
  const depths = new Map<number, number>()
  const attempts = new Map<number, string>()
  for (const entry of entries) {
    const cause = nesting.above(entry)
    const above = cause === undefined ? undefined : depths.get(cause)
    const isTurn = entry.type === 'attempt' || entry.type === 'message'
    const follows = isTurn && cause !== undefined && attempts.get(cause) === entry.messageId
    depths.set(entry.seq, above === undefined ? 0 : follows ? above : above + 1)
    if (isTurn) attempts.set(entry.seq, entry.messageId)
  }
  return depths
}
