import type { CampaignOptions, IndexTask } from '../campaign/index-space.js'

/** What a worker is told to do. */
export interface WorkerJob {
  /** Url of the campaign's file. */
  readonly file: string
  readonly given: CampaignOptions
  readonly task: Exclude<IndexTask, { do: 'attempt' }> | Omit<Extract<IndexTask, { do: 'attempt' }>, 'ended'>
  /** Shared, so that progress is seen of a worker that never lets go. */
  readonly slot: Int32Array
}

/** What is where in a slot. */
export const slotOf = { runs: 0, failed: 1, thread: 2 } as const

export function newSlot(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
}
