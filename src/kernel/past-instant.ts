import { checkOptionNames } from './nearest-name.js'

/**
 * @throws TypeError when a plain object has fields other than `seq`. Dates have a class, and journal positions have
 * more fields.
 */
export function checkPastInstant(given: unknown): void {
  if (typeof given !== 'object' || given === null || 'world' in given) return
  if (Object.getPrototypeOf(given) === Object.prototype) checkOptionNames('a past instant', given, ['seq'])
}
