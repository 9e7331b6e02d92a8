import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import type { DataType, FieldType, Language } from '../values/search-definition.js'
import { SearchIndex } from '../values/search-index.js'

/** Definition of a search index. Its content is rebuilt from the keys that it covers. */
export interface PortableIndex {
  readonly type: 'search'
  readonly on: DataType
  readonly prefixes: readonly PortableString[]
  readonly language: Language
  readonly fields: readonly PortableSearchField[]
}

export interface PortableSearchField {
  readonly path: PortableString
  readonly type: FieldType
  readonly fast?: boolean | undefined
  readonly noStem?: boolean | undefined
  readonly noTokenize?: boolean | undefined
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

export function indexOf({ on, prefixes, language, fields }: PortableIndex): SearchIndex {
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
