import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import type { DataType, FieldType, Language } from '../values/search-definition.js'
import { SearchIndex } from '../values/search-index.js'

/** Definition of a search index. Its content is rebuilt from the keys that it covers. */
export interface PortableIndex {
  /** The value is a search index. */
  readonly type: 'search'
  /** Kind of keys that the index covers. */
  readonly on: DataType
  /** Prefixes of the names of the keys that the index covers. With `on: 'STREAM'`, only the key of the stream. */
  readonly prefixes: readonly PortableString[]
  /** Language of the stemming. [search.md 1] */
  readonly language: Language
  /** Fields of the index in the order of their declaration. */
  readonly fields: readonly PortableSearchField[]
}

export interface PortableSearchField {
  /** Name that filters use. Dots separate the names of nested objects. */
  readonly path: PortableString
  /** Type of the field. [search.md 11] */
  readonly type: FieldType
  /** Whether the field is declared FAST, for sorting and aggregations. Default false. [search.md 1, 7, 13] */
  readonly fast?: boolean | undefined
  /** Whether the words of a TEXT field are indexed without stemming. Default false. [search.md 11] */
  readonly noStem?: boolean | undefined
  /** Whether the value of a TEXT field is indexed as one term. Default false. [search.md 11] */
  readonly noTokenize?: boolean | undefined
  /** Source field in the document, if its name differs. */
  readonly from?: PortableString | undefined
}

export function portableIndex({ definition }: SearchIndex): PortableIndex {
  const { dataType, prefixes, language, fields } = definition
  return {
    type: 'search',
    on: dataType,
    prefixes: prefixes.map(portableString),
    language,
    fields: fields.map(({ path, type, fast, noStem, noTokenize, from }) => ({
      path: portableString(path),
      type,
      ...(fast && { fast }),
      ...(noStem && { noStem }),
      ...(noTokenize && { noTokenize }),
      ...(from !== undefined && { from: portableString(from) }),
    })),
  }
}

/**
 * Converts an index from a dump.
 * @throws TypeError when it is invalid
 */
export function indexOf({ on, prefixes, language, fields }: PortableIndex): SearchIndex {
  if (on === 'STREAM' && prefixes.length !== 1)
    throw new TypeError('an index over a stream has exactly one element in `prefixes`.')
  return new SearchIndex({
    dataType: on,
    prefixes: prefixes.map(bytesOf),
    language,
    fields: fields.map(({ path, from, ...rest }) => ({
      ...rest,
      path: bytesOf(path),
      ...(from !== undefined && { from: bytesOf(from) }),
    })),
  })
}
