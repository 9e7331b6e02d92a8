import { refusal } from './search-errors.js'

/** Buckets of one command at all levels, filled or not. [a guard of ours] */
export const maxBuckets = 65_000

/** Counts the buckets of one command before they are made: empty ones, which cost no look at a document, as well. */
export class BucketCount {
  #count = 0

  add(count: number): void {
    this.#count += count
    if (!(this.#count <= maxBuckets))
      throw refusal(`Aggregations would create more than ${maxBuckets} buckets together`)
  }
}
