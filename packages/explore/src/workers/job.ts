import type { CampaignOptions, IndexTask } from '../campaign/index-space.js'

export interface WorkerJob {
  /** File URL of the campaign. */
  readonly file: string
  readonly given: CampaignOptions
  readonly task: Exclude<IndexTask, { do: 'attempt' }> | Omit<Extract<IndexTask, { do: 'attempt' }>, 'ended'>
  /**
   * Shared memory in which the worker counts its progress. It can be read even while the worker's event loop is
   * blocked.
   */
  readonly slot: Int32Array
}

/** Indexes of the values in the shared memory of a job. */
export const slotOf = { runs: 0, failed: 1, thread: 2 } as const

export function newSlot(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
}
