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

/**
 * Event classes of keyspace notifications: `g` generic, `$` string, `l` list, `s` set, `h` hash, `z` sorted set, `t`
 * stream, `x` expired, `e` evicted, `n` new key, `m` miss, `d` module (JSON), `a` array.
 */
export type EventClass = 'g' | '$' | 'l' | 's' | 'h' | 'z' | 't' | 'x' | 'e' | 'n' | 'm' | 'd' | 'a'

export type Notify = (eventClass: EventClass, event: string, key: Bytes) => void

interface Deadline extends HeapItem {
  readonly key: Bytes
  readonly entry: KeyEntry
}

/** Is called for changes that cause no keyspace event, or cause it too late. */
export interface DatabaseListener {
  /** Called after the deletion of all keys, which causes no keyspace event. */
  cleared(): void
  /** Called before all keys are deleted. */
  clearing(): void
  /** Called before something that has expired is removed, and before all keys are deleted. */
  removing(): void
}

/**
 * Maximum length in bytes of a string that is converted to text in one piece. Replies are always much shorter. The
 * longest JavaScript string is four times as long.
 */
export const maxText = 134_217_728

/** Class of a container, such as `SortedSet`. `new Type()` creates an empty container. */
export type ContainerClass<T extends Container> = new () => T

/**
 * More members than any collection can have. It is a small integer like all other limits, because V8 stores a field
 * that is sometimes `Infinity` in an additional object.
 */
const unlimited = 2_147_483_647

/** Number of expirations up to which no sweep is needed. */
const leastCrowd = 4096

/**
 * Keyspace: one table of keys and their values. Commands look up their keys themselves, because some commands parse
 * their arguments before the lookup, and others after the lookup. If a key has a value of another type, the lookup
 * throws WRONGTYPE.
 */
export class Database {
  readonly #entries = new OrderedTable<KeyEntry>()
  #deadlines = new Heap<Deadline>()
  #sequence = 0
  /** Maximum number of members that a collection may have before the running command adds to it. */
  #mostBefore = unlimited
  /**
   * Keys of the containers that the running command uses. When the command ends, keys with an empty container are
   * deleted.
   */
  readonly #touchedKeys: Bytes[] = []
  readonly #touched: Container[] = []
  #touchedCount = 0
  /**
   * Containers that the running command created. If a container is still empty when the command ends, its key is
   * deleted without an event.
   */
  #made = new Set<Container>()
  /** Sizes of large values in bytes, for statistics. A command that uses a value deletes its size. */
  measured: WeakMap<Container, number> | undefined
  /** Keys that a lookup did not find. Collected only while misses are recorded. */
  missed: Set<Bytes> | undefined
  /** Maximum number of members in each collection, and maximum number of keys in the store. */
  mostMembers: number = maxMembers
  readonly search: SearchIndexes
  listener: DatabaseListener | undefined

  constructor(
    private readonly now: () => number,
    readonly work: Work,
    /**
     * Returns the error for a string that is longer than a reply can be.
     * @param length the bytes of the string
     */
    private readonly refuseText: (length: number) => Error,
    readonly notify: Notify,
  ) {
    this.search = new SearchIndexes(
      (key) => this.value(key),
      (key) => this.peek(key),
      now,
    )
  }

  /**
   * Begins a command that adds at most `count` members or keys. Throws if the store would have too many keys.
   * `container()` throws if a collection would have too many members.
   */
  expectMembers(count: number): void {
    this.#mostBefore = count === 0 ? unlimited : this.mostMembers - count
    if (this.#entries.size > this.#mostBefore && this.size > this.#mostBefore) throw replyError('outOfMemory')
  }

  /** Returns the value of a key that has not expired, without marking the key as used. */
  value(key: Bytes): KeyspaceValue | undefined {
    return this.find(key)?.value
  }

  /** Returns the value of a key that has not expired, and marks the key as used. */
  use(key: Bytes): KeyspaceValue | undefined {
    return this.#useEntry(key)?.value
  }

  /** Returns the entry of a key that has not expired, without marking the key as used. */
  find(key: Bytes): Readonly<KeyEntry> | undefined {
    return this.#entryOf(key)
  }

  has(key: Bytes): boolean {
    return this.find(key) !== undefined
  }

  /**
   * Returns whether a key exists and has not expired. Does not remove an expired key, because observers must not cause
   * events.
   */
  isLive(key: Bytes): boolean {
    const entry = this.#entries.get(key)
    return entry !== undefined && !this.#isPast(entry.expiresAt)
  }

  /** Returns the value of a key that has not expired. Does not remove an expired key, and records no miss. */
  peek(key: Bytes): KeyspaceValue | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || this.#isPast(entry.expiresAt) ? undefined : entry.value
  }

  /** Returns the type of a key that has not expired. Does not remove an expired key. */
  typeNow(key: Bytes): ValueType | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#isPast(entry.expiresAt)) return undefined
    return typeof entry.value === 'string' ? 'string' : entry.value.type
  }

  /**
   * Returns the value of a string key.
   * @throws ReplyError (WRONGTYPE) for other types
   */
  string(key: Bytes): Bytes | undefined {
    const value = this.use(key)
    if (typeof value === 'string' || value === undefined) return value
    if (value instanceof RawString) return this.textOf(value)
    throw replyError('wrongType')
  }

  /**
   * Converts a string that was changed in place to a byte string. Throws the service's error if the string is too long
   * for a reply.
   */
  textOf(value: RawString): Bytes {
    if (value.hasText) return value.text
    if (value.length > maxText) throw this.refuseText(value.length)
    this.work.charge(value.length >>> 5)
    return value.text
  }

  /** Returns the length of a string key, 0 if it does not exist. Does not copy a string that was changed in place. */
  stringLength(key: Bytes): number {
    const value = this.use(key)
    return value instanceof RawString ? value.length : (this.string(key)?.length ?? 0)
  }

  /**
   * Returns the bytes of a string key for reading.
   * @throws ReplyError (WRONGTYPE) for other types
   */
  array(key: Bytes): Uint8Array | undefined {
    const value = this.use(key)
    if (value instanceof RawString) return value.array
    const string = this.string(key)
    if (string === undefined) return undefined
    this.work.charge(string.length >>> 5)
    return toArray(string)
  }

  /**
   * Returns a string key to be changed in place.
   * @throws ReplyError (WRONGTYPE) for other types
   */
  rawString(key: Bytes): RawString | undefined
  /**
   * Returns a string key of at least `length` bytes to be changed in place, and creates a missing key. Charges the
   * growth to the work budget before allocating memory.
   */
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

  /**
   * Returns the container of a key.
   * @throws ReplyError (WRONGTYPE) for other classes
   */
  container<T extends Container>(key: Bytes, type: ContainerClass<T>): T | undefined
  /**
   * Returns the container of a key and creates a missing one. If the container is empty when the command ends, the key
   * is deleted.
   */
  container<T extends Container>(key: Bytes, type: ContainerClass<T>, missing: 'create'): T
  container<T extends Container>(key: Bytes, type: ContainerClass<T>, missing?: 'create'): T | undefined {
    let value = this.use(key)
    if (value === undefined) {
      if (missing === undefined) return undefined
      value = new type()
      this.#insert(key, value)
      this.#made.add(value)
      // Container classes have no subclasses, so this equals `instanceof` without walking the prototype chain.
    } else if (value.constructor !== type) throw replyError('wrongType')
    else if (sizeOfValue(value) > this.#mostBefore) throw replyError('outOfMemory')
    // Overwrite the old elements instead of emptying the arrays. Otherwise, every command would allocate the arrays
    // again.
    this.#touchedKeys[this.#touchedCount] = key
    this.#touched[this.#touchedCount++] = value as T
    return value as T
  }

  /** Number of keys, including expired ones that were not yet removed. */
  get keyCount(): number {
    return this.#entries.size
  }

  /** Returns the size of a key for estimates of work, see `sizeOfValue`; 0 if it does not exist. Changes nothing. */
  sizeOf(key: Bytes): number {
    const entry = this.#entries.get(key)
    return entry === undefined || this.#isPast(entry.expiresAt) ? 0 : sizeOfValue(entry.value)
  }

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

  /** Stores a value. By default, removes the key's expiration. */
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

  /**
   * Stores a key that was renamed, copied or restored. The key counts as new. If a key with the same name exists, the
   * new key takes its position, so that a scan returns the name once.
   */
  put(key: Bytes, value: KeyspaceValue, expiresAt: number | undefined): void {
    const isReplaced = this.has(key)
    this.set(key, value)
    if (isReplaced) this.notify('n', 'new', key)
    this.setDeadline(key, expiresAt)
  }

  /** Sets the time since the last use of an existing key, in seconds. */
  setIdle(key: Bytes, seconds: number): void {
    const entry = this.#entryOf(key)
    if (entry !== undefined) entry.usedAt = this.#seconds() - seconds
  }

  /**
   * Registers the expirations of parts of a value, so that the parts expire even if no command reads them. Must be
   * called after a part got an expiration.
   */
  watchParts(key: Bytes): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#watchParts(key, entry)
  }

  /** Deletes a key without an event; returns whether it existed. */
  delete(key: Bytes): boolean {
    return this.has(key) && this.#entries.delete(key)
  }

  /** Deletes a key because the storage is full. */
  evict(key: Bytes): void {
    if (this.delete(key)) this.notify('e', 'evicted', key)
  }

  /** Sets the expiration of an existing key; `undefined` removes it. */
  setDeadline(key: Bytes, at: number | undefined): void {
    const entry = this.#entryOf(key)
    if (entry === undefined) return
    entry.expiresAt = at
    if (at !== undefined) this.#pushDeadline(at, key, entry)
  }

  #pushDeadline(at: number, key: Bytes, entry: KeyEntry): void {
    this.#deadlines.push({ at, sequence: this.#sequence++, key, entry })
    // A changed expiration leaves its old entry in the heap, so outdated entries are removed from time to time.
    if (this.#deadlines.size > 64 && this.#deadlines.size > 2 * this.#entries.size) this.#dropIdleDeadlines()
  }

  /** Implements MEMORY PURGE: removes expirations that no longer apply. */
  purge(): void {
    this.#dropIdleDeadlines()
  }

  /**
   * Removes expirations that no longer apply, and duplicates. While virtual time does not move, an expiration can be
   * set to the same instant many times.
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

  /** Instant at which the next key or part of a key expires. The instant can be too early, but never too late. */
  get nextDeadline(): number | undefined {
    return this.#deadlines.peek()?.at
  }

  /**
   * Whether a sweep is needed, because there are twice as many expirations as after the last sweep. Only a sweep
   * removes expired keys that no command reads.
   */
  get isCrowded(): boolean {
    return this.#deadlines.size > this.#crowd
  }

  /** Removes everything that has expired, in the order of expiration. Counts and scans call it first. */
  sweep(): void {
    this.#sweep()
    this.#crowd = Math.max(leastCrowd, 2 * this.#deadlines.size)
  }

  #sweep(): void {
    const now = this.now()
    for (let next = this.#deadlines.peek(); next !== undefined && next.at <= now; next = this.#deadlines.peek()) {
      this.#deadlines.pop()
      // `find()` removes the key if it has expired.
      if (this.#holds(next)) this.find(next.key)
    }
  }

  #crowd = leastCrowd

  /** Whether a timer of the clock, not a command, triggered the running sweep. */
  isAlarmed = false

  sweepAtAlarm(): void {
    this.isAlarmed = true
    try {
      this.sweep()
    } finally {
      this.isAlarmed = false
    }
  }

  /** Ends a command: deletes containers that became empty. */
  settle(): void {
    const count = this.#touchedCount
    if (count === 0) return
    this.#touchedCount = 0
    for (let index = 0; index < count; index++) {
      const container = this.#touched[index]!
      this.measured?.delete(container)
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

  get expiring(): number {
    this.sweep()
    let count = 0
    for (const { expiresAt } of this.#entries.values()) if (expiresAt !== undefined) count++
    return count
  }

  /** Keys that have not expired, in order of insertion. */
  get entries(): OrderedTable<unknown> {
    this.sweep()
    return this.#entries
  }

  /** Visits the keys that have not expired, in order of insertion. */
  forEach(visit: (value: KeyspaceValue, key: Bytes, expiresAt: number | undefined) => void): void {
    this.sweep()
    for (const [key, { value, expiresAt }] of this.#entries) visit(value, key, expiresAt)
  }

  /** Visits all keys, including expired ones that were not yet removed. Changes nothing. */
  forEachStored(visit: (value: KeyspaceValue, key: Bytes, expiresAt: number | undefined) => void): void {
    for (const [key, { value, expiresAt }] of this.#entries) visit(value, key, expiresAt)
  }

  clear(): void {
    this.listener?.removing()
    this.listener?.clearing()
    this.#entries.clear()
    this.#deadlines = new Heap()
    this.search.cleared()
    this.listener?.cleared()
  }

  /** Returns the entry of a key that has not expired. Removes an expired key. */
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

  /** Inserts a key. The caller has checked that the key does not exist. */
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
    this.listener?.removing()
    this.measured?.delete(value)
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
    this.listener?.removing()
    this.#entries.delete(key)
    this.notify('x', 'expired', key)
  }
}

function partsExpireAt({ value }: KeyEntry): number | undefined {
  return typeof value === 'string' ? undefined : value.partsExpireAt
}
