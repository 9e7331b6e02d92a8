import type { PortableString } from '../../../../src/kernel/portable.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'
import { appliedTo, type KeyChange } from '../../../../src/store/history/key-change.js'

// Computes the state of the store at any instant. After each command, the log contains the new values of the changed
// keys.

/** A point in the log: all entries up to `seq`, and the time `at`, at which some keys have expired. */
export interface StoreInstant {
  /** `seq` of the last entry before the point. */
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
}

/** A key that was added, changed or removed. `before` is absent for an added key, `after` for a removed key. */
export interface KeyDifference {
  readonly key: PortableString
  readonly before?: DumpedKey
  readonly after?: DumpedKey
}

/** Returns a text that identifies a key in a `Map`. */
export function idOf(key: PortableString): string {
  return typeof key === 'string' ? `t${key}` : `b${key.base64}`
}

/** All versions of one key. A step is one change of any key. Steps are numbered from 0. */
class KeyHistory {
  readonly #changes: KeyChange[] = []
  readonly #steps: number[] = []
  /** Last value that was computed. It is needed because a change of a long collection contains only the differences. */
  #known: { readonly index: number; readonly value: DumpedKey | undefined } | undefined

  add(step: number, change: KeyChange): void {
    this.#steps.push(step)
    this.#changes.push(change)
  }

  get changes(): readonly KeyChange[] {
    return this.#changes
  }

  /** Returns the value after this number of steps, even if it has expired. */
  after(count: number): DumpedKey | undefined {
    const latest = this.#steps.length - 1
    const isLatest = this.#steps[latest]! < count
    return this.#value(isLatest ? latest : firstWhere(this.#steps, (step) => step >= count) - 1)
  }

  #value(index: number): DumpedKey | undefined {
    const change = this.#changes[index]
    if (change?.splice === undefined) return change?.now
    if (this.#known?.index !== index) {
      let from = index
      while (from > 0 && this.#changes[from]!.splice !== undefined && from !== this.#known?.index) from--
      let value = from === this.#known?.index ? this.#known.value : appliedTo(undefined, this.#changes[from]!)
      while (from < index) value = appliedTo(value, this.#changes[++from]!)
      this.#known = { index, value }
    }
    return this.#known.value
  }
}

/** Versions of each key that ever existed. */
type Histories = ReadonlyMap<string, KeyHistory>

/**
 * All states of a store. A state copies no values. It only contains a number of steps, and looks up each key's version
 * after that step. Any instant opens quickly, even if the history is long.
 */
export class StoreModel {
  readonly #steps: { readonly id: string; readonly change: KeyChange }[] = []
  readonly #histories = new Map<string, KeyHistory>()

  get size(): number {
    return this.#steps.length
  }

  /** Adds changes, which must be in the order of `seq`. */
  add(changes: Iterable<KeyChange>): void {
    for (const change of changes) {
      const id = idOf(change.key)
      let history = this.#histories.get(id)
      if (history === undefined) {
        history = new KeyHistory()
        this.#histories.set(id, history)
      }
      history.add(this.#steps.length, change)
      this.#steps.push({ id, change })
    }
  }

  /** Returns the state at a point, without expired keys. */
  at(point: StoreInstant): StoredState {
    return new StoredState(this.#histories, this.#countAt(point), point.at)
  }

  /** Returns the keys that differ between two points. */
  difference(from: StoreInstant, to: StoreInstant): readonly KeyDifference[] {
    const [before, after] = [this.at(from), this.at(to)]
    const touched = new Set<string>()
    for (let step = this.#countAt(from); step < this.#countAt(to); step++) touched.add(this.#steps[step]!.id)
    for (const id of before.expiringBy(to.at)) touched.add(id)
    return [...touched].flatMap((id) => keyDifference(before.get(id), after.get(id)))
  }

  changesOf(key: PortableString): readonly KeyChange[] {
    return this.#histories.get(idOf(key))?.changes ?? []
  }

  lastChange(point: StoreInstant): KeyChange | undefined {
    return this.#steps[this.#countAt(point) - 1]?.change
  }

  /** Returns the number of steps up to this point. */
  #countAt({ seq, at }: StoreInstant): number {
    return firstWhere(this.#steps, ({ change }) => change.seq > seq || change.at > at)
  }
}

/**
 * Returns the index of the first item that is wanted. All items after it must be wanted too. If there is none, returns
 * the number of items.
 */
function firstWhere<T>(items: readonly T[], isWanted: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isWanted(items[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

/** The store at one point. */
export class StoredState {
  readonly #histories: Histories
  readonly #count: number

  constructor(
    histories: Histories,
    /** Number of steps up to this point. */
    count: number,
    /** Virtual time of the point. Keys that have expired by then are left out. */
    readonly at: number,
  ) {
    this.#histories = histories
    this.#count = count
  }

  get(id: string): DumpedKey | undefined {
    const found = this.#histories.get(id)?.after(this.#count)
    return found && presentAt(found, this.at)
  }

  *[Symbol.iterator](): Generator<readonly [id: string, key: DumpedKey]> {
    for (const [id, history] of this.#histories) {
      const found = history.after(this.#count)
      const present = found && presentAt(found, this.at)
      if (present !== undefined) yield [id, present]
    }
  }

  /** Returns the keys that have not expired yet, but will expire by the instant `later`. */
  expiringBy(later: number): readonly string[] {
    const ids: string[] = []
    for (const [id, history] of this.#histories) {
      const found = history.after(this.#count)
      if (found !== undefined && deadlineOf(found) <= later) ids.push(id)
    }
    return ids
  }
}

/** Returns the first instant at which the key or one of its fields expires. */
function deadlineOf(key: DumpedKey): number {
  const { expiresAt = Number.POSITIVE_INFINITY } = key
  if (key.type !== 'hash') return expiresAt
  return key.fields.reduce((least, [, , at]) => (at !== undefined && at < least ? at : least), expiresAt)
}

/** Returns a key without the fields that have expired, or `undefined` if the whole key has expired. */
function presentAt(key: DumpedKey, now: number): DumpedKey | undefined {
  if (key.expiresAt !== undefined && key.expiresAt <= now) return undefined
  if (key.type !== 'hash' || !key.fields.some((field) => isOver(field, now))) return key
  const fields = key.fields.filter((field) => !isOver(field, now))
  return fields.length === 0 ? undefined : { ...key, fields }
}

function isOver([, , expiresAt]: readonly [unknown, unknown, number?], now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now
}

/** Compares two versions of a key. Returns a list with one difference, or an empty list if they are equal. */
export function keyDifference(before: DumpedKey | undefined, after: DumpedKey | undefined): readonly KeyDifference[] {
  const key = (before ?? after)?.key
  if (key === undefined || before === after) return []
  if (before === undefined) return [{ key, after: after! }]
  if (after === undefined) return [{ key, before }]
  return contentOf(before) === contentOf(after) ? [] : [{ key, before, after }]
}

/** Returns a text by which keys are compared. The order of set members and of hash fields makes no difference. */
function contentOf(key: DumpedKey): string {
  if (key.type === 'set') return JSON.stringify({ ...key, members: sorted(key.members) })
  if (key.type === 'hash') return JSON.stringify({ ...key, fields: sorted(key.fields) })
  return JSON.stringify(key)
}

function sorted(items: readonly unknown[]): string[] {
  return items.map((item) => JSON.stringify(item)).sort()
}
