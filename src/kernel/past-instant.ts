import { checkOptionNames } from './nearest-name.js'

/**
 * Checks the fields of a plain object that names a past instant. A `Date` and a journal position are not plain objects.
 * @throws TypeError when the object has fields other than `seq`
 */
export function checkPastInstant(given: unknown): void {
  if (typeof given !== 'object' || given === null || 'world' in given) return
  if (Object.getPrototypeOf(given) === Object.prototype) checkOptionNames('a past instant', given, ['seq'])
}
