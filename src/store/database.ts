import { type Bytes, toArray } from '../kernel/bytes.js'
import { Heap, type Ranked } from '../kernel/heap.js'
import { replyError } from './errors.js'
import { type KeyEntry, KeyTable, type Value } from './key-table.js'
import { RawString } from './values/raw-string.js'
import type { Container, ValueType } from './values/value.js'

export type { KeyEntry, Value } from './key-table.js'

/** Event classes of keyspace notifications: `g` generic, `$` string, `l` list, `s` set, `h` hash, `z` sorted set, `t` stream, `x` expired, `n` new key, `m` miss, `d` module (JSON). */
export type EventClass = 'g' | '$' | 'l' | 's' | 'h' | 'z' | 't' | 'x' | 'n' | 'm' | 'd'

export type Notify = (eventClass: EventClass, event: string, key: Bytes) => void

interface Deadline extends Ranked {
  readonly key: Bytes
  readonly entry: KeyEntry
}

/** A class whose instances are stored: `new Type()` is an empty one. */
export type ContainerClass<T extends Container> = new () => T

/**
 * The key space: one table, one kind of entry. Commands look keys up themselves, because real commands differ in
 * whether they parse or look up first; the lookup throws WRONGTYPE.
 */
export class Database {
  readonly #entries = new KeyTable()
  #deadlines = new Heap<Deadline>()
  #sequence = 0
  /** Containers that the running command got hold of, side by side with their keys; those left empty go when it ends. */
  readonly #touchedKeys: Bytes[] = []
  readonly #touched: KeyEntry[] = []
  #touchedCount = 0
  /** Those of them that the running command made itself: one left empty never was there. */
  #made = new Set<KeyEntry>()
  /** The last time that was asked for, in milliseconds and in seconds: time stands still during most commands. */
  #secondsOf = 0
  #secondsThen = 0
  /** Collects the keys that were looked for in vain, while somebody wants to know. */
  missed: Set<Bytes> | undefined

  constructor(
    private readonly now: () => number,
    readonly notify: Notify,
  ) {}

  /** The live entry of a key. Looking does not count as using. */
  find(key: Bytes): KeyEntry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) {
      this.missed?.add(key)
      return undefined
    }
    if (entry.expiresAt !== undefined && entry.expiresAt <= this.now()) {
      this.#expire(key)
      this.missed?.add(key)
      return undefined
    }
    return entry.kind === 'expires in parts' ? this.#withoutExpiredParts(key, entry) : entry
  }

  has(key: Bytes): boolean {
    return this.find(key) !== undefined
  }

  /** Whether a key is live, without taking an expired one away: for an onlooker that must not cause events. */
  isLive(key: Bytes): boolean {
    const entry = this.#entries.get(key)
    return entry !== undefined && (entry.expiresAt === undefined || entry.expiresAt > this.now())
  }

  /** Counts as a use of the key. */
  touch(key: Bytes): void {
    const entry = this.find(key)
    if (entry !== undefined) entry.usedAt = this.#seconds()
  }

  /** The value of a string key; WRONGTYPE for any other kind. */
  string(key: Bytes): Bytes | undefined {
    const entry = this.find(key)
    if (entry === undefined) return undefined
    entry.usedAt = this.#seconds()
    if (entry.kind === 'text') return entry.value as Bytes
    if (entry.value instanceof RawString) return entry.value.text
    throw replyError('wrongType')
  }

  /** Length of a string key, 0 when there is none; makes no text of a string that is written in place. */
  stringLength(key: Bytes): number {
    const value = this.find(key)?.value
    return value instanceof RawString ? value.length : (this.string(key)?.length ?? 0)
  }

  /** The bytes of a string key, for reading; WRONGTYPE for any other kind. */
  array(key: Bytes): Uint8Array | undefined {
    const value = this.find(key)?.value
    if (value instanceof RawString) return value.array
    const string = this.string(key)
    return string === undefined ? undefined : toArray(string)
  }

  /** A string key to be written in place; WRONGTYPE for any other kind. */
  rawString(key: Bytes): RawString | undefined
  /** The same, an empty one when the key is free. */
  rawString(key: Bytes, missing: 'create'): RawString
  rawString(key: Bytes, missing?: 'create'): RawString | undefined {
    const entry = this.find(key)
    if (entry === undefined) {
      if (missing === undefined) return undefined
      const created = new RawString()
      this.set(key, created)
      return created
    }
    entry.usedAt = this.#seconds()
    if (typeof entry.value === 'string') entry.replace(new RawString(entry.value))
    if (entry.value instanceof RawString) return entry.value
    throw replyError('wrongType')
  }

  /** The container of a key, WRONGTYPE when it is of another class. */
  container<T extends Container>(key: Bytes, type: ContainerClass<T>): T | undefined
  /** The same, made when the key is free; left empty at the end of the command it vanishes again. */
  container<T extends Container>(key: Bytes, type: ContainerClass<T>, missing: 'create'): T
  container<T extends Container>(key: Bytes, type: ContainerClass<T>, missing?: 'create'): T | undefined {
    let entry = this.find(key)
    if (entry === undefined) {
      if (missing === undefined) return undefined
      entry = this.#insert(key, new type())
      this.#made.add(entry)
    } else {
      // Nobody extends a container, so this says the same as `instanceof` and does not have to search for it.
      if (entry.value.constructor !== type) throw replyError('wrongType')
      entry.usedAt = this.#seconds()
    }
    // Not pushed: arrays that are emptied by every command would give up their room each time.
    this.#touchedKeys[this.#touchedCount] = key
    this.#touched[this.#touchedCount++] = entry
    return entry.value as T
  }

  type(key: Bytes): ValueType | 'none' {
    const value = this.find(key)?.value
    return value === undefined ? 'none' : typeof value === 'string' ? 'string' : value.type
  }

  /** Stores a value. The key's deadline goes, unless it is kept. */
  set(key: Bytes, value: Value, deadline: 'drop' | 'keep' = 'drop'): void {
    const entry = this.find(key)
    if (entry === undefined) {
      this.#insert(key, value)
      return
    }
    entry.replace(value)
    entry.usedAt = this.#seconds()
    if (deadline === 'drop') entry.expiresAt = undefined
    this.#watchParts(key, entry)
  }

  /** To be called when parts of a value got deadlines, so that they expire although nobody looks. */
  watchParts(key: Bytes): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#watchParts(key, entry)
  }

  /** Removes a key without an event; returns whether it was there. */
  delete(key: Bytes): boolean {
    return this.find(key) !== undefined && this.#entries.delete(key)
  }

  /** Sets or, with `undefined`, removes the deadline of an existing key. */
  setDeadline(key: Bytes, at: number | undefined): void {
    const entry = this.find(key)
    if (entry === undefined) return
    entry.expiresAt = at
    if (at === undefined) return
    this.#pushDeadline(at, key, entry)
  }

  #pushDeadline(at: number, key: Bytes, entry: KeyEntry): void {
    this.#deadlines.push({ at, sequence: this.#sequence++, key, entry })
    // A deadline that is set anew leaves its old place in the heap behind.
    if (this.#deadlines.size > 64 && this.#deadlines.size > 2 * this.#entries.size) this.#dropIdleDeadlines()
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

  /** Removes everything that has expired, in the order of the deadlines. Counts and scans call it first. */
  sweep(): void {
    const now = this.now()
    for (let next = this.#deadlines.peek(); next !== undefined && next.at <= now; next = this.#deadlines.peek()) {
      this.#deadlines.pop()
      // Looking is enough: what has expired goes.
      if (this.#holds(next)) this.find(next.key)
    }
  }

  /** Ends a command: containers that became empty vanish. */
  settle(): void {
    const count = this.#touchedCount
    if (count === 0) return
    this.#touchedCount = 0
    for (let index = 0; index < count; index++) {
      const entry = this.#touched[index]!
      if (!(entry.value as Container).isEmpty) continue
      const key = this.#touchedKeys[index]!
      if (this.#entries.get(key) !== entry) continue
      this.#entries.delete(key)
      if (!this.#made.has(entry)) this.notify('g', 'del', key)
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
    this.#entries.forEach((entry) => {
      if (entry.expiresAt !== undefined) count++
    })
    return count
  }

  /** The table of live entries, in order of insertion. */
  get entries(): KeyTable {
    this.sweep()
    return this.#entries
  }

  clear(): void {
    this.#entries.clear()
    this.#deadlines = new Heap()
  }

  #insert(key: Bytes, value: Value): KeyEntry {
    const entry = this.#entries.insert(key, value, this.#seconds())
    this.#watchParts(key, entry)
    this.notify('n', 'new', key)
    return entry
  }

  #watchParts(key: Bytes, entry: KeyEntry): void {
    if (entry.kind === 'text') return
    const at = partsExpireAt(entry)
    entry.kind = at === undefined ? 'container' : 'expires in parts'
    if (at !== undefined) this.#pushDeadline(at, key, entry)
  }

  #withoutExpiredParts(key: Bytes, entry: KeyEntry): KeyEntry | undefined {
    const container = entry.value as Container
    if (container.partsExpireAt !== undefined && container.partsExpireAt > this.now()) return entry
    const expired = container.expireParts?.(this.now()) ?? 0
    if (expired > 0) this.notify('h', 'hexpired', key)
    if (container.isEmpty) {
      this.#entries.delete(key)
      this.notify('g', 'del', key)
      return undefined
    }
    this.#watchParts(key, entry)
    return entry
  }

  #seconds(): number {
    const now = this.now()
    if (now !== this.#secondsOf) {
      this.#secondsOf = now
      this.#secondsThen = Math.floor(now / 1000)
    }
    return this.#secondsThen
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

function partsExpireAt({ kind, value }: KeyEntry): number | undefined {
  return kind === 'text' ? undefined : (value as Container).partsExpireAt
}
