import { charge, chargePlace } from './steps.js'
/**
 * A Lua value in JavaScript. Strings are byte strings (see kernel/bytes): one character is one byte. A function is a
 * JavaScript function with positional arguments. It returns one value directly, and any other number of values as an
 * array. An array is never a single value, because a table is a `LuaTable`.
 */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction | Coroutine | Userdata

/** Result of a function: one value, or an array with any number of values. The array must not be changed afterwards. */
export type Result = LuaValue | readonly LuaValue[]

/** Function of the host or of a script. Functions of both kinds are called in the same way. */
// biome-ignore lint/suspicious/noExplicitAny: host functions declare the parameters they read, none or many
export type LuaFunction = (...args: any[]) => Result

/** Result without values. It is not the same as one nil. */
export const nothing: readonly LuaValue[] = []
/** Result with one nil, where `undefined` has another meaning. */
export const oneNil: readonly LuaValue[] = [undefined]

/**
 * Light userdata. Two of them are equal only if they are the same object. In redis-server, `cjson.null` is the only
 * one.
 */
export class Userdata {
  constructor(readonly label: string) {}
}

export type CoroutineStatus = 'suspended' | 'running' | 'normal' | 'dead'

/**
 * Running coroutine. `next()` passes the arguments of a resumption. The generator yields the values of each `yield`,
 * and returns the result of the function.
 */
export type Steps = Generator<Result, Result, readonly LuaValue[]>

export class Coroutine {
  status: CoroutineStatus = 'suspended'
  /** Starts the coroutine. The arguments of the first resumption are passed to the function of the coroutine. */
  start: ((args: readonly LuaValue[]) => Steps) | undefined
  steps: Steps | undefined
  /** Call depth and JavaScript frames that the coroutine needs again when it is resumed. */
  depth = 0
  room = 0
  sites: CallSite[] = []

  constructor(start: (args: readonly LuaValue[]) => Steps) {
    this.start = start
  }
}

/** Position of a call or of an operation in the source, and the name of the called function. */
export interface CallSite {
  /** Name of the chunk in error messages, such as `user_script`. */
  readonly chunk: string
  /** Line of the call. 0 if a library function makes the call. */
  readonly line: number
  readonly name: string | undefined
  readonly isMethod: boolean
  /** Whether the call is a tail call. A tail call removes the frame of its caller. */
  readonly isTail: boolean
}

class Entry {
  readonly key: LuaValue
  value: LuaValue
  next: Entry | undefined

  constructor(key: LuaValue, value: LuaValue) {
    this.key = key
    this.value = value
    this.next = undefined
  }
}

/** A table with more entries than this gets a `Map`. Searching the list is faster for fewer entries. */
const smallTable = 8

/** Steps for adding an entry to a table: without a `Map`, and with a `Map`, which must be rehashed when it grows. */
const unitsPerEntry = 3
const unitsPerIndexed = 16

/** A traversal skips this many deleted entries without cost. After that, every two deleted entries cost one step. */
const fewPassed = 32
const passedShift = 1

/**
 * A table. The keys 1…n are in a dense list. All other keys are in a chain of entries, in the order of insertion. A
 * deleted entry stays in the chain without a value until the table next grows. A traversal may therefore delete the
 * entries that it visits.
 */
export class LuaTable {
  /**
   * Values of the keys 1…n: `list[0]` is `t[1]`. The last element is never nil, so the length of the list is a border
   * of the table.
   */
  list: LuaValue[] = []
  meta: LuaTable | undefined = undefined
  /**
   * Whether all assignments are rejected, even raw assignments. Library tables and the globals of a script are
   * read-only.
   */
  isReadonly = false
  #first: Entry | undefined = undefined
  #last: Entry | undefined = undefined
  #entries = 0
  #live = 0
  #index: Map<LuaValue, Entry> | undefined = undefined

  /** Returns the value of a key. Metamethods are not called. */
  get(key: LuaValue): LuaValue {
    if (typeof key === 'string') return this.getString(key)
    if (typeof key === 'number') return this.getNumber(key)
    return this.#find(key)?.value
  }

  getString(key: string): LuaValue {
    const index = this.#index
    if (index !== undefined) return index.get(key)?.value
    for (let entry = this.#first; entry !== undefined; entry = entry.next) if (entry.key === key) return entry.value
    return undefined
  }

  getNumber(key: number): LuaValue {
    const list = this.list
    if (key >= 1 && key <= list.length) return list[key - 1]
    return this.#live === 0 ? undefined : this.#find(key)?.value
  }

  /** Assigns a value. Metamethods are not called. The caller must reject the keys nil and NaN. */
  set(key: LuaValue, value: LuaValue): void {
    if (typeof key === 'number') this.setNumber(key, value)
    else this.#setEntry(key, value)
  }

  setNumber(key: number, value: LuaValue): void {
    const list = this.list
    const length = list.length
    if (key >= 1 && key <= length && Number.isInteger(key)) {
      if (value === undefined && key === length) this.#shrink()
      else list[key - 1] = value
    } else if (key === length + 1) {
      if (value === undefined) return
      list.push(value)
      chargePlace(1)
      if (this.#live !== 0) this.#adopt()
    } else {
      this.#setEntry(key + 0, value)
    }
  }

  /** Returns a border of the table, as the operator `#` does. */
  length(): number {
    return this.list.length
  }

  /**
   * Adopts the values of a constructor `{…}`. If the last values are nil, a binary search finds the border, as in real
   * Lua.
   */
  adoptList(values: LuaValue[]): void {
    if (this.list.length !== 0) {
      for (let index = 0; index < values.length; index++) this.setNumber(index + 1, values[index])
      return
    }
    if (values.length > 0 && values[values.length - 1] === undefined) {
      const rest = values.splice(border(values))
      this.list = values
      for (let index = 0; index < rest.length; index++) {
        if (rest[index] !== undefined) this.#setEntry(values.length + 1 + index, rest[index])
      }
    } else {
      this.list = values
    }
    if (this.#live !== 0) this.#adopt()
  }

  /**
   * Moves entries to the list if their keys directly follow the list. Call it when the list has grown without
   * `setNumber`.
   */
  continueList(): void {
    if (this.#live !== 0) this.#adopt()
  }

  /** Whether the table has keys that are not in the list. */
  get hasEntries(): boolean {
    return this.#live !== 0
  }

  /** Returns `entry`, or the next entry that was not deleted. */
  #alive(entry: Entry | undefined): Entry | undefined {
    let current = entry
    let passed = 0
    for (; current !== undefined && current.value === undefined; passed++) current = current.next
    if (passed > fewPassed) charge(passed >> passedShift)
    return current
  }

  /**
   * Returns the key after `key` in the traversal, or `undefined` at the end. For an unknown key it returns `null`, and
   * the caller throws the error.
   */
  nextKey(key: LuaValue): LuaValue | null {
    const list = this.list
    if (key === undefined) return this.#nextInList(0)
    if (typeof key === 'number' && key >= 1 && key <= list.length && Number.isInteger(key)) return this.#nextInList(key)
    const entry = this.#find(key)
    if (entry !== undefined) return this.#alive(entry.next)?.key
    // The traversal has deleted this element, which was the last one of the list. Continue with the entries.
    if (typeof key === 'number' && key >= 1 && Number.isInteger(key)) return this.#alive(this.#first)?.key
    return null
  }

  #nextInList(from: number): LuaValue {
    const list = this.list
    let index = from
    while (index < list.length && list[index] === undefined) index++
    if (index - from > fewPassed) charge((index - from) >> passedShift)
    return index < list.length ? index + 1 : this.#alive(this.#first)?.key
  }

  /** Returns a cursor, with which a `for` loop over `pairs` visits the table without looking up keys. */
  cursor(): Cursor {
    let index = 0
    let entry: Entry | undefined
    let inList = true
    const cursor: Cursor = {
      key: undefined,
      value: undefined,
      advance: () => {
        if (inList) {
          const { list } = this
          const from = index
          while (index < list.length && list[index] === undefined) index++
          if (index - from > fewPassed) charge((index - from) >> passedShift)
          if (index < list.length) {
            cursor.value = list[index++]
            cursor.key = index
            return true
          }
          inList = false
          entry = this.#alive(this.#first)
        } else {
          entry = this.#alive(entry?.next)
        }
        if (entry === undefined) return false
        cursor.key = entry.key
        cursor.value = entry.value
        return true
      },
    }
    return cursor
  }

  #find(key: LuaValue): Entry | undefined {
    const index = this.#index
    if (index !== undefined) return index.get(key)
    for (let entry = this.#first; entry !== undefined; entry = entry.next) if (entry.key === key) return entry
    return undefined
  }

  #setEntry(key: LuaValue, value: LuaValue): void {
    const entry = this.#find(key)
    if (entry !== undefined) {
      if (entry.value === undefined) {
        if (value !== undefined) this.#live++
      } else if (value === undefined) {
        this.#live--
      }
      entry.value = value
    } else if (value !== undefined) {
      this.#append(key, value)
    }
  }

  #append(key: LuaValue, value: LuaValue): void {
    // A new key costs steps for its length, because every byte is hashed.
    if (typeof key === 'string' && key.length > 256) charge(key.length >> 1)
    if (this.#entries >= smallTable && this.#live < this.#entries >> 1) this.#compact()
    const entry = new Entry(key, value)
    if (this.#last === undefined) this.#first = entry
    else this.#last.next = entry
    this.#last = entry
    this.#live++
    this.#entries++
    chargePlace(this.#entries > smallTable ? unitsPerIndexed : unitsPerEntry)
    if (this.#index !== undefined) this.#index.set(key, entry)
    else if (this.#entries > smallTable) this.#buildIndex()
  }

  #buildIndex(): void {
    const index = new Map<LuaValue, Entry>()
    for (let entry = this.#first; entry !== undefined; entry = entry.next) index.set(entry.key, entry)
    this.#index = index
  }

  /**
   * Removes the deleted entries. The other entries form a new chain. A running traversal continues in the old chain.
   */
  #compact(): void {
    let from = this.#alive(this.#first)
    this.#first = undefined
    this.#last = undefined
    this.#entries = 0
    this.#index = undefined
    for (; from !== undefined; from = this.#alive(from.next)) {
      const entry = new Entry(from.key, from.value)
      if (this.#last === undefined) this.#first = entry
      else (this.#last as Entry).next = entry
      this.#last = entry
      this.#entries++
    }
    if (this.#entries > smallTable) this.#buildIndex()
  }

  /** Removes the last element of the list, and all nils that are then at its end. */
  #shrink(): void {
    const list = this.list
    list.pop()
    while (list.length > 0 && list[list.length - 1] === undefined) list.pop()
  }

  /** Moves entries to the list if their keys directly follow the list. */
  #adopt(): void {
    const list = this.list
    for (;;) {
      const entry = this.#find(list.length + 1)
      if (entry === undefined || entry.value === undefined) return
      list.push(entry.value)
      entry.value = undefined
      this.#live--
    }
  }
}

export interface Cursor {
  key: LuaValue
  value: LuaValue
  /** Moves the cursor to the next value that is not nil. Returns false at the end. */
  advance(): boolean
}

/**
 * Returns a border of the values: an n for which `values[n - 1]` is set and `values[n]` is nil. Uses a binary search,
 * as real Lua does.
 */
function border(values: readonly LuaValue[]): number {
  let low = 0
  let high = values.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (values[middle - 1] === undefined) high = middle
    else low = middle
  }
  return low
}

export function typeName(value: LuaValue): string {
  switch (typeof value) {
    case 'undefined':
      return 'nil'
    case 'boolean':
    case 'number':
    case 'string':
    case 'function':
      return typeof value
    default:
      return value instanceof LuaTable ? 'table' : value instanceof Coroutine ? 'thread' : 'userdata'
  }
}

/** Returns whether a result is an array of values. Otherwise it is one value. */
export function isMany(result: Result): result is readonly LuaValue[] {
  return Array.isArray(result)
}

/** Returns the first value of a call. */
export function first(result: Result): LuaValue {
  return isMany(result) ? result[0] : (result as LuaValue)
}

export function all(result: Result): readonly LuaValue[] {
  return isMany(result) ? result : [result as LuaValue]
}
