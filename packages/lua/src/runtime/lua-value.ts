import { charge, chargePlace } from './steps.js'
/**
 * Lua values in JavaScript. Strings are byte strings (see kernel/bytes): one character, one byte.
 *
 * A function is a plain JavaScript function with positional values. It returns one value directly, and any other number
 * of values as an array. That is unambiguous because a table is a `LuaTable`, never an array.
 */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction | Coroutine | Userdata

/** One value, or an array of any number of values that must not be changed afterwards. */
export type Result = LuaValue | readonly LuaValue[]

/** Function of the host or of Lua; calls do not distinguish them. */
// biome-ignore lint/suspicious/noExplicitAny: host functions declare the parameters they read, none or many
export type LuaFunction = (...args: any[]) => Result

/** No value, which differs from one nil. */
export const nothing: readonly LuaValue[] = []
/** One nil, for code in which `undefined` has another meaning. */
export const oneNil: readonly LuaValue[] = [undefined]

/** Light userdata, of which only the identity matters. `cjson.null` is the only one in redis. */
export class Userdata {
  constructor(readonly label: string) {}
}

export type CoroutineStatus = 'suspended' | 'running' | 'normal' | 'dead'

/** Running coroutine: receives arguments by `next`, yields values, and ends with the function's result. */
export type Steps = Generator<Result, Result, readonly LuaValue[]>

export class Coroutine {
  status: CoroutineStatus = 'suspended'
  /** Starts the coroutine at the first resume, whose arguments are those of the function. */
  start: ((args: readonly LuaValue[]) => Steps) | undefined
  steps: Steps | undefined
  /** Call depth at which a yield left the body, and the JavaScript frames it needs again. */
  depth = 0
  room = 0
  sites: CallSite[] = []

  constructor(start: (args: readonly LuaValue[]) => Steps) {
    this.start = start
  }
}

/** Position of a call or an operation in a source, and the name of the called function there. */
export interface CallSite {
  /** Name in error messages, such as `user_script`. */
  readonly chunk: string
  /** Line; 0 if the caller is not written in Lua. */
  readonly line: number
  readonly name: string | undefined
  readonly isMethod: boolean
  /** Whether it is a tail call, which removes the frame of its caller. */
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

/** Maximum number of entries for which a search through the list is faster than a `Map`. */
const smallTable = 8

/** Steps for a new entry: in a list that is searched, and in a `Map` that grows and is rehashed. */
const unitsPerEntry = 3
const unitsPerIndexed = 16

/** Number of deleted elements that a traversal skips without cost. Every two further ones cost one step. */
const fewPassed = 32
const passedShift = 1

/**
 * Table: a dense part for 1…n and a list of entries in order of insertion for all other keys. A deleted entry stays in
 * the list without a value until the next growth, so that a traversal may delete what it visits.
 */
export class LuaTable {
  /** Dense part: `list[0]` is `t[1]`. The last element is never nil, so its length is a border. */
  list: LuaValue[] = []
  meta: LuaTable | undefined = undefined
  /** Whether every assignment is rejected, including raw ones: library tables and the globals of a script. */
  isReadonly = false
  #first: Entry | undefined = undefined
  #last: Entry | undefined = undefined
  #entries = 0
  #live = 0
  #index: Map<LuaValue, Entry> | undefined = undefined

  /** Returns a value without metamethods. */
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

  /**
   * Assigns a value without metamethods. The caller checks that the key is neither nil nor NaN, and throws the error if
   * it is.
   */
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

  /** Returns a border, as the length operator does. */
  length(): number {
    return this.list.length
  }

  /**
   * Takes over the values of a constructor `{…}`, which may end in nils. The border is found by bisection, as in real
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
   * Moves entries that continue the list into the list. Must be called after the list has grown without `setNumber`.
   */
  continueList(): void {
    if (this.#live !== 0) this.#adopt()
  }

  /** Whether there are keys other than 1…n. */
  get hasEntries(): boolean {
    return this.#live !== 0
  }

  /** Returns the first live entry at or after `entry`. */
  #alive(entry: Entry | undefined): Entry | undefined {
    let current = entry
    let passed = 0
    for (; current !== undefined && current.value === undefined; passed++) current = current.next
    if (passed > fewPassed) charge(passed >> passedShift)
    return current
  }

  /**
   * Returns the key after `key` in traversal order, `undefined` at the end. For an unknown key it returns `null`, and
   * the caller throws the error.
   */
  nextKey(key: LuaValue): LuaValue | null {
    const list = this.list
    if (key === undefined) return this.#nextInList(0)
    if (typeof key === 'number' && key >= 1 && key <= list.length && Number.isInteger(key)) return this.#nextInList(key)
    const entry = this.#find(key)
    if (entry !== undefined) return this.#alive(entry.next)?.key
    // An element at the end of the list that was deleted during the traversal.
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

  /** Returns the traversal for `pairs` in a `for` loop, which does not look up keys. */
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
    // Every byte of a new key is hashed.
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

  /** Removes the deleted entries. The remaining ones get a new chain: a running traversal keeps its old one. */
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

  /** Deletes the last element of the list and the nils before it. */
  #shrink(): void {
    const list = this.list
    list.pop()
    while (list.length > 0 && list[list.length - 1] === undefined) list.pop()
  }

  /** Moves the entries whose keys follow the last index of the list into the list. */
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
  /** Moves to the next live element; returns false at the end. */
  advance(): boolean
}

/** Returns an n with values[n-1] set and values[n] nil, found by bisection. */
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

/** Returns whether a call returned anything but one plain value. */
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
