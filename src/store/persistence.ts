/** When a store was saved, as LASTSAVE and INFO show it: everything is in memory. */
export class Persistence {
  saves = 0
  rewrites = 0

  /** @param savedAt the beginning counts as saved, as the start of a redis-server does */
  constructor(public savedAt: number) {}

  save(now: number): void {
    this.saves++
    this.savedAt = now
  }
}
