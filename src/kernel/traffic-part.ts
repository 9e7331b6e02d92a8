import type { Account } from './account.js'
import { type Entry, type EntryBase, type EntryBody, type EntryOf, type EntryType, TrafficLog } from './traffic-log.js'

/**
 * A part of a traffic log, as a log of its own: the entries that belong to it. Entries that are added to it get its
 * stamp. All parts of a log share one sequence of numbers.
 */
export abstract class TrafficPart extends TrafficLog {
  readonly #log: TrafficLog

  constructor(log: TrafficLog) {
    super({ now: () => 0 }, log.keeps ? {} : 0)
    this.#log = log
  }

  /** Returns whether an entry of the whole log belongs to this part. */
  protected abstract has(entry: Entry): boolean
  /** Fields that every entry gets that is added to this part. */
  protected abstract readonly stamp: Pick<EntryBase, 'region' | 'database'>

  override share(part: number): Account {
    return this.#log.share(part)
  }

  override append<B extends EntryBody>(body: B, cause?: number): EntryBase & B {
    return this.#log.append({ ...body, ...this.stamp }, cause)
  }

  override adopt<E extends EntryBody & { seq: number; at: number; cause?: number }>(entry: E, cause?: number): void {
    this.#log.adopt(Object.assign(entry, this.stamp), cause)
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
    return entry !== undefined && this.has(entry) ? entry : undefined
  }

  override after(seq: number): readonly Entry[] {
    return this.#own(this.#log.after(seq))
  }

  override hide(seq: number): void {
    this.#log.hide(seq)
  }

  override subscribe(listener: (entry: Entry) => void, types?: readonly EntryType[]): () => void {
    return this.#log.subscribe((entry) => this.has(entry) && listener(entry), types)
  }

  override forgetOlderHalf(): void {
    this.#log.forgetOlderHalf()
  }

  override clear(): void {
    this.#log.clear()
  }

  #own(entries: readonly Entry[]): readonly Entry[] {
    return entries.filter((entry) => this.has(entry))
  }
}
