import type { Tenants } from '../tenants.js'
import { fileOf, type Lock } from './lock.js'
import { readState, type ServerState } from './state-file.js'
import { lockState, restore } from './state-lock.js'
import { StateWriter } from './state-writer.js'

/** A locked state file. */
export interface OpenStateFile {
  readonly lock: Lock
  /** Returns the content of the file. @throws StateFileError for a damaged or unsupported file */
  read(): ServerState
  /** Loads the content into tenants. @param rebaseTime whether times after the present are moved back */
  restore(state: ServerState, tenants: Tenants, rebaseTime: boolean): void
  /** Saves the tenants from now on. */
  keep(tenants: Tenants, report: (text: string) => void): StateWriter
}

/**
 * Locks a state file.
 * @throws StateFileError if another server has locked the file, or if the file cannot be locked
 */
export async function openState(path: string): Promise<OpenStateFile> {
  const file = fileOf(path)
  return {
    lock: await lockState(file),
    read: () => readState(file),
    restore(state, tenants, rebaseTime) {
      for (const [tenant, dump] of Object.entries(state)) restore(tenants, file, tenant, dump, rebaseTime)
    },
    keep: (tenants, report) => new StateWriter(file, tenants, report),
  }
}
