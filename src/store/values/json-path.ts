import { type Bytes, latin1, text as toText } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import {
  type Operand,
  type Path,
  type PathComparison,
  type PathOperand,
  type PathTest,
  readPath,
  type Segment,
  type Selector,
} from './json-path-syntax.js'
import { compareJson, equalJson, isContainer, type Json, type JsonArray } from './json-value.js'
import { compileRegex, type Regex } from './regex.js'

/**
 * Location in a document. The chain of `up` locations to the root is its whole path. A change affects the container
 * `up.value`.
 */
export interface JsonLocation {
  readonly up: JsonLocation | undefined
  /** Name or index in the container `up`; an empty name for the root. */
  readonly key: Bytes | number
  readonly value: Json
  /** Number of containers above. */
  readonly depth: number
}

/** Error for a path that matches more locations than fit into memory, such as `$..*..*..*` in a large document. */
export class JsonPathBudgetError extends Error {}

const cachedPaths = new Map<string, Path>()
const maxCachedPaths = 256
const maxCachedLength = 512

/** Parses a path like {@link readPath}, and caches recent paths. */
export function parsePath(text: Bytes): Path {
  const cached = cachedPaths.get(text)
  if (cached) {
    cachedPaths.delete(text)
    cachedPaths.set(text, cached)
    return cached
  }
  const path = readPath(text)
  if (text.length > maxCachedLength) return path
  if (cachedPaths.size >= maxCachedPaths) cachedPaths.delete(cachedPaths.keys().next().value as string)
  cachedPaths.set(text, path)
  return path
}

/**
 * Returns the locations that a path matches: deepest first after `..`, otherwise in document order. A location may be
 * repeated.
 */
export function locate(path: Path, root: Json, work: Work): JsonLocation[] {
  return new Evaluation(root, work).locate(path.segments, rootLocation(root))
}

/** Returns the values that a path matches, in the order of {@link locate}. */
export function findValues(path: Path, root: Json, work: Work): Json[] {
  if (!path.single) return locate(path, root, work).map((location) => location.value)
  const value = stepThrough(path.segments, root)
  return value === undefined ? [] : [value]
}

export function rootLocation(root: Json): JsonLocation {
  return { up: undefined, key: latin1(''), value: root, depth: 0 }
}

/** Units of work for a visit, a comparison or a step of a regular expression. */
const unitsPerStep = 3
const unitsPerPlace = 6

/** Units of work for compiling a pattern, one for each state that it can have. */
const statesPerPattern = 5000

/**
 * Maximum number of locations in the result of a segment. More locations could use up the memory before the work budget
 * ends.
 */
export const maxPlaces = 2_000_000

class Evaluation {
  readonly #root: Json
  readonly #work: Work
  /** Compiled patterns that filters read from the document itself. */
  readonly #patterns = new Map<Bytes, Regex | undefined>()

  constructor(root: Json, work: Work) {
    this.#root = root
    this.#work = work
  }

  locate(segments: readonly Segment[], start: JsonLocation): JsonLocation[] {
    let current = [start]
    for (const { deep, selectors } of segments) {
      const next: JsonLocation[] = []
      for (const location of current) {
        if (deep) this.#descend(selectors, location, next)
        else this.#select(selectors, location, next)
      }
      if (next.length === 0) return next
      this.#work.charge(unitsPerPlace * next.length)
      current = next
    }
    return current
  }

  /** Visits children before their parent, in the order that the service returns. [store.md 7.2, JSON.*] */
  #descend(selectors: readonly Selector[], location: JsonLocation, found: JsonLocation[]): void {
    const { value } = location
    this.#spend(1)
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const member = value[index] as Json
        if (isContainer(member)) this.#descend(selectors, child(location, index, member), found)
      }
    } else if (value instanceof Map) {
      for (const [key, member] of value) {
        if (isContainer(member)) this.#descend(selectors, child(location, key, member), found)
      }
    }
    this.#select(selectors, location, found)
  }

  #select(selectors: readonly Selector[], location: JsonLocation, found: JsonLocation[]): void {
    if (found.length > maxPlaces) throw new JsonPathBudgetError('the path matches too many locations')
    for (const selector of selectors) {
      this.#spend(1)
      if (selector.kind === 'name' || selector.kind === 'index') {
        const value = step(selector, location.value)
        if (value !== undefined) found.push(child(location, keyOf(selector, location.value), value))
      } else if (selector.kind === 'slice') this.#slice(selector, location, found)
      else this.#members(selector, location, found)
    }
  }

  #members(selector: Selector & { kind: 'wildcard' | 'filter' }, location: JsonLocation, found: JsonLocation[]): void {
    const { value } = location
    if (!isContainer(value)) return
    this.#spend(Array.isArray(value) ? value.length : value.size)
    for (const [key, member] of value.entries()) {
      if (selector.kind === 'wildcard' || this.#passes(selector.test, member)) found.push(child(location, key, member))
    }
  }

  #slice(selector: Selector & { kind: 'slice' }, location: JsonLocation, found: JsonLocation[]): void {
    const { value } = location
    if (!Array.isArray(value)) return
    for (const index of slicedIndexes(selector, value.length)) {
      this.#spend(1)
      found.push(child(location, index, value[index] as Json))
    }
  }

  #passes(test: PathTest, member: Json): boolean {
    this.#spend(1)
    switch (test.kind) {
      case 'or':
        return test.tests.some((part) => this.#passes(part, member))
      case 'and':
        return test.tests.every((part) => this.#passes(part, member))
      case 'not':
        return !this.#passes(test.test, member)
      case 'constant':
        return test.value
      case 'exists':
        return this.#values(test.operand, member).length > 0
      case 'compare':
        return this.#compare(test.operator, this.#single(test.left, member), this.#single(test.right, member))
      case 'match':
        return this.#matches(this.#single(test.left, member), test.pattern, member)
    }
  }

  #values(operand: PathOperand, member: Json): Json[] {
    const start = operand.fromRoot ? this.#root : member
    if (!operand.single) return this.locate(operand.segments, rootLocation(start)).map(({ value }) => value)
    const value = stepThrough(operand.segments, start)
    return value === undefined ? [] : [value]
  }

  /** Returns the single value of an operand; `undefined` if its path matches nothing or several locations. */
  #single(operand: Operand, member: Json): Json | undefined {
    if (operand.kind === 'literal') return operand.value
    const values = this.#values(operand, member)
    return values.length === 1 ? values[0] : undefined
  }

  /** Compares as in RFC 9535: values of different types are unequal and have no order; two missing values are equal. */
  #compare(operator: PathComparison, left: Json | undefined, right: Json | undefined): boolean {
    const equal = this.#equal(left, right)
    if (operator === '==') return equal
    if (operator === '!=') return !equal
    if (equal) return operator === '<=' || operator === '>='
    if (left === undefined || right === undefined) return false
    const order = compareJson(left, right)
    return operator === '<' || operator === '<=' ? order === -1 : order === 1
  }

  #equal(left: Json | undefined, right: Json | undefined): boolean {
    if (left === undefined || right === undefined) return left === right
    if (isContainer(left)) this.#spend(sizeOf(left))
    return equalJson(left, right)
  }

  #matches(value: Json | undefined, pattern: Regex | PathOperand | undefined, member: Json): boolean {
    if (typeof value !== 'string' || !pattern) return false
    const regex = 'kind' in pattern ? this.#pattern(this.#single(pattern, member)) : pattern
    return regex?.test(toText(value), (steps) => this.#spend(steps)) ?? false
  }

  #pattern(source: Json | undefined): Regex | undefined {
    if (typeof source !== 'string') return undefined
    if (!this.#patterns.has(source)) {
      this.#spend(statesPerPattern + source.length)
      this.#patterns.set(source, compileRegex(toText(source)))
    }
    return this.#patterns.get(source)
  }

  #spend(steps: number): void {
    this.#work.charge(unitsPerStep * steps)
  }
}

function child(up: JsonLocation, key: Bytes | number, value: Json): JsonLocation {
  return { up, key, value, depth: up.depth + 1 }
}

/** Follows segments that name one member each. */
function stepThrough(segments: readonly Segment[], start: Json): Json | undefined {
  let value: Json | undefined = start
  for (const segment of segments) {
    value = step(segment.selectors[0] as Selector, value)
    if (value === undefined) return undefined
  }
  return value
}

function step(selector: Selector, value: Json): Json | undefined {
  if (selector.kind === 'name') return value instanceof Map ? value.get(selector.name) : undefined
  if (selector.kind !== 'index' || !Array.isArray(value)) return undefined
  return value[keyOf(selector, value) as number]
}

function keyOf(selector: Selector & { kind: 'name' | 'index' }, value: Json): Bytes | number {
  if (selector.kind === 'name') return selector.name
  return selector.index < 0 ? (value as JsonArray).length + selector.index : selector.index
}

/**
 * Yields indexes as in RFC 9535 2.3.4.2.2: negative bounds count from the end, a negative step goes backwards, step 0
 * selects nothing.
 */
function* slicedIndexes({ start, stop, step }: Selector & { kind: 'slice' }, length: number): Generator<number> {
  const fromEnd = (bound: number): number => (bound < 0 ? bound + length : bound)
  const within = (bound: number, least: number, most: number): number => Math.min(Math.max(bound, least), most)
  if (step > 0) {
    const last = within(fromEnd(stop ?? length), 0, length)
    for (let index = within(fromEnd(start ?? 0), 0, length); index < last; index += step) yield index
  } else if (step < 0) {
    const last = stop === undefined ? -1 : within(fromEnd(stop), -1, length - 1)
    for (let index = within(fromEnd(start ?? length - 1), -1, length - 1); index > last; index += step) yield index
  }
}

function sizeOf(value: Json): number {
  if (!isContainer(value)) return 1
  let size = 1
  for (const member of value.values()) size += sizeOf(member)
  return size
}
