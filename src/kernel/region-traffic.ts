import type { Account } from './account.js'
import { type Entry, type EntryBase, type EntryBody, type EntryOf, type EntryType, TrafficLog } from './traffic-log.js'

/**
 * Types of entries that the queue and the workflows of a region write. Entries of all other types belong to both
 * regions.
 */
const regional: ReadonlySet<EntryType> = new Set([
  'published',
  'attempt',
  'message',
  'dead-letter',
  'bulk-action',
  'workflow',
  'step',
  'wait',
  'notify',
  'invoke',
  'setting',
  'flow-control',
])

/**
 * Returns whether an entry belongs to the log of a region.
 * @param region name of the region; `undefined` for the home region
 */
export function isOfRegion(entry: Entry, region: string | undefined): boolean {
  return entry.region === region || (entry.region === undefined && !regional.has(entry.type))
}

/** Returns whether the type of an entry belongs to one region only. */
export function isRegional({ type }: Entry): boolean {
  return regional.has(type)
}

/**
 * The traffic log of one of two regions: entries of this region, and entries that belong to both regions.
 * All regions share one sequence of numbers. Entries of the home region have no `region`.
 */
export class RegionTraffic extends TrafficLog {
  readonly #log: TrafficLog
  readonly #region: string | undefined

  constructor(log: TrafficLog, region: string | undefined) {
    super({ now: () => 0 }, log.keeps ? {} : 0)
    this.#log = log
    this.#region = region
  }

  override share(part: number): Account {
    return this.#log.share(part)
  }

  override append<B extends EntryBody>(body: B, cause?: number): EntryBase & B {
    return this.#log.append(this.#stamped(body), cause)
  }

  override adopt<E extends EntryBody & { seq: number; at: number; cause?: number }>(entry: E, cause?: number): void {
    if (this.#region !== undefined) Object.assign(entry, { region: this.#region })
    this.#log.adopt(entry, cause)
  }

  #stamped<B extends EntryBody>(body: B): B {
    return this.#region === undefined ? body : { ...body, region: this.#region }
  }

  override complete(...given: Parameters<TrafficLog['complete']>): void {
    this.#log.complete(...given)
  }

  override get entries(): readonly Entry[] {
    return this.#own(this.#log.entries)
  }

  override get size(): number {
    return this.entries.length
  }

  override get dropped(): number {
    return this.#log.dropped
  }

  override get latest(): number {
    return this.#log.latest
  }

  override ofType<T extends EntryType>(type: T): readonly EntryOf<T>[] {
    return this.#own(this.#log.ofType(type) as readonly Entry[]) as readonly EntryOf<T>[]
  }

  override forMessage(messageId: string): readonly Entry[] {
    return this.#own(this.#log.forMessage(messageId))
  }

  override get(seq: number): Entry | undefined {
    const entry = this.#log.get(seq)
    return entry !== undefined && isOfRegion(entry, this.#region) ? entry : undefined
  }

  override after(seq: number): readonly Entry[] {
    return this.#own(this.#log.after(seq))
  }

  override hide(seq: number): void {
    this.#log.hide(seq)
  }

  override subscribe(listener: (entry: Entry) => void, types?: readonly EntryType[]): () => void {
    return this.#log.subscribe((entry) => isOfRegion(entry, this.#region) && listener(entry), types)
  }

  override clear(): void {
    this.#log.clear()
  }

  #own(entries: readonly Entry[]): readonly Entry[] {
    return entries.filter((entry) => isOfRegion(entry, this.#region))
  }
}
