import { refusal } from './search-errors.js'

/** Maximum buckets of one command at all levels, including empty ones. [a limit of this package] */
export const maxBuckets = 65_000

/**
 * Counts the buckets of one command before they are created. Empty buckets also count, although no document is read for
 * them.
 */
export class BucketCount {
  #count = 0

  add(count: number): void {
    this.#count += count
    if (!(this.#count <= maxBuckets))
      throw refusal(`The aggregations of this command would create more than ${maxBuckets} buckets`)
  }
}
