import { checkOptionNames } from './nearest-name.js'

/**
 * Checks an object such as `{ seq: 17 }`, which names a past instant. Does not check other forms of instants, such as a
 * `Date` or a journal position.
 * @throws TypeError when the object has fields other than `seq`
 */
export function checkPastInstant(given: unknown): void {
  if (typeof given !== 'object' || given === null || 'world' in given) return
  if (Object.getPrototypeOf(given) === Object.prototype) checkOptionNames('a past instant', given, ['seq'])
}
