import { type Bytes, text, utf8 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { HashValue } from '../values/hash-value.js'
import { formatJson } from '../values/json-text.js'
import type { Json, JsonObject } from '../values/json-value.js'
import { type FieldDefinition, isTextual, sourceOf } from '../values/search-definition.js'
import type { Content } from './content.js'
import { type SearchFilter, termsOf } from './filter.js'
import type { Highlight } from './query-options.js'
import { arrayIn, type Document } from './search-document.js'
import { unknownField } from './search-errors.js'
import type { Scalar } from './sorted-values.js'

type Range = readonly [start: number, end: number]

/** Adds marks around the requested words. */
type Mark = (value: Bytes) => Bytes

/** Returns a function that adds marks to a document. Stored values do not change. */
export function highlighter(
  { fields, open, close }: Highlight,
  filter: SearchFilter,
  content: Content,
  work: Work,
): (document: Document) => Document {
  const bySource = new Map<Bytes, ((value: string) => Range[])[]>()
  const withArrays = new Set<Bytes>()
  for (const path of fields) {
    const field = content.definition.fields.find((one) => one.path === path)
    if (field === undefined) throw unknownField(path)
    const source = sourceOf(field)
    const finders = bySource.get(source) ?? []
    finders.push(finderOf(field, termsOf(filter, path), content))
    bySource.set(source, finders)
    if (content.readsArray(path)) withArrays.add(source)
  }
  const marks = [...bySource].map(([source, finders]) => {
    const mark: Mark = (value) => {
      work.charge((1 + finders.length) * value.length)
      const whole = text(value)
      const ranges = joined(finders.flatMap((find) => find(whole)))
      return ranges.length === 0 ? value : utf8(marked(whole, ranges, text(open), text(close)))
    }
    return { source, mark: withArrays.has(source) ? inArrays(mark, work) : mark }
  })
  return (document) => {
    let result = document
    for (const { source, mark } of marks) result = withMarks(result, source, mark)
    return result
  }
}

/** Marks each element of a text that is a JSON array. A text without marks keeps its spelling. [search.md 11] */
function inArrays(mark: Mark, work: Work): Mark {
  return (value) => {
    const array = arrayIn(value)
    if (array === undefined) return mark(value)
    work.charge(value.length)
    let isMarked = false
    const marked = markedAt(array, [], (element) => {
      const result = mark(element)
      isMarked ||= result !== element
      return result
    })
    return isMarked ? formatJson(marked, undefined, work) : value
  }
}

function finderOf(field: FieldDefinition, terms: ReadonlySet<Scalar>, content: Content): (value: string) => Range[] {
  if (terms.size === 0) return () => []
  if (isTextual(field.type)) {
    const { analyse } = content.text(field.path)
    return (value) => {
      const ranges: Range[] = []
      analyse(value, (term, start, end) => {
        if (terms.has(term)) ranges.push([start, end])
      })
      return ranges
    }
  }
  if (field.type !== 'KEYWORD' && field.type !== 'FACET') return () => []
  return (value) => (terms.has(utf8(value)) ? [[0, value.length]] : [])
}

/** Sorts ranges and joins overlapping ones. */
function joined(ranges: readonly Range[]): Range[] {
  const all: [number, number][] = []
  for (const [start, end] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end)
    else all.push([start, end])
  }
  return all
}

function marked(value: string, ranges: readonly Range[], open: string, close: string): string {
  let out = ''
  let at = 0
  for (const [start, end] of ranges) {
    out += value.slice(at, start) + open + value.slice(start, end) + close
    at = end
  }
  return out + value.slice(at)
}

function withMarks(document: Document, source: Bytes, mark: Mark): Document {
  if (!(document instanceof HashValue)) return markedAt(document, source.split('.') as Bytes[], mark) as JsonObject
  const value = document.get(source)
  if (value === undefined) return document
  const copy = document.copy()
  copy.set(source, mark(value))
  return copy
}

/** Marks the values at a path. Objects that are not on the path are reused. */
function markedAt(value: Json, path: readonly Bytes[], mark: Mark): Json {
  if (Array.isArray(value)) return value.map((element) => markedAt(element, path, mark))
  const [name, ...rest] = path
  if (name === undefined) return typeof value === 'string' ? mark(value) : value
  if (!(value instanceof Map)) return value
  const member = value.get(name)
  return member === undefined ? value : new Map(value).set(name, markedAt(member, rest, mark))
}
