import { existsSync, readFileSync } from 'node:fs'
import type { Runtime } from './runtimes.ts'

/** What the suite did in one runtime. There is no date, so that the same run writes the same file. */
export interface Result {
  /** Versions of the packages that the table lists. */
  readonly versions: Readonly<Record<string, string>>
  readonly passed: number
  /** Names of the tests that the runtime cannot run. */
  readonly skipped: readonly string[]
  /** Whether the trace has the same bytes as that of the first runtime. */
  readonly trace: 'equal' | 'different'
}

/** Results by the name of the runtime. */
export type Results = Readonly<Record<string, Result>>

export const resultsFile = new URL('results.json', import.meta.url)

export function readResults(): Results {
  return existsSync(resultsFile) ? (JSON.parse(readFileSync(resultsFile, 'utf8')) as Results) : {}
}

/** Returns the versions of a runtime in its lock file. */
export function versionsOf({ folder, packages }: Runtime): Readonly<Record<string, string>> {
  const text = readFileSync(new URL(`${folder}/package-lock.json`, import.meta.url), 'utf8')
  const lock = JSON.parse(text) as { packages: Readonly<Record<string, { readonly version: string }>> }
  return Object.fromEntries(packages.map((name) => [name, lock.packages[`node_modules/${name}`]!.version]))
}
