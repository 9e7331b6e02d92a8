import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import {
  type Arg,
  flag,
  int,
  type KeyUse,
  key,
  named,
  oneOrMore,
  optional,
  options,
  tuple,
} from '../command/arguments.js'
import { type Command, type CommandContext, type CommandRow, command } from '../command/command.js'
import { invalidJsonPath, jsonPathMissing, jsonPathType, replyError, requestTooLarge } from '../command/errors.js'
import { ok, type Reply, Status } from '../command/reply.js'
import type { Database } from '../keyspace/database.js'
import { mergePatch, outermost, removeAll, replaceAt, valueAt } from '../values/json-edit.js'
import { addNumbers, type JsonNumber, multiplyNumbers } from '../values/json-number.js'
import { findValues, type JsonLocation, JsonPathBudgetError, locate } from '../values/json-path.js'
import type { Path } from '../values/json-path-syntax.js'
import { formatJson, JsonSizeError, type Layout, maxTextLength } from '../values/json-text.js'
import {
  copyJson,
  costOf,
  depthOf,
  equalJson,
  Float,
  isContainer,
  isNumber,
  type Json,
  type JsonArray,
  JsonDocument,
  type JsonObject,
  maxDepth,
  memoryOf,
  payFor,
  typeName,
} from '../values/json-value.js'
import {
  keysAndPath,
  layoutAndPaths,
  number,
  path,
  pathBeforeLast,
  pathOrRoot,
  rootPath,
  value,
} from './json-arguments.js'

function documentOf(db: Database, key: Bytes): JsonDocument | undefined {
  return db.container(key, JsonDocument)
}

function existingDocument(db: Database, key: Bytes): JsonDocument {
  const document = documentOf(db, key)
  if (document === undefined) throw replyError('jsonNoKey')
  return document
}

function valuesAt(path: Path, document: JsonDocument, work: Work): Json[] {
  return evaluated(path, () => findValues(path, document.root, work))
}

function placesAt(path: Path, document: JsonDocument, work: Work): JsonLocation[] {
  return evaluated(path, () => locate(path, document.root, work))
}

function evaluated<T>(path: Path, evaluate: () => T): T {
  try {
    return evaluate()
  } catch (error) {
    throw error instanceof JsonPathBudgetError ? invalidJsonPath(path.text, error.message) : error
  }
}

/**
 * Checks that a document does not become deeper than JSON.SET allows.
 * @param above the depth of the location
 * @param depth the depth of the added value
 */
function checkDepth(above: number, depth: number): void {
  if (above + depth > maxDepth) throw replyError('jsonDepth')
}

/** Charges copies to the work budget. A value that is set at several locations is copied for each additional one. */
function payForCopies(places: number, value: Json, work: Work): void {
  if (places > 1) work.charge((places - 1) * costOf(value))
}

function isRoot(path: Path): boolean {
  return path.segments.length === 0
}

/**
 * Returns the reply of a read command. For a `$` path, the reply has one item per match, which is `null` where `read`
 * returns `undefined`. For a legacy path, the reply is the result of the first match.
 */
function readEach(
  { document, path, work }: Target,
  read: (value: Json) => Reply | undefined,
  legacy: { readonly otherType: () => Error; readonly missing: () => Reply },
): Reply {
  const values = valuesAt(path, document, work)
  if (!path.legacy) return values.map((value) => read(value) ?? null)
  const first = values[0]
  if (first === undefined) return legacy.missing()
  const reply = read(first)
  if (reply === undefined) throw legacy.otherType()
  return reply
}

interface Change {
  readonly path: Path
  readonly places: readonly JsonLocation[]
  /** Reason in the error for a legacy path without a usable match, such as `not an array`. */
  readonly otherType: string
  /** Changes the value at a location and returns the result. Returns `undefined` if the value has the wrong type. */
  change(place: JsonLocation): Reply | undefined
}

/**
 * Returns the reply of a write command. For a `$` path, the reply has one item per match, which is `null` for a value
 * of the wrong type. For a legacy path, the reply is the result of the last usable match, or an error if no match is
 * usable.
 */
function changeEach({ path, places, otherType, change }: Change, changed: () => void): Reply {
  const replies = places.map(change)
  const last = replies.findLast((reply) => reply !== undefined)
  if (last !== undefined) changed()
  if (!path.legacy) return replies.map((reply) => reply ?? null)
  if (last === undefined) throw jsonPathMissing(otherType)
  return last
}

function noPath(): never {
  throw replyError('jsonNoPath')
}

const notAnArray = 'not an array'

interface ArrayChange {
  readonly key: Bytes
  readonly path: Path
  readonly event: string
  /** Throws if an array cannot be changed. Called for all arrays before the first change. */
  check?(array: JsonArray, place: JsonLocation): void
  change(array: JsonArray): Reply
}

/** Applies {@link changeEach} to the arrays among the matches. */
function changeArrays(db: Database, { key, path, event, check, change }: ArrayChange): Reply {
  const places = placesAt(path, existingDocument(db, key), db.work)
  if (check) for (const place of places) if (Array.isArray(place.value)) check(place.value, place)
  const changeOne = ({ value }: JsonLocation) => (Array.isArray(value) ? change(value) : undefined)
  return changeEach({ path, places, otherType: notAnArray, change: changeOne }, () => db.notify('d', event, key))
}

/** Returns a function that checks whether values fit into an array and charges their insertion to the work budget. */
function addition(values: readonly Json[], work: Work): NonNullable<ArrayChange['check']> {
  let depth = 0
  let cost = 0
  for (const value of values) {
    depth = Math.max(depth, depthOf(value))
    cost += costOf(value)
  }
  return (array, place) => {
    checkDepth(place.depth + 1, depth)
    // The insertion moves the elements after the inserted values.
    work.charge(cost + (array.length >>> 1))
  }
}

function insertAt(array: JsonArray, index: number, values: readonly Json[]): number {
  const after = array.splice(index)
  for (const value of values) array.push(copyJson(value))
  for (const value of after) array.push(value)
  return array.length
}

/** Converts an index to one between 0 and the length. A negative index counts from the end. */
function clampedIndex(index: number, length: number): number {
  return Math.min(Math.max(index < 0 ? index + length : index, 0), length)
}

interface Target {
  readonly document: JsonDocument
  readonly path: Path
  readonly work: Work
}

/**
 * Returns the locations that are not inside another location. This searches the path from each location up to the root,
 * which is charged to the work budget.
 */
function outermostOf(places: readonly JsonLocation[], work: Work): JsonLocation[] {
  let levels = 0
  for (const { depth } of places) levels += 4 + depth
  work.charge(levels)
  return outermost(places)
}

/**
 * Sets the value at every match. If the path has no match, adds a member with the last name of the path. Returns
 * `false` if neither is possible.
 */
function setValue(
  { document, path, work }: Target,
  value: Json,
  condition: { readonly nx?: true; readonly xx?: true },
  missing?: () => boolean,
): boolean {
  const places = outermostOf(placesAt(path, document, work), work)
  if (places.length === 0) return condition.xx === undefined && createAt({ document, path, work }, value, missing)
  if (condition.nx) return false
  const depth = depthOf(value)
  for (const place of places) checkDepth(place.depth, depth)
  payForCopies(places.length, value, work)
  places.forEach((place, index) => {
    replaceAt(document, place, index === 0 ? value : copyJson(value))
  })
  return true
}

/**
 * Adds a member for a path without matches. The last name of the path is the name of the new member. The segments
 * before it select the object.
 */
function createAt({ document, path, work }: Target, value: Json, missing: () => boolean = noPath): boolean {
  if (!path.single) throw replyError('jsonDynamicPath')
  const last = path.segments.at(-1)?.selectors[0]
  const above = { ...path, segments: path.segments.slice(0, -1) }
  const parent = placesAt(above, document, work)[0]
  if (parent === undefined) return missing()
  if (last?.kind === 'index') throw replyError('jsonIndexRange')
  if (last?.kind !== 'name' || !(parent.value instanceof Map)) return false
  checkDepth(parent.depth + 1, depthOf(value))
  parent.value.set(last.name, value)
  return true
}

function deepestFirst(places: readonly JsonLocation[]): JsonLocation[] {
  return [...places].sort((a, b) => b.depth - a.depth)
}

function mergeValue({ document, path, work }: Target, patch: Json): boolean {
  if (isRoot(path)) {
    document.root = mergePatch(document.root, patch)
    return true
  }
  const places = placesAt(path, document, work)
  if (places.length === 0) return patch === null || createAt({ document, path, work }, mergePatch(undefined, patch))
  const depth = depthOf(patch)
  for (const place of places) checkDepth(place.depth, depth)
  payForCopies(places.length, patch, work)
  if (patch === null) removeAll(outermostOf(places, work))
  // The deepest locations come first, because a merge at one location can remove the locations below it.
  else for (const place of deepestFirst(places)) replaceAt(document, place, mergePatch(valueAt(document, place), patch))
  return true
}

/**
 * Makes all changes on copies and stores the copies together, so that an error changes nothing. A path without a target
 * is skipped, for example if an earlier triple has removed the target. [store.md, last section]
 */
function setMany(db: Database, triples: readonly (readonly [Bytes, Path, Json])[]): void {
  const drafts = new Map<Bytes, JsonDocument>()
  const changed = new Set<Bytes>()
  for (const [key, path, value] of triples) {
    let draft = drafts.get(key)
    if (draft === undefined) {
      const document = documentOf(db, key)
      if (document === undefined && !isRoot(path)) throw replyError('jsonRoot')
      if (!isRoot(path)) document?.pay(db.work)
      draft = isRoot(path) ? new JsonDocument() : (document as JsonDocument).copy()
      drafts.set(key, draft)
    }
    if (setValue({ document: draft, path, work: db.work }, value, {}, () => false)) changed.add(key)
  }
  for (const key of changed) {
    db.container(key, JsonDocument, 'create').root = drafts.get(key)!.root
    db.notify('d', 'json.mset', key)
  }
}

/** Adds to or multiplies every number among the matches. If one result is not finite, no number is changed. */
function calculate(
  context: CommandContext,
  key: Bytes,
  path: Path,
  value: JsonNumber,
  event: string,
  operation: (a: JsonNumber, b: JsonNumber) => JsonNumber | undefined,
): Reply {
  const document = existingDocument(context.db, key)
  const undo: [JsonLocation, Json][] = []
  const results = placesAt(path, document, context.db.work).map((place) => {
    const before = valueAt(document, place)
    if (!isNumber(before)) return null
    const after = operation(before, value)
    if (after === undefined) {
      for (const [changed, old] of undo.reverse()) replaceAt(document, changed, old)
      throw replyError('jsonNotNumber')
    }
    undo.push([place, before])
    replaceAt(document, place, after)
    return after
  })
  const last = results.findLast((result) => result !== null)
  if (last !== undefined) context.db.notify('d', event, key)
  if (!path.legacy) return texted(results, context)
  if (last === undefined) throw jsonPathMissing('does not contains a number')
  return formatJson(last)
}

/** Clears a value and returns whether it changed. Only containers with members and numbers other than zero change. */
function clear(document: JsonDocument, place: JsonLocation): boolean {
  const { value } = place
  if (isContainer(value)) {
    if ((Array.isArray(value) ? value.length : value.size) === 0) return false
    if (Array.isArray(value)) value.length = 0
    else value.clear()
    return true
  }
  if (!isNumber(value) || (value instanceof Float ? value.value : value) === 0) return false
  replaceAt(document, place, 0)
  return true
}

interface Span {
  readonly start: number
  readonly stop: number
  readonly work: Work
}

function firstIndex(array: JsonArray, wanted: Json, { start, stop, work }: Span): number {
  const end = stop === 0 ? array.length : clampedIndex(stop, array.length)
  work.charge(array.length)
  const cost = isContainer(wanted) ? costOf(wanted) : 0
  for (let index = clampedIndex(start, array.length); index < end; index++) {
    const member = array[index] as Json
    if (cost > 0 && isContainer(member))
      work.charge(Math.min(cost, Array.isArray(member) ? member.length : member.size))
    if (equalJson(member, wanted)) return index
  }
  return -1
}

function texted(values: Json, { store }: CommandContext, layout?: Layout): Bytes {
  try {
    return formatJson(values, layout, store.work)
  } catch (error) {
    throw error instanceof JsonSizeError ? requestTooLarge(maxTextLength, error.length, store.docs) : error
  }
}

/** Returns the result of one path of JSON.GET: all matches, or the first one. */
function shown({ document, path, work }: Target, asArray: boolean): Json {
  const values = valuesAt(path, document, work)
  if (asArray) return values
  return values.length > 0 ? (values[0] as Json) : noPath()
}

/**
 * Converts JSON to the types of the Redis protocol. An array becomes a list whose first item is `[`, and an object a
 * list whose first item is `{`.
 */
function respForm(value: Json): Reply {
  if (Array.isArray(value)) return [latin1('['), ...value.map(respForm)]
  if (value instanceof Map) return [latin1('{'), ...[...value].flatMap(([name, member]) => [name, respForm(member)])]
  if (typeof value === 'boolean') return new Status(String(value))
  // Integer replies are signed and have 64 bits, so a larger integer becomes a text.
  if (typeof value === 'bigint' && value >= 2n ** 63n) return latin1(String(value))
  return value instanceof Float ? value.text : value
}

function keysOf(value: Json, work: Work): Reply | undefined {
  if (!(value instanceof Map)) return undefined
  work.charge(2 * value.size)
  return [...value.keys()]
}

const objectOnly = { otherType: () => jsonPathType('object'), missing: () => null }
const keyAndPath = (use: KeyUse) => [key(use), pathOrRoot] as const

/** Difference from RedisJSON. [store.md 7.2] */
const parentMissing = 'If the parent of the path is missing, the reply is an error. RedisJSON replies nil.'

function json<const A extends readonly Arg<unknown>[]>(name: string, row: CommandRow<A>): Command {
  return command(`JSON.${name}`, { since: 'service', surplus: 'arity', ...row })
}

function deleteAt({ db }: CommandContext, key: Bytes, path: Path): number {
  const document = documentOf(db, key)
  if (document === undefined) return 0
  const places = outermostOf(placesAt(path, document, db.work), db.work)
  if (places.length === 0) return 0
  if (places[0]?.up === undefined) db.delete(key)
  else removeAll(places)
  db.notify('d', 'json.del', key)
  return places.length
}

export const jsonCommands: readonly Command[] = [
  json('SET', {
    flags: ['write', 'slow'],
    deviations: parentMissing,
    args: [key('RW'), path, value, options({ nx: flag, xx: flag })],
    run({ db }, key, path, value, condition) {
      if (condition.nx && condition.xx) throw replyError('syntax')
      const document = documentOf(db, key)
      if (document === undefined) {
        if (!isRoot(path)) throw replyError('jsonRoot')
        if (condition.xx) return null
        db.set(key, new JsonDocument(value))
      } else if (!setValue({ document, path, work: db.work }, value, condition)) return null
      db.notify('d', 'json.set', key)
      return ok
    },
  }),

  json('MSET', {
    flags: ['write', 'slow'],
    args: [oneOrMore(tuple(key('W'), path, value))],
    run({ db }, triples) {
      setMany(db, triples)
      return ok
    },
  }),

  json('MERGE', {
    flags: ['write', 'slow'],
    deviations: parentMissing,
    args: [key('W'), path, value],
    run({ db }, key, path, value) {
      const document = documentOf(db, key)
      if (document === undefined) {
        if (!isRoot(path)) throw replyError('jsonRoot')
        db.set(key, new JsonDocument(mergePatch(undefined, value)))
      } else if (!mergeValue({ document, path, work: db.work }, value)) return null
      db.notify('d', 'json.merge', key)
      return ok
    },
  }),

  json('GET', {
    flags: ['read', 'slow'],
    deviations:
      'Matches of `..` are returned deepest first, as in every JSON command of the service. RedisJSON returns them in document order.',
    args: [key('R'), layoutAndPaths],
    run(context, key, { layout, paths }) {
      const document = documentOf(context.db, key)
      if (document === undefined) return null
      const asArrays = paths.some((path) => !path.legacy)
      const shownAt = (path: Path) => shown({ document, path, work: context.db.work }, asArrays)
      if (paths.length < 2) return texted(shownAt(paths[0] ?? rootPath), context, layout)
      const byPath: JsonObject = new Map()
      for (const path of paths) byPath.set(path.text, shownAt(path))
      return texted(byPath, context, layout)
    },
  }),

  json('MGET', {
    flags: ['read', 'slow'],
    args: [keysAndPath],
    run: (context, { keys, path }) =>
      keys.map((key) => {
        const document = context.db.use(key)
        // As in MGET, a key of another type counts as missing.
        if (!(document instanceof JsonDocument)) return null
        const values = valuesAt(path, document, context.db.work)
        if (path.legacy && values.length === 0) return null
        return texted(path.legacy ? (values[0] as Json) : values, context)
      }),
  }),

  json('DEL', { flags: ['write', 'slow'], args: keyAndPath('W'), run: deleteAt }),
  json('FORGET', { flags: ['write', 'slow'], args: keyAndPath('W'), run: deleteAt }),

  json('CLEAR', {
    flags: ['write', 'slow'],
    args: keyAndPath('W'),
    run({ db }, key, path) {
      const document = existingDocument(db, key)
      const cleared = outermostOf(placesAt(path, document, db.work), db.work).filter((place) =>
        clear(document, place),
      ).length
      if (cleared > 0) db.notify('d', 'json.clear', key)
      return cleared
    },
  }),

  json('TYPE', {
    flags: ['read', 'slow'],
    args: keyAndPath(''),
    run({ db }, key, path) {
      const document = documentOf(db, key)
      if (document === undefined) return null
      const names = valuesAt(path, document, db.work).map((value) => latin1(typeName(value)))
      return path.legacy ? (names[0] ?? null) : names
    },
  }),

  json('NUMINCRBY', {
    flags: ['write', 'slow'],
    args: [key('RW'), path, number],
    run: (context, key, path, value) => calculate(context, key, path, value, 'json.numincrby', addNumbers),
  }),

  json('NUMMULTBY', {
    flags: ['write', 'slow'],
    args: [key('RW'), path, number],
    run: (context, key, path, value) => calculate(context, key, path, value, 'json.nummultby', multiplyNumbers),
  }),

  json('STRAPPEND', {
    flags: ['write', 'slow'],
    args: [key('W'), pathBeforeLast, value],
    run({ db }, key, path, value) {
      if (typeof value !== 'string') throw jsonPathType('string')
      const document = existingDocument(db, key)
      const change = (place: JsonLocation) => {
        const before = valueAt(document, place)
        if (typeof before !== 'string') return undefined
        const after = latin1(before + value)
        replaceAt(document, place, after)
        return after.length
      }
      const places = placesAt(path, document, db.work)
      return changeEach({ path, places, otherType: 'not a string', change }, () =>
        db.notify('d', 'json.strappend', key),
      )
    },
  }),

  json('STRLEN', {
    flags: ['read', 'slow'],
    args: keyAndPath(''),
    run({ db }, key, path) {
      const document = path.legacy ? documentOf(db, key) : existingDocument(db, key)
      if (document === undefined) return null
      const length = (value: Json) => (typeof value === 'string' ? value.length : undefined)
      return readEach({ document, path, work: db.work }, length, {
        otherType: () => jsonPathType('string'),
        missing: noPath,
      })
    },
  }),

  json('TOGGLE', {
    flags: ['write', 'slow'],
    args: [key('RW'), path],
    run({ db }, key, path) {
      const document = existingDocument(db, key)
      const change = (place: JsonLocation) => {
        const before = valueAt(document, place)
        if (typeof before !== 'boolean') return undefined
        replaceAt(document, place, !before)
        return path.legacy ? latin1(String(!before)) : Number(!before)
      }
      const places = placesAt(path, document, db.work)
      return changeEach({ path, places, otherType: 'not a bool', change }, () => db.notify('d', 'json.toggle', key))
    },
  }),

  json('ARRAPPEND', {
    flags: ['write', 'slow'],
    args: [key('W'), path, oneOrMore(value)],
    run: ({ db }, key, path, values) =>
      changeArrays(db, {
        key,
        path,
        event: 'json.arrappend',
        check: addition(values, db.work),
        change: (array) => insertAt(array, array.length, values),
      }),
  }),

  json('ARRINSERT', {
    flags: ['write', 'slow'],
    args: [key('W'), path, named('index', int), oneOrMore(value)],
    run({ db }, key, path, index, values) {
      const check = addition(values, db.work)
      return changeArrays(db, {
        key,
        path,
        event: 'json.arrinsert',
        check(array, place) {
          if (index > array.length || index < -array.length) throw replyError('jsonIndexBounds')
          check(array, place)
        },
        change: (array) => insertAt(array, clampedIndex(index, array.length), values),
      })
    },
  }),

  json('ARRINDEX', {
    flags: ['read', 'slow'],
    args: [key('R'), path, value, optional(named('start', int)), optional(named('stop', int))],
    run({ db }, key, path, value, start = 0, stop = 0) {
      const search = (array: Json) =>
        Array.isArray(array) ? firstIndex(array, value, { start, stop, work: db.work }) : undefined
      const legacy = { otherType: () => jsonPathType('array'), missing: noPath }
      return readEach({ document: existingDocument(db, key), path, work: db.work }, search, legacy)
    },
  }),

  json('ARRLEN', {
    flags: ['read', 'slow'],
    args: keyAndPath(''),
    run({ db }, key, path) {
      const document = path.legacy ? documentOf(db, key) : existingDocument(db, key)
      if (document === undefined) return null
      const length = (value: Json) => (Array.isArray(value) ? value.length : undefined)
      const missing = (): never => {
        throw jsonPathMissing(notAnArray)
      }
      return readEach({ document, path, work: db.work }, length, { otherType: missing, missing })
    },
  }),

  json('ARRPOP', {
    flags: ['write', 'slow'],
    args: [...keyAndPath('RW'), optional(named('index', int))],
    run: (context, key, path, index = -1) =>
      changeArrays(context.db, {
        key,
        path,
        event: 'json.arrpop',
        change(array) {
          if (array.length === 0) return null
          const at = Math.min(clampedIndex(index, array.length), array.length - 1)
          return texted(array.splice(at, 1)[0] as Json, context)
        },
      }),
  }),

  json('ARRTRIM', {
    flags: ['write', 'slow'],
    args: [key('W'), path, named('start', int), named('stop', int)],
    run: ({ db }, key, path, start, stop) =>
      changeArrays(db, {
        key,
        path,
        event: 'json.arrtrim',
        change(array) {
          const first = clampedIndex(start, array.length)
          const end = clampedIndex(stop, array.length) + (stop >= -array.length ? 1 : 0)
          array.length = Math.min(end, array.length)
          array.splice(0, first)
          return array.length
        },
      }),
  }),

  json('OBJKEYS', {
    flags: ['read', 'slow'],
    args: keyAndPath('R'),
    run({ db }, key, path) {
      const document = path.legacy ? documentOf(db, key) : existingDocument(db, key)
      if (document === undefined) return null
      return readEach({ document, path, work: db.work }, (value) => keysOf(value, db.work), objectOnly)
    },
  }),

  json('OBJLEN', {
    flags: ['read', 'slow'],
    args: keyAndPath(''),
    run({ db }, key, path) {
      const document = path.legacy ? documentOf(db, key) : existingDocument(db, key)
      if (document === undefined) return null
      return readEach(
        { document, path, work: db.work },
        (value) => (value instanceof Map ? value.size : undefined),
        objectOnly,
      )
    },
  }),

  json('RESP', {
    flags: ['read', 'slow'],
    args: keyAndPath('R'),
    run({ db }, key, path) {
      const document = documentOf(db, key)
      if (document === undefined) return null
      const values = valuesAt(path, document, db.work)
      const shown = path.legacy ? values.slice(0, 1) : values
      for (const value of shown) payFor(value, db.work)
      if (!path.legacy) return shown.map(respForm)
      return shown.length > 0 ? respForm(shown[0] as Json) : noPath()
    },
  }),

  json('DEBUG MEMORY', {
    flags: ['read', 'slow'],
    args: keyAndPath('R'),
    run({ db }, key, path) {
      const document = documentOf(db, key)
      if (document === undefined) return path.legacy ? 0 : []
      const sizes = valuesAt(path, document, db.work).map((value) => {
        payFor(value, db.work)
        return memoryOf(value)
      })
      return path.legacy ? (sizes[0] ?? noPath()) : sizes
    },
  }),

  json('DEBUG HELP', {
    flags: ['read', 'slow'],
    args: [],
    run: () => [latin1('MEMORY <key> [path] - reports memory usage'), latin1('HELP                - this message')],
  }),
]
