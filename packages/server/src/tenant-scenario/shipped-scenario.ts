import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ownFolder, UsageError } from '@stuntdouble/command-line'
import { didYouMean } from '../../../../src/kernel/nearest-name.js'

/** The scenarios that come with the package; the build copies them. */
function directory(): string {
  const source = join(ownFolder(), 'packages/server/scenarios')
  return existsSync(source) ? source : join(ownFolder(), 'dist/scenarios')
}

/** Their names, which stand for their files. */
export function shippedScenarios(): readonly string[] {
  return readdirSync(directory())
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort()
}

/**
 * The file that a word of a command means: a file, the standard input, or a shipped scenario.
 * @throws UsageError with the nearest name for a bare word that is neither
 */
export function scenarioFile(given: string): string {
  if (given === '-' || /[./\\]/.test(given) || existsSync(given)) return given
  const names = shippedScenarios()
  if (names.includes(given)) return join(directory(), `${given}.yaml`)
  throw new UsageError(
    `There is neither a file nor a shipped scenario ${JSON.stringify(given)}.${didYouMean(given, names)} Shipped are ${names.join(', ')}.`,
  )
}
