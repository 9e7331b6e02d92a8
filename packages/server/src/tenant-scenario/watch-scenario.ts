import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { UsageError } from '@stuntdouble/command-line'
import { plural } from '../../../../src/kernel/plural.js'
import { consoleText, plainText } from '../../../../src/report/safe-text.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import type { StuntdoubleServer } from '../server.js'
import { readText } from '../text-file.js'
import { readScenario } from './scenario-file.js'

/**
 * Time in which several changes of a file count as one, in milliseconds of host time. Editors write a file in several
 * steps.
 */
const settled = 50

/** Reads a scenario from a file. @throws UsageError when it is invalid */
export async function scenarioOf(file: string): Promise<Scenario> {
  return readScenario(await readText(file), file === '-' ? 'stdin' : file)
}

/** Summarizes a scenario: `checkout outage: 2 faults, 1 destination`. */
export function summaryOf({ name, faults = [], destinations = [] }: Scenario): string {
  return `${plainText(name)}: ${plural(faults.length, 'fault')}, ${plural(destinations.length, 'destination')}`
}

/**
 * Reloads a scenario when its file changes, and prints a summary. If the file is invalid, the error is printed, and the
 * previous scenario stays active. The directory is watched, because editors replace the file.
 */
export function watchScenario(file: string, server: Pick<StuntdoubleServer, 'setScenario'>): FSWatcher {
  const path = resolve(file)
  let timer: ReturnType<typeof setTimeout> | undefined
  const watcher = watch(dirname(path), (_, changed) => {
    if (changed !== null && changed !== basename(path)) return
    clearTimeout(timer)
    timer = setTimeout(() => void reload(file, server), settled)
  })
  return watcher
}

async function reload(file: string, server: Pick<StuntdoubleServer, 'setScenario'>): Promise<void> {
  try {
    const scenario = await scenarioOf(file)
    const tenants = server.setScenario(scenario)
    console.log(`scenario  ${summaryOf(scenario)}, now in ${plural(tenants, 'tenant')}`)
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof TypeError)) throw error
    console.error(`stuntdouble: ${consoleText(error.message)}\nThe previous scenario stays active.`)
  }
}
