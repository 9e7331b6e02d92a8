import { type Bytes, toArray } from '../../kernel/bytes.js'
import { Heap, type HeapItem } from '../../kernel/heap.js'
import type { Work } from '../../kernel/work.js'
import { replyError } from '../command/errors.js'
import { maxMembers } from '../command/memory.js'
import { OrderedTable } from '../values/ordered-table.js'
import { RawString } from '../values/raw-string.js'
import { SearchIndex } from '../values/search-index.js'
import type { Container, ValueType } from '../values/value.js'
import { KeyEntry, type KeyspaceValue } from './key-entry.js'
import { sizeOfValue } from './measure.js'
import { SearchIndexes } from './search-indexes.js'

export type { KeyspaceValue } from './key-entry.js'

/** Event classes of keyspace notifications: `g` generic, `$` string, `l` list, `s` set, `h` hash, `z` sorted set, `t` stream, `x` expired, `n` new key, `m` miss, `d` module (JSON). */
export type EventClass = 'g' | '$' | 'l' | 's' | 'h' | 'z' | 't' | 'x' | 'n' | 'm' | 'd'

export type Notify = (eventClass: EventClass, event: string, key: Bytes) => void

interface Deadline extends HeapItem {
  readonly key: Bytes
  readonly entry: KeyEntry
}

/** Bytes of the longest string that is read as a whole, far beyond every reply: engines hold four times as many at most. */
export const maxText = 134_217_728

/** A class whose instances are stored: `new Type()` is an empty one. */
export type ContainerClass<T extends Container> = new () => T

/**
 * The key space: one table of values. Commands look keys up themselves, because real commands differ in whether they
 * parse or look up first; the lookup throws WRONGTYPE.
 */
/** Deadlines that are no crowd. */
const leastCrowd = 4096

export class Database {
  readonly #entries = new OrderedTable<KeyEntry>()
  #deadlines = new Heap<Deadline>()
  #sequence = 0
  /** Members that a collection may have for the running command to add to it. */
  #mostBefore = Number.POSITIVE_INFINITY
  /** Containers that the running command got hold of, side by side with their keys; those left empty go when it ends. */
  readonly #touchedKeys: Bytes[] = []
  readonly #touched: Container[] = []
  #touchedCount = 0
  /** Those of them that the running command made itself: one left empty never was there. */
  #made = new Set<Container>()
  /** Collects the keys that were looked for in vain, while somebody wants to know. */
  missed: Set<Bytes> | undefined
  /** Members that a collection has at most, and keys that there are. */
  mostMembers: number = maxMembers
  readonly search: SearchIndexes
  /** Hears that everything was removed at once, which no event tells. */
  cleared: (() => void) | undefined
  /** The same, before. */
  clearing: (() => void) | undefined

  constructor(
    private readonly now: () => number,
    /** What the command in execution may still cost. */
    readonly work: Work,
    /** The refusal of a string of so many bytes, more than a reply may have. */
    private readonly refuseText: (length: number) => Error,
    readonly notify: Notify,
  ) {
    this.search = new SearchIndexes((key) => this.value(key), now)
  }

  /**
   * A command begins that adds so many members, or keys, at most. It is refused as a whole: here where there would be too
   * many keys, and by `container()` for the members of one.
   */
  expectMembers(count: number): void {
    this.#mostBefore = count === 0 ? Number.POSITIVE_INFINITY : this.mostMembers - count
    if (this.#entries.size > this.#mostBefore && this.size > this.#mostBefore) throw replyError('outOfMemory')
  }

  /** The live value of a key. Looking does not count as using. */
  value(key: Bytes): KeyspaceValue | undefined {
    return this.find(key)?.value
  }

  /** The live value of a key, which counts as used. */
  use(key: Bytes): KeyspaceValue | undefined {
    return this.#useEntry(key)?.value
  }

  /** All that is known of a live key. Looking does not count as using. */
  find(key: Bytes): Readonly<KeyEntry> | undefined {
    return this.#entryOf(key)
  }

  has(key: Bytes): boolean {
    return this.find(key) !== undefined
  }

  /** Whether a key is live, without taking an expired one away: for an onlooker that must not cause events. */
  isLive(key: Bytes): boolean {
    const entry = this.#entries.get(key)
    return entry !== undefined && !this.#isPast(entry.expiresAt)
  }

  /** The type of a live key, for an onlooker, too. */
  typeNow(key: Bytes): ValueType | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#isPast(entry.expiresAt)) return undefined
    return typeof entry.value === 'string' ? 'string' : entry.value.type
  }

  /** The value of a string key; WRONGTYPE for any other kind. */
  string(key: Bytes): Bytes | undefined {
    const value = this.use(key)
    if (typeof value === 'string' || value === undefined) return value
    if (value instanceof RawString) return this.textOf(value)
    throw replyError('wrongType')
  }

  /** A string that was written in place, as a byte string; the service's refusal when it is too long for any reply. */
  textOf(value: RawString): Bytes {
    if (value.hasText) return value.text
    if (value.length > maxText) throw this.refuseText(value.length)
    this.work.charge(value.length >>> 5)
    return value.text
  }

  /** Length of a string key, 0 when there is none; makes no text of a string that is written in place. */
  stringLength(key: Bytes): number {
    const value = this.use(key)
    return value instanceof RawString ? value.length : (this.string(key)?.length ?? 0)
  }

  /** The bytes of a string key, for reading; WRONGTYPE for any other kind. */
  array(key: Bytes): Uint8Array | undefined {
    const value = this.use(key)
    if (value instanceof RawString) return value.array
    const string = this.string(key)
    if (string === undefined) return undefined
    this.work.charge(string.length >>> 5)
    return toArray(string)
  }

  /** A string key to be written in place; WRONGTYPE for any other kind. */
  rawString(key: Bytes): RawString | undefined
  /** The same, an empty one when the key is free. It is opened up to `length`: a gap is paid for before it is made. */
  rawString(key: Bytes, missing: 'create', length: number): RawString
  rawString(key: Bytes, missing?: 'create', length = 0): RawString | undefined {
    const value = this.use(key)
    if (value instanceof RawString) {
      this.work.charge(value.growth(length))
      return value
    }
    if (value === undefined && missing === undefined) return undefined
    if (value !== undefined && typeof value !== 'string') throw replyError('wrongType')
    this.work.charge(Math.max(value?.length ?? 0, length) >>> 5)
    const made = new RawString(value)
    this.set(key, made, 'keep')
    return made
  }

  /** The container of a key, WRONGTYPE when it is of another class. */
  container<T extends Container>(key: Bytes, type: ContainerClass<T>): T | undefined
  /** The same, made when the key is free; left empty at the end of the command it vanishes again. */
  container<T extends Container>(key: Bytes, type: ContainerClass<T>, missing: 'create'): T
  container<T extends Container>(key: Bytes, type: ContainerClass<T>, missing?: 'create'): T | undefined {
    let value = this.use(key)
    if (value === undefined) {
      if (missing === undefined) return undefined
      value = new type()
      this.#insert(key, value)
      this.#made.add(value)
      // Nobody extends a container, so this says the same as `instanceof` and does not have to search for it.
    } else if (value.constructor !== type) throw replyError('wrongType')
    else if (sizeOfValue(value) > this.#mostBefore) throw replyError('outOfMemory')
    // Not pushed: arrays that are emptied by every command would give up their room each time.
    this.#touchedKeys[this.#touchedCount] = key
    this.#touched[this.#touchedCount++] = value as T
    return value as T
  }

  /** How many keys there are, those that expired unseen included. */
  get keyCount(): number {
    return this.#entries.size
  }

  /** How much there is to walk over in a key, see `sizeOfValue`; 0 for one that is not there. Changes nothing. */
  sizeOf(key: Bytes): number {
    const entry = this.#entries.get(key)
    return entry === undefined || this.#isPast(entry.expiresAt) ? 0 : sizeOfValue(entry.value)
  }

  /** The same of several keys together. */
  sizeOfAll(keys: readonly Bytes[]): number {
    let size = 0
    for (const key of keys) size += this.sizeOf(key)
    return size
  }

  sizeOfSmallest(keys: readonly Bytes[]): number {
    let smallest = Number.POSITIVE_INFINITY
    for (const key of keys) smallest = Math.min(smallest, this.sizeOf(key))
    return smallest
  }

  type(key: Bytes): ValueType | 'none' {
    const value = this.value(key)
    return value === undefined ? 'none' : typeof value === 'string' ? 'string' : value.type
  }

  /** Stores a value. The key's deadline goes, unless it is kept. */
  set(key: Bytes, value: KeyspaceValue, deadline: 'drop' | 'keep' = 'drop'): void {
    const entry = this.#useEntry(key)
    if (entry === undefined) {
      this.#insert(key, value)
      return
    }
    entry.value = value
    if (value instanceof SearchIndex) this.search.stored(key, value)
    if (deadline === 'drop') entry.expiresAt = undefined
    this.#watchParts(key, entry)
  }

  /** Stores a key that comes from elsewhere. It counts as new, but keeps the place of an old one: a scan sees it once. */
  put(key: Bytes, value: KeyspaceValue, expiresAt: number | undefined): void {
    const isReplaced = this.has(key)
    this.set(key, value)
    if (isReplaced) this.notify('n', 'new', key)
    this.setDeadline(key, expiresAt)
  }

  /** An existing key was last used so many seconds ago. */
  setIdle(key: Bytes, seconds: number): void {
    const entry = this.#entryOf(key)
    if (entry !== undefined) entry.usedAt = this.#seconds() - seconds
  }

  /** To be called when parts of a value got deadlines, so that they expire although nobody looks. */
  watchParts(key: Bytes): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#watchParts(key, entry)
  }

  /** Removes a key without an event; returns whether it was there. */
  delete(key: Bytes): boolean {
    return this.has(key) && this.#entries.delete(key)
  }

  /** Sets or, with `undefined`, removes the deadline of an existing key. */
  setDeadline(key: Bytes, at: number | undefined): void {
    const entry = this.#entryOf(key)
    if (entry === undefined) return
    entry.expiresAt = at
    if (at !== undefined) this.#pushDeadline(at, key, entry)
  }

  #pushDeadline(at: number, key: Bytes, entry: KeyEntry): void {
    this.#deadlines.push({ at, sequence: this.#sequence++, key, entry })
    // A deadline that is set anew leaves its old place in the heap behind.
    if (this.#deadlines.size > 64 && this.#deadlines.size > 2 * this.#entries.size) this.#dropIdleDeadlines()
  }

  /** Drops what no longer applies: MEMORY PURGE. */
  purge(): void {
    this.#dropIdleDeadlines()
  }

  /**
   * Of those that were set to the same time again and again one stays: virtual time may stand still, so that all of
   * them hold.
   */
  #dropIdleDeadlines(): void {
    const ofKeys = new Set<KeyEntry>()
    const ofParts = new Set<KeyEntry>()
    this.#deadlines.keep((deadline) => {
      if (!this.#holds(deadline)) return false
      const { at, entry } = deadline
      const kept = entry.expiresAt === at ? ofKeys : ofParts
      if (kept.has(entry)) return false
      kept.add(entry)
      return true
    })
  }

  /** When the next key, or part of one, expires; never later than it really does. */
  get nextDeadline(): number | undefined {
    return this.#deadlines.peek()?.at
  }

  /** Keys may expire and never be looked at again: whether there are twice as many deadlines as a sweep has left. */
  get isCrowded(): boolean {
    return this.#deadlines.size > this.#crowd
  }

  /** Removes everything that has expired, in the order of the deadlines. Counts and scans call it first. */
  sweep(): void {
    this.#sweep()
    this.#crowd = Math.max(leastCrowd, 2 * this.#deadlines.size)
  }

  #sweep(): void {
    const now = this.now()
    for (let next = this.#deadlines.peek(); next !== undefined && next.at <= now; next = this.#deadlines.peek()) {
      this.#deadlines.pop()
      // Looking is enough: what has expired goes.
      if (this.#holds(next)) this.find(next.key)
    }
  }

  #crowd = leastCrowd

  /** Whether it is the clock that looks, and no command. */
  isAlarmed = false

  /** The same at an alarm of the clock. */
  sweepAtAlarm(): void {
    this.isAlarmed = true
    try {
      this.sweep()
    } finally {
      this.isAlarmed = false
    }
  }

  /** Ends a command: containers that became empty vanish. */
  settle(): void {
    const count = this.#touchedCount
    if (count === 0) return
    this.#touchedCount = 0
    for (let index = 0; index < count; index++) {
      const container = this.#touched[index]!
      if (!container.isEmpty) continue
      const key = this.#touchedKeys[index]!
      if (this.#entries.get(key)?.value !== container) continue
      this.#entries.delete(key)
      if (!this.#made.has(container)) this.notify('g', 'del', key)
    }
    if (this.#made.size > 0) this.#made.clear()
  }

  get size(): number {
    this.sweep()
    return this.#entries.size
  }

  /** How many keys have a deadline. */
  get expiring(): number {
    this.sweep()
    let count = 0
    for (const { expiresAt } of this.#entries.values()) if (expiresAt !== undefined) count++
    return count
  }

  /** The table of live keys, in order of insertion. */
  get entries(): OrderedTable<unknown> {
    this.sweep()
    return this.#entries
  }

  /** Visits the live keys in order of insertion. */
  forEach(visit: (value: KeyspaceValue, key: Bytes, expiresAt: number | undefined) => void): void {
    this.sweep()
    for (const [key, { value, expiresAt }] of this.#entries) visit(value, key, expiresAt)
  }

  clear(): void {
    this.clearing?.()
    this.#entries.clear()
    this.#deadlines = new Heap()
    this.search.cleared()
    this.cleared?.()
  }

  /** What is known of a live key; an expired one goes. */
  #entryOf(key: Bytes): KeyEntry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) this.missed?.add(key)
    return entry !== undefined && this.#isLive(key, entry) ? entry : undefined
  }

  #useEntry(key: Bytes): KeyEntry | undefined {
    const entry = this.#entryOf(key)
    if (entry !== undefined) entry.usedAt = this.#seconds()
    return entry
  }

  /** The key must be free. */
  #insert(key: Bytes, value: KeyspaceValue): void {
    const entry = new KeyEntry(value, this.#seconds())
    this.#entries.put(key, entry)
    if (value instanceof SearchIndex) this.search.stored(key, value)
    this.#watchParts(key, entry)
    this.notify('n', 'new', key)
  }

  #watchParts(key: Bytes, entry: KeyEntry): void {
    const at = partsExpireAt(entry)
    if (at !== undefined) this.#pushDeadline(at, key, entry)
  }

  #isLive(key: Bytes, entry: KeyEntry): boolean {
    if (this.#isPast(entry.expiresAt)) {
      this.#expire(key)
      this.missed?.add(key)
      return false
    }
    const { value } = entry
    if (typeof value === 'string' || !this.#isPast(value.partsExpireAt)) return true
    const expired = value.expireParts?.(this.now()) ?? 0
    if (expired > 0) this.notify('h', 'hexpired', key)
    if (value.isEmpty) {
      this.#entries.delete(key)
      this.notify('g', 'del', key)
      return false
    }
    this.#watchParts(key, entry)
    return true
  }

  #isPast(at: number | undefined): boolean {
    return at !== undefined && at <= this.now()
  }

  #seconds(): number {
    return Math.floor(this.now() / 1000)
  }

  #holds(deadline: Deadline): boolean {
    const { at, key, entry } = deadline
    return (entry.expiresAt === at || partsExpireAt(entry) === at) && this.#entries.get(key) === entry
  }

  #expire(key: Bytes): void {
    this.#entries.delete(key)
    this.notify('x', 'expired', key)
  }
}

function partsExpireAt({ value }: KeyEntry): number | undefined {
  return typeof value === 'string' ? undefined : value.partsExpireAt
}
