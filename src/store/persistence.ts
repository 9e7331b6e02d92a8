/**
 * Times and counts of saves, as LASTSAVE and INFO show them. No data is written, because the store exists only in
 * memory.
 */
export class Persistence {
  saves = 0
  rewrites = 0

  /** @param savedAt the time of the last save. As in redis-server, the start counts as a save. */
  constructor(public savedAt: number) {}

  save(now: number): void {
    this.saves++
    this.savedAt = now
  }
}
