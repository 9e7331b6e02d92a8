import type { PortableString } from '../../kernel/portable.js'
import type { DumpedKey } from '../../store/dump/snapshot.js'
import type { StoredChange } from '../../store/history/stored-change.js'

// The store as of any instant, from what each command left at each key.

/** Where one looks: everything up to an entry, and the time at which it is looked at, for what has expired by then. */
export interface Point {
  /** `seq` of the last entry that counts. */
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
}

/** What is different about a key. `before` is absent where it was added, `after` where it is gone. */
export interface KeyDifference {
  readonly key: PortableString
  readonly before?: DumpedKey
  readonly after?: DumpedKey
}

/** A text for each key, for maps. */
export function idOf(key: PortableString): string {
  return typeof key === 'string' ? `t${key}` : `b${key.base64}`
}

/** Changes between two places that are kept as a whole, at least. */
const snapshotEvery = 1_000

type Keys = ReadonlyMap<string, DumpedKey>

interface Step {
  readonly id: string
  readonly change: StoredChange
  /** What was there, expired or not. */
  readonly before: DumpedKey | undefined
}

interface Place {
  /** Steps that have been taken. */
  readonly count: number
  readonly keys: Keys
}

/**
 * Every state that a store has had. Going to one costs a copy of a near place and the steps from there, in either
 * direction; places are kept where as much has changed since the last one as it held, so that all of them together are
 * no larger than the changes.
 */
export class StoreModel {
  readonly #steps: Step[] = []
  readonly #places: Place[] = [{ count: 0, keys: new Map() }]
  /** What the newest step left. */
  readonly #newest = new Map<string, DumpedKey>()
  #last: Place = this.#places[0]!

  get size(): number {
    return this.#steps.length
  }

  /** Takes what came, in the order of `seq`. */
  add(changes: Iterable<StoredChange>): void {
    for (const change of changes) {
      const id = idOf(change.key)
      this.#steps.push({ id, change, before: this.#newest.get(id) })
      put(this.#newest, id, change.now)
      const since = this.#steps.length - this.#places.at(-1)!.count
      if (since < snapshotEvery || since < this.#newest.size) continue
      this.#places.push({ count: this.#steps.length, keys: new Map(this.#newest) })
    }
  }

  /** What was there at a point. What has expired by then is not. */
  at(point: Point): StoredState {
    return new StoredState(this.#keysAfter(this.#countAt(point)), point.at)
  }

  /** What is different between two points, the earlier one first. */
  difference(from: Point, to: Point): readonly KeyDifference[] {
    const [first, last] = [this.#countAt(from), this.#countAt(to)]
    const [before, after] = [this.at(from), this.at(to)]
    const touched = new Set<string>()
    for (let index = first; index < last; index++) touched.add(this.#steps[index]!.id)
    for (const id of before.expiringBy(to.at)) touched.add(id)
    return [...touched].flatMap((id) => differenceOf(before.get(id), after.get(id)))
  }

  /** `seq` of the entries that changed one key, oldest first. */
  changesOf(key: PortableString): readonly StoredChange[] {
    const id = idOf(key)
    return this.#steps.flatMap((step) => (step.id === id ? [step.change] : []))
  }

  /** Steps up to a point, by entry and by time: a recording may have entries that came later at the same instant. */
  #countAt({ seq, at }: Point): number {
    let [low, high] = [0, this.#steps.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const { change } = this.#steps[middle]!
      if (change.seq > seq || change.at > at) high = middle
      else low = middle + 1
    }
    return low
  }

  #keysAfter(count: number): Keys {
    if (this.#last.count === count) return this.#last.keys
    const near = this.#nearest(count)
    const keys = new Map(near.keys)
    for (let index = near.count; index < count; index++) {
      const { id, change } = this.#steps[index]!
      put(keys, id, change.now)
    }
    for (let index = near.count - 1; index >= count; index--) {
      const { id, before } = this.#steps[index]!
      put(keys, id, before)
    }
    this.#last = { count, keys }
    return keys
  }

  #nearest(count: number): Place {
    let best = this.#last
    for (const place of this.#places)
      if (Math.abs(place.count - count) < Math.abs(best.count - count)) best = place
    return best
  }
}

function put(keys: Map<string, DumpedKey>, id: string, value: DumpedKey | undefined): void {
  if (value === undefined) keys.delete(id)
  else keys.set(id, value)
}

/** A store at one instant. */
export class StoredState {
  readonly #keys: Keys

  /** @param keys those that have expired may be among them */
  constructor(
    keys: Keys,
    /** Virtual time at which it is looked at. */
    readonly at: number,
  ) {
    this.#keys = keys
  }

  get(id: string): DumpedKey | undefined {
    const found = this.#keys.get(id)
    return found && presentAt(found, this.at)
  }

  *[Symbol.iterator](): Generator<readonly [id: string, key: DumpedKey]> {
    for (const [id, found] of this.#keys) {
      const present = presentAt(found, this.at)
      if (present !== undefined) yield [id, present]
    }
  }

  /** Keys of which something is there now and gone at a later time. */
  expiringBy(later: number): readonly string[] {
    const ids: string[] = []
    for (const [id, found] of this.#keys) if (deadlineOf(found) <= later) ids.push(id)
    return ids
  }
}

/** The earliest deadline of a key or of its fields. */
function deadlineOf(key: DumpedKey): number {
  const { expiresAt = Number.POSITIVE_INFINITY } = key
  if (key.type !== 'hash') return expiresAt
  return key.fields.reduce((least, [, , at]) => (at !== undefined && at < least ? at : least), expiresAt)
}

/** A key as it is at a time: without fields that have expired; `undefined` when it is gone. */
export function presentAt(key: DumpedKey, now: number): DumpedKey | undefined {
  if (key.expiresAt !== undefined && key.expiresAt <= now) return undefined
  if (key.type !== 'hash' || !key.fields.some((field) => isOver(field, now))) return key
  const fields = key.fields.filter((field) => !isOver(field, now))
  return fields.length === 0 ? undefined : { ...key, fields }
}

function isOver([, , expiresAt]: readonly [unknown, unknown, number?], now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now
}

function differenceOf(before: DumpedKey | undefined, after: DumpedKey | undefined): KeyDifference[] {
  const key = (before ?? after)?.key
  if (key === undefined || before === after) return []
  if (before === undefined) return [{ key, after: after! }]
  if (after === undefined) return [{ key, before }]
  return contentOf(before) === contentOf(after) ? [] : [{ key, before, after }]
}

/** Equal for equal keys: the order of members of sets and fields of hashes has no meaning. */
function contentOf(key: DumpedKey): string {
  if (key.type === 'set') return JSON.stringify({ ...key, members: sorted(key.members) })
  if (key.type === 'hash') return JSON.stringify({ ...key, fields: sorted(key.fields) })
  return JSON.stringify(key)
}

function sorted(items: readonly unknown[]): string[] {
  return items.map((item) => JSON.stringify(item)).sort()
}
