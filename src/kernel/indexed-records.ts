/** A record of an ordered collection. It can be removed from any position. */
export interface IndexedRecord {
  /** Sequence number. Each new record of a collection has a number that is higher by one. */
  readonly seq: number
  /** Virtual time at which the record was added. Later records never have an earlier time. */
  readonly createdAt: number
  /** Whether the record was removed from its collection. */
  gone: boolean
}

/**
 * Reads one field of a record: one value, several values or none. The index of that field lists the record under each
 * value.
 */
export type RecordField<T> = (record: T) => string | readonly string[] | undefined

/**
 * Accepted values of each field. A record matches if each field in this map has one of its accepted values. So the
 * values of a field are combined with OR, and the fields with AND. [queue.md 1.1]
 */
export type Filters = ReadonlyMap<string, ReadonlySet<string>>

export interface RecordQuery<T> {
  readonly filters?: Filters
  /** First instant of the range, in milliseconds. `to` is the last instant. The range includes both. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly order?: 'earliestFirst' | 'latestFirst'
  readonly after?: number | undefined
  readonly count?: number | undefined
  /** Condition that is tested on each record, without an index. */
  readonly only?: (record: T) => boolean
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Cursor of the next page; absent on the last page. */
  readonly cursor?: string
}

/** A list ordered by `seq`. A removed record leaves a hole, and the list is compacted when most positions are holes. */
class Shelf<T extends IndexedRecord> {
  items: T[] = []
  start = 0
  holes = 0

  add(record: T): void {
    this.items.push(record)
  }

  /** Counts the hole that a removed record leaves. Called after each removal. */
  lost(): void {
    this.holes++
    const { items } = this
    while (this.start < items.length && items[this.start]!.gone) {
      this.start++
      this.holes--
    }
    const dead = this.start + this.holes
    if (dead > 32 && dead * 2 > items.length) {
      // Usually the oldest records are removed. A slice copies the others without reading them.
      this.items = this.holes === 0 ? items.slice(this.start) : items.filter((record) => !record.gone)
      this.start = 0
      this.holes = 0
    }
  }

  get size(): number {
    return this.items.length - this.start - this.holes
  }

  /**
   * Returns the position of the first record for which `fulfilled` returns true. The search is binary, so `fulfilled`
   * must return true for all later records as well.
   */
  seek(fulfilled: (record: T) => boolean): number {
    let low = this.start
    let high = this.items.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (fulfilled(this.items[middle]!)) high = middle
      else low = middle + 1
    }
    return low
  }
}

/**
 * Records in order, with an index for each field that was ever queried.
 * The first query builds an index, which is then kept up to date. A collection without queries costs nothing extra.
 */
export class Records<T extends IndexedRecord> {
  readonly #fields: Readonly<Record<string, RecordField<T>>>
  readonly #all = new Shelf<T>()
  readonly #indexes = new Map<string, Map<string, Shelf<T>>>()

  constructor(fields: Readonly<Record<string, RecordField<T>>>) {
    this.#fields = fields
  }

  get size(): number {
    return this.#all.size
  }

  first(): T | undefined {
    return this.#all.items[this.#all.start]
  }

  add(record: T): void {
    this.#all.add(record)
    if (this.#indexes.size === 0) return
    for (const [name, index] of this.#indexes) put(index, this.#fields[name]!(record), record)
  }

  delete(record: T): void {
    if (record.gone) return
    record.gone = true
    this.#all.lost()
    if (this.#indexes.size === 0) return
    for (const [name, index] of this.#indexes) {
      for (const value of valuesOf(this.#fields[name]!(record))) {
        const shelf = index.get(value)
        if (shelf === undefined) continue
        shelf.lost()
        if (shelf.size === 0) index.delete(value)
      }
    }
  }

  /** Returns a page of records. A cursor is the number of a record, so it stays valid after that record was removed. */
  select(wanted: RecordQuery<T>): Page<T> {
    const shelves = this.#narrowest(wanted.filters)
    const count = wanted.count ?? Number.POSITIVE_INFINITY
    const items: T[] = []
    for (const record of walk(shelves, wanted)) {
      if (record.gone || !this.#fulfils(record, wanted)) continue
      if (items.length === count) {
        const last = items.at(-1)!
        return { items, cursor: `${last.createdAt}-${last.seq}` }
      }
      items.push(record)
    }
    return { items }
  }

  #fulfils(record: T, wanted: RecordQuery<T>): boolean {
    for (const [name, values] of wanted.filters ?? []) {
      if (!valuesOf(this.#fields[name]!(record)).some((value) => values.has(value))) return false
    }
    return wanted.only?.(record) ?? true
  }

  /**
   * Selects the filter with the fewest matching records, and returns the lists of the index that contain them. Without
   * filters, returns the list of all records.
   */
  #narrowest(filters: Filters | undefined): readonly Shelf<T>[] {
    let best: readonly Shelf<T>[] = [this.#all]
    let bestSize = this.#all.size
    for (const [name, values] of filters ?? []) {
      const index = this.#index(name)
      const shelves = [...values].flatMap((value) => index.get(value) ?? [])
      const size = shelves.reduce((sum, shelf) => sum + shelf.size, 0)
      if (size < bestSize || (size === bestSize && best[0] === this.#all)) {
        best = shelves
        bestSize = size
      }
    }
    return best
  }

  #index(name: string): Map<string, Shelf<T>> {
    const known = this.#indexes.get(name)
    if (known) return known
    const index = new Map<string, Shelf<T>>()
    const field = this.#fields[name]!
    for (const record of this.#all.items) if (!record.gone) put(index, field(record), record)
    this.#indexes.set(name, index)
    return index
  }
}

function put<T extends IndexedRecord>(
  index: Map<string, Shelf<T>>,
  values: ReturnType<RecordField<T>>,
  record: T,
): void {
  for (const value of valuesOf(values)) {
    let shelf = index.get(value)
    if (shelf === undefined) {
      shelf = new Shelf()
      index.set(value, shelf)
    }
    shelf.add(record)
  }
}

function valuesOf(values: string | readonly string[] | undefined): readonly string[] {
  return values === undefined ? [] : typeof values === 'string' ? [values] : values
}

/**
 * Yields the records of several lists in the requested order, beginning after the cursor. Records outside the period
 * from `from` to `to` are skipped.
 */
function* walk<T extends IndexedRecord>(shelves: readonly Shelf<T>[], wanted: RecordQuery<T>): Generator<T> {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, after } = wanted
  const backwards = wanted.order === 'latestFirst'
  const low = (record: T): boolean =>
    record.createdAt >= from && (backwards || after === undefined || record.seq > after)
  const high = (record: T): boolean =>
    record.createdAt > to || (backwards && after !== undefined && record.seq >= after)
  const runs = shelves
    .map((shelf) => ({ items: shelf.items, at: shelf.seek(low), end: shelf.seek(high) }))
    .filter((run) => run.at < run.end)
  const [only] = runs
  if (runs.length <= 1) {
    if (only === undefined) return
    if (backwards) for (let at = only.end - 1; at >= only.at; at--) yield only.items[at]!
    else for (let at = only.at; at < only.end; at++) yield only.items[at]!
    return
  }
  yield* merge(runs, backwards)
}

interface Run<T> {
  readonly items: readonly T[]
  at: number
  end: number
}

/** Merges several lists in order. A record that is in two lists is yielded once. */
function* merge<T extends IndexedRecord>(runs: readonly Run<T>[], backwards: boolean): Generator<T> {
  let last: T | undefined
  for (;;) {
    let best: Run<T> | undefined
    for (const run of runs) {
      if (run.at >= run.end) continue
      if (best === undefined || (backwards ? tail(run).seq > tail(best).seq : head(run).seq < head(best).seq))
        best = run
    }
    if (best === undefined) return
    const record = backwards ? best.items[--best.end]! : best.items[best.at++]!
    if (record !== last) yield record
    last = record
  }
}

function head<T>(run: Run<T>): T {
  return run.items[run.at]!
}

function tail<T>(run: Run<T>): T {
  return run.items[run.end - 1]!
}

/**
 * Returns the sequence number of a cursor `<milliseconds>-<sequence>`, or `undefined` for other text. [queue.md 1.1]
 */
export function cursorSequence(cursor: string): number | undefined {
  const match = /^\d+-(\d+)$/.exec(cursor)
  return match ? Number(match[1]) : undefined
}
