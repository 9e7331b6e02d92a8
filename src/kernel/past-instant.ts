import { checkOptionNames } from './nearest-name.js'

/** @throws TypeError for an object that is not `{ seq }`: a date is made by a class, and a point of a journal has more fields */
export function checkPastInstant(given: unknown): void {
  if (typeof given !== 'object' || given === null || 'world' in given) return
  if (Object.getPrototypeOf(given) === Object.prototype) checkOptionNames('An instant { seq }', given, ['seq'])
}
