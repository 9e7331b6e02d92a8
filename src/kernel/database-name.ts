import { didYouMean } from './nearest-name.js'
import { shownValue } from './shown-value.js'

/** Hint for the message about an unknown database of a sandbox that has no added databases. */
export const inProgram = "Pass the option databases: ['us'] to createSandbox() to add databases."
/** Hint for the message about an unknown database of a tenant that has no added databases. */
export const onServer =
  "Start the server with --databases us (in a program: startServer({ databases: ['us'] })) to add databases."

/**
 * Returns the name of an added database.
 * @param names names that the option `databases` contains
 * @param hint end of the message if there are no added databases: how to add some
 * @throws RangeError when there is no such database
 */
export function checkedDatabase(given: unknown, names: readonly string[], hint: string = inProgram): string {
  const found = names.find((name) => name === given)
  if (found !== undefined) return found
  throw new RangeError(unknownDatabase(given, names, hint))
}

/** Returns the message about an unknown database, with the nearest name. */
export function unknownDatabase(given: unknown, names: readonly string[], hint: string): string {
  const unknown = `There is no database ${shownValue(given)}.`
  if (names.length === 0) return `${unknown} ${hint}`
  return `${unknown}${didYouMean(given, names)} The added databases are ${names.join(', ')}.`
}
