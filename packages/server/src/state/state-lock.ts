import type { SandboxDump } from '../../../../src/sandbox/sandbox-dump.js'
import type { Tenants } from '../tenants.js'
import { type Lock, lockFile } from './lock.js'
import { StateFileError, unusable } from './state-file.js'

/**
 * Locks a state file.
 * @throws StateFileError if another server has locked the file, or if the file cannot be locked
 */
export async function lockState(file: string): Promise<Lock> {
  const lock = await lockFile(file).catch((error: Error) => {
    throw new StateFileError(`--state ${file} cannot be locked: ${error.message}.`)
  })
  if (lock !== undefined) return lock
  throw new StateFileError(
    `--state ${file} is used by another server on this machine. Stop that server, or use another file with --state.`,
  )
}

export function restore(tenants: Tenants, file: string, tenant: string, dump: SandboxDump, shift: boolean): void {
  try {
    tenants.restore(tenant, dump, { rebaseTime: shift })
  } catch (error) {
    throw error instanceof TypeError || error instanceof RangeError ? unusable(file, tenant, error) : error
  }
}
