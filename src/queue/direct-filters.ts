import { type Instant, instant } from '../kernel/instant.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { shownValue } from '../kernel/shown-value.js'

/** Accepted values of a filter: one text or several. A record matches if it has one of them. */
export type FilterValue = string | readonly string[]

/** Filters that messages and workflow runs have in common. */
export interface CommonFilter {
  /** Host of the URL, with or without its port. */
  readonly host?: FilterValue
  /** Path of the URL. */
  readonly path?: FilterValue
  /** A label. */
  readonly label?: FilterValue
  /** Flow-control key. */
  readonly flowControlKey?: FilterValue
  /** IP address of the client that published the message or triggered the run. */
  readonly callerIp?: FilterValue
  /** First instant of creation that matches. */
  readonly fromDate?: Instant
  /** Last instant of creation that matches. */
  readonly toDate?: Instant
}

/**
 * Filters of `queue.cancelMessages()`. A message must match all filters. Without a filter, every message matches.
 */
export interface MessageFilter extends CommonFilter {
  /** URL of the destination. */
  readonly url?: FilterValue
  /** Name of the URL group to which the message was published. */
  readonly urlGroup?: FilterValue
  /** Name of the FIFO queue. */
  readonly queueName?: FilterValue
  /** ID of the schedule that published the message. */
  readonly scheduleId?: FilterValue
}

export const commonFilterNames: Readonly<Record<keyof CommonFilter, true>> = {
  host: true,
  path: true,
  label: true,
  flowControlKey: true,
  callerIp: true,
  fromDate: true,
  toDate: true,
}

export const messageFilterNames: Readonly<Record<keyof MessageFilter, true>> = {
  ...commonFilterNames,
  url: true,
  urlGroup: true,
  queueName: true,
  scheduleId: true,
}

/**
 * Converts the filters of a direct call to query parameters.
 * @param called name of the method, for error messages
 * @throws TypeError when a filter is unknown or has no value, because the call would then cancel too much
 */
export function filterQuery(
  called: string,
  filter: object,
  names: Readonly<Record<string, true>>,
): Map<string, readonly string[]> {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
    throw new TypeError(
      `${called}: the argument must be an object of filters such as { label: 'a' } (got ${shownValue(filter)}).`,
    )
  checkOptionNames(called, filter, names)
  return new Map(Object.entries(filter).map(([name, value]) => [name, valuesOf(called, name, value)]))
}

function valuesOf(called: string, name: string, value: unknown): readonly string[] {
  if (name === 'fromDate' || name === 'toDate') return [String(Math.floor(instant(value as Instant)))]
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (values.length > 0 && values.every((one) => typeof one === 'string' && one !== '')) return values as string[]
  throw new TypeError(
    `${called}: ${name} must be a text or a list of texts, and not empty (got ${shownValue(value)}). Omit ${name} to match every value.`,
  )
}
