import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Arg, type ArgReader, key, toInt } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import { parseDouble } from '../command/text.js'
import type { Database } from '../keyspace/database.js'
import { Deque } from '../values/deque.js'
import { HashValue } from '../values/hash-value.js'
import { SetValue } from '../values/set-value.js'
import { SortedSet } from '../values/sorted-set-value.js'

interface Wish {
  by: Bytes | undefined
  readonly get: Bytes[]
  start: number
  /** Number of elements, negative for all. */
  count: number
  descending: boolean
  alpha: boolean
  store: Bytes | undefined
}

function wishes(canStore: boolean): Arg<Wish> {
  const store = canStore ? ' [STORE destination]' : ''
  return {
    usage: `[BY pattern] [LIMIT offset count] [GET pattern …] [ASC|DESC] [ALPHA]${store}`,
    min: 0,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      const wish: Wish = {
        by: undefined,
        get: [],
        start: 0,
        count: -1,
        descending: false,
        alpha: false,
        store: undefined,
      }
      while (from.left > 0) readOption(from, wish, canStore)
      return wish
    },
  }
}

function readOption(from: ArgReader, wish: Wish, canStore: boolean): void {
  const option = from.next().toUpperCase()
  if (option === 'ASC' || option === 'DESC') wish.descending = option === 'DESC'
  else if (option === 'ALPHA') wish.alpha = true
  else if (option === 'BY') wish.by = from.next()
  else if (option === 'GET') wish.get.push(from.next())
  else if (option === 'STORE' && canStore) wish.store = from.key('W')
  else if (option === 'LIMIT' && from.left >= 2) {
    wish.start = toInt(from.next())
    wish.count = toInt(from.next())
  } else throw replyError('syntax')
}

interface Row {
  readonly element: Bytes
  readonly weight: Bytes | number | undefined
}

/**
 * Returns the elements in stored order, or the elements of a sorted set by score. DESC reverses lists and sorted sets,
 * but not sets, which have no order.
 */
function elementsOf(db: Database, key: Bytes, descending: boolean): Bytes[] {
  const value = db.use(key)
  if (value === undefined) return []
  if (value instanceof Deque) return descending ? [...value].reverse() : [...value]
  if (value instanceof SetValue) return [...value.members.keys()]
  if (!(value instanceof SortedSet)) throw replyError('wrongType')
  const elements: Bytes[] = []
  value.walk(0, value.size, descending, (member) => elements.push(member))
  return elements
}

/**
 * Replaces `*` in a pattern such as `weight_*` or `user_*->name` with the element, and returns the value at that key or
 * field. The pattern `#` returns the element itself.
 */
function lookUp(db: Database, pattern: Bytes, element: Bytes): Bytes | undefined {
  if (pattern === '#') return element
  const star = pattern.indexOf('*')
  if (star === -1) return undefined
  const arrow = pattern.indexOf('->', star + 1)
  const hasField = arrow !== -1 && arrow + 2 < pattern.length
  const end = hasField ? arrow : pattern.length
  const key = latin1(pattern.slice(0, star) + element + pattern.slice(star + 1, end))
  const type = db.type(key)
  if (hasField) return type === 'hash' ? fieldOf(db, key, latin1(pattern.slice(arrow + 2))) : undefined
  return type === 'string' ? db.string(key) : undefined
}

function fieldOf(db: Database, key: Bytes, field: Bytes): Bytes | undefined {
  return db.container(key, HashValue)?.get(field)
}

function weightOf(text: Bytes): number {
  // The empty text and leading blanks are accepted, as in C's strtod.
  const value = parseDouble(latin1(text.replace(/^[ \t-\r]+/, '') || '0'))
  if (value === undefined) throw replyError('notSortable')
  return value
}

function sorted(db: Database, elements: readonly Bytes[], { by, alpha, descending }: Wish): Bytes[] {
  const rows = elements.map((element): Row => {
    const text = by === undefined ? element : lookUp(db, by, element)
    return { element, weight: alpha ? text : text === undefined ? 0 : weightOf(text) }
  })
  let bytes = 0
  for (const { element, weight } of rows) bytes += typeof weight === 'string' ? weight.length : element.length
  db.work.charge(Math.floor((bytes * roundsOf(rows.length)) / comparedPerUnit))
  const direction = descending ? -1 : 1
  rows.sort((a, b) => direction * (compare(a.weight, b.weight) || (alpha ? 0 : compare(a.element, b.element))))
  return rows.map(({ element }) => element)
}

/** Compares two values; missing ones come first. */
function compare(a: Bytes | number | undefined, b: Bytes | number | undefined): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1
  return a < b ? -1 : 1
}

/** Returns the elements in order. A pattern without `*` disables sorting. */
function ordered({ db, store }: CommandContext, key: Bytes, wish: Wish): Bytes[] {
  const isSet = db.type(key) === 'set'
  const asStored = wish.by !== undefined && !wish.by.includes('*')
  const elements = elementsOf(db, key, asStored && wish.descending)
  if (!asStored) return sorted(db, elements, wish)
  // The order inside a set is arbitrary. A result that is stored or returned to a script must not depend on that order,
  // so the elements are sorted.
  return isSet && (wish.store !== undefined || store.scripts.isRunning)
    ? sorted(db, elements, { ...wish, by: undefined, alpha: true })
    : elements
}

function sort(key: Bytes, wish: Wish, context: CommandContext): Reply {
  const { db } = context
  const elements = ordered(context, key, wish)
  const start = Math.max(wish.start, 0)
  const chosen = elements.slice(start, wish.count < 0 ? undefined : start + wish.count)
  const reply =
    wish.get.length === 0
      ? chosen
      : chosen.flatMap((element) => wish.get.map((pattern) => lookUp(db, pattern, element) ?? null))
  return wish.store === undefined ? reply : storeList(db, wish.store, reply)
}

function storeList(db: Database, key: Bytes, elements: readonly (Bytes | null)[]): number {
  if (elements.length > 0) {
    db.set(key, Deque.from(elements.map((element) => element ?? latin1(''))))
    db.notify('l', 'sortstore', key)
  } else if (db.delete(key)) {
    db.notify('g', 'del', key)
  }
  return elements.length
}

/** Units of work for a comparison of two short elements. [measured] */
const unitsPerComparison = 1.5
/** Bytes of compared texts that cost one unit of work. Two long texts may differ only at their ends. [measured] */
const comparedPerUnit = 128

/**
 * Returns the approximate number of comparisons that a sort needs per element: the binary digits of the number of
 * elements.
 */
function roundsOf(count: number): number {
  return 33 - Math.clz32(count)
}

/**
 * Returns the work of a sort. Each pattern creates a key for each element. Long texts are charged to the work budget
 * when they are looked up.
 */
function sortWork(db: Database, key: Bytes, { by, get }: Wish): number {
  const count = db.sizeOf(key)
  const isSorted = by?.includes('*') ?? true
  const comparisons = isSorted ? unitsPerComparison * roundsOf(count) : 1
  let lookUps = 0
  for (const pattern of isSorted && by !== undefined ? [by, ...get] : get) lookUps += 16 + (pattern.length >>> 4)
  return Math.ceil(count * (comparisons + lookUps))
}

export const sortCommands: readonly Command[] = [
  command('SORT', {
    flags: ['write', 'slow', 'dangerous'],
    status: 'redis',
    args: [key('R'), wishes(true)],
    work: sortWork,
    run: (context, key, wish) => sort(key, wish, context),
  }),

  command('SORT_RO', {
    flags: ['read', 'slow', 'dangerous'],
    since: '7.0.0',
    status: 'redis',
    args: [key('R'), wishes(false)],
    work: sortWork,
    run: (context, key, wish) => sort(key, wish, context),
  }),
]
