import { checkOptionNames } from './nearest-name.js'

/** @throws TypeError for an object that is neither a Date nor `{ seq }` */
export function checkPastInstant(given: unknown): void {
  if (typeof given !== 'object' || given === null || given instanceof Date || 'world' in given) return
  checkOptionNames('An instant { seq }', given, ['seq'])
}
