import { shownValue } from '../kernel/shown-value.js'

/**
 * Returns the filters of a bulk cancel for the server, which checks them.
 * @throws TypeError when `filter` is not an object, or for a filter that is `undefined`: JSON would omit it, and the
 * server would cancel too much
 */
export function sentFilter(called: string, filter: object): Readonly<Record<string, unknown>> {
  if (typeof filter !== 'object' || filter === null)
    throw new TypeError(
      `${called}: the argument must be an object of filters such as { label: 'a' } (got ${shownValue(filter)}).`,
    )
  const missing = Object.entries(filter).find(([, value]) => value === undefined)
  if (missing === undefined) return { filter }
  throw new TypeError(
    `${called}: ${missing[0]} must be a text or a list of texts, and not empty (got undefined). Omit ${missing[0]} to match every value.`,
  )
}
