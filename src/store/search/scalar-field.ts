import type { Work } from '../../kernel/work.js'
import { type Bound, compareScalars, isList, listOf, type Scalar, type Scalars, SortedValues } from './sorted-values.js'

/** Values of one field that is not TEXT. Lookup structures are created at the first query and then updated. */
export class ScalarField {
  /** Values by document, possibly several. */
  readonly #values = new Map<number, Scalars>()
  /** Documents by value, for fields that are queried by value. */
  #byValue: Map<Scalar, Set<number>> | undefined
  #sorted: SortedValues | undefined
  size = 0
  #count = 0

  /** @param isWord whether nearly all queries are for a single value instead of a range */
  constructor(private readonly isWord: boolean) {}

  /** Replaces a document's values; returns whether they changed. */
  set(id: number, values: Scalars): boolean {
    if (this.#count > maxUnsorted) void (this.isWord ? this.#ids : this.#inOrder)
    const before = this.#values.get(id) ?? nothing
    if (isSame(before, values)) return false
    if (isList(before)) for (const value of before) this.#remove(value, id)
    else this.#remove(before, id)
    if (!isList(values)) {
      this.#values.set(id, values)
      this.#add(values, id)
      return true
    }
    if (values.length === 0) this.#values.delete(id)
    else this.#values.set(id, values)
    for (const value of values) this.#add(value, id)
    return true
  }

  #add(value: Scalar, id: number): void {
    if (this.#byValue !== undefined) addTo(this.#byValue, value, id)
    this.#sorted?.add(value, id)
    this.size += sizeOf(value)
    this.#count++
  }

  #remove(value: Scalar, id: number): void {
    const ids = this.#byValue?.get(value)
    ids?.delete(id)
    if (ids?.size === 0) this.#byValue!.delete(value)
    this.#sorted?.remove(value, id)
    this.size -= sizeOf(value)
    this.#count--
  }

  /** Returns the distinct values of a document, in its order. */
  valuesOf(id: number): readonly Scalar[] {
    return listOf(this.#values.get(id) ?? nothing)
  }

  /** Returns the values of a document like `valuesOf()`, and charges a long list of values to the work budget. */
  chargedValuesOf(id: number, work: Work): readonly Scalar[] {
    const values = this.valuesOf(id)
    if (values.length > 1) work.charge(4 * values.length)
    return values
  }

  /** Returns the documents with a value. */
  having(value: Scalar): ReadonlySet<number> {
    return this.#ids.get(value) ?? nobody
  }

  get #ids(): ReadonlyMap<Scalar, ReadonlySet<number>> {
    if (this.#byValue === undefined) {
      this.#byValue = new Map()
      for (const [id, values] of this.#values) for (const each of listOf(values)) addTo(this.#byValue, each, id)
    }
    return this.#byValue
  }

  /** Units of work for sorting the values before the next range query; 0 if they are already sorted. */
  get unsorted(): number {
    return this.#sorted === undefined ? unitsPerSorted * this.#count : 0
  }

  countWithin(low: Bound | undefined, high: Bound | undefined): number {
    return this.#inOrder.count(low, high)
  }

  /** Returns each document in a range once. */
  idsWithin(low: Bound | undefined, high: Bound | undefined): number[] {
    return [...new Set(this.#inOrder.ids(low, high))]
  }

  /** @param work the work budget, to which a long list of values is charged */
  hasWithin(id: number, low: Bound | undefined, high: Bound | undefined, work: Work): boolean {
    const values = this.#values.get(id)
    if (values === undefined) return false
    if (!isList(values)) return isWithin(values, low, high)
    work.charge(values.length >>> 1)
    for (const value of values) if (isWithin(value, low, high)) return true
    return false
  }

  get #inOrder(): SortedValues {
    if (this.#sorted === undefined) {
      const pairs: [Scalar, number][] = []
      for (const [id, values] of this.#values) for (const value of listOf(values)) pairs.push([value, id])
      this.#sorted = SortedValues.of(pairs)
    }
    return this.#sorted
  }
}

export function isWithin(value: Scalar, low: Bound | undefined, high: Bound | undefined): boolean {
  if (low !== undefined) {
    const order = compareScalars(value, low.value)
    if (order < 0 || (order === 0 && !low.inclusive)) return false
  }
  if (high === undefined) return true
  const order = compareScalars(value, high.value)
  return order < 0 || (order === 0 && high.inclusive)
}

function addTo(byValue: Map<Scalar, Set<number>>, value: Scalar, id: number): void {
  const ids = byValue.get(value)
  if (ids === undefined) byValue.set(value, new Set([id]))
  else ids.add(id)
}

function isSame(some: Scalars, others: Scalars): boolean {
  if (!isList(some) || !isList(others)) return some === others
  return some.length === others.length && some.every((value, at) => value === others[at])
}

function sizeOf(value: Scalar): number {
  return typeof value === 'string' ? value.length + 4 : 12
}

/** Maximum number of values that are sorted by a query. In a larger field, writes keep the values sorted. */
const maxUnsorted = 20_000
const unitsPerSorted = 24

const nothing: readonly Scalar[] = []
const nobody: ReadonlySet<number> = new Set()
