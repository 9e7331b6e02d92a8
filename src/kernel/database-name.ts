import { didYouMean } from './nearest-name.js'
import { shownValue } from './shown-value.js'

/**
 * Returns the name of an added database.
 * @param names names that the option `databases` contains
 * @throws RangeError when there is no such database
 */
export function checkedDatabase(given: unknown, names: readonly string[]): string {
  const found = names.find((name) => name === given)
  if (found !== undefined) return found
  if (names.length === 0) {
    throw new RangeError(
      `There is no database ${shownValue(given)}. Pass the option databases: ['us'] to createSandbox() to add databases.`,
    )
  }
  throw new RangeError(
    `There is no database ${shownValue(given)}.${didYouMean(given, names)} The added databases are ${names.join(', ')}.`,
  )
}
