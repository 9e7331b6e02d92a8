import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ownFolder, UsageError } from '@stuntdouble/command-line'
import { didYouMean } from '../../../../src/kernel/nearest-name.js'

/** Returns the folder with the shipped scenarios. The build copies them into the package. */
function directory(): string {
  const source = join(ownFolder(), 'packages/server/scenarios')
  return existsSync(source) ? source : join(ownFolder(), 'dist/scenarios')
}

export function shippedScenarios(): readonly string[] {
  return readdirSync(directory())
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort()
}

/**
 * Returns the scenario file for an argument: a path, `-` for standard input, or the name of a shipped scenario.
 * @throws UsageError for any other argument; the message suggests the nearest name
 */
export function scenarioFile(given: string): string {
  if (given === '-' || /[./\\]/.test(given) || existsSync(given)) return given
  const names = shippedScenarios()
  if (names.includes(given)) return join(directory(), `${given}.yaml`)
  throw new UsageError(
    `${JSON.stringify(given)} is neither a file nor a shipped scenario.${didYouMean(given, names)} Shipped scenarios: ${names.join(', ')}.`,
  )
}
