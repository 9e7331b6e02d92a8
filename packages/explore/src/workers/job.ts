import type { CampaignOptions, IndexTask } from '../campaign/index-space.js'

/** The task of a worker. */
export interface WorkerJob {
  /** URL of the campaign's file. */
  readonly file: string
  readonly given: CampaignOptions
  readonly task: Exclude<IndexTask, { do: 'attempt' }> | Omit<Extract<IndexTask, { do: 'attempt' }>, 'ended'>
  /** Shared memory that shows the progress of a worker whose event loop is blocked. */
  readonly slot: Int32Array
}

/** Indexes of the values in a slot. */
export const slotOf = { runs: 0, failed: 1, thread: 2 } as const

export function newSlot(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
}
