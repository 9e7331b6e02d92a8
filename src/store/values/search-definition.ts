import type { Bytes } from '../../kernel/bytes.js'

/** What a field of an index is read as. [search.md 11] */
export type FieldType = 'TEXT' | 'KEYWORD' | 'U64' | 'I64' | 'F64' | 'BOOL' | 'DATE' | 'FACET'

export const fieldTypes: readonly FieldType[] = ['TEXT', 'KEYWORD', 'U64', 'I64', 'F64', 'BOOL', 'DATE', 'FACET']

/** The kind of keys that an index covers. */
export type DataType = 'JSON' | 'HASH' | 'STRING'

export const dataTypes: readonly DataType[] = ['JSON', 'HASH', 'STRING']

export interface FieldDefinition {
  /** The name that filters use; dots lead into nested objects. */
  readonly path: Bytes
  readonly type: FieldType
  readonly fast?: boolean | undefined
  readonly noStem?: boolean | undefined
  readonly noTokenize?: boolean | undefined
  /** The field of the document that it is read from, when it is not the one of its name. */
  readonly from?: Bytes | undefined
}

/** What SEARCH.CREATE said. */
export interface IndexDefinition {
  readonly dataType: DataType
  readonly prefixes: readonly Bytes[]
  readonly language: Language
  /** In the order in which they were declared. */
  readonly fields: readonly FieldDefinition[]
}

/** Languages whose words can be stemmed. [search.md 1] */
export const languages = [
  'arabic',
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'greek',
  'hungarian',
  'italian',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'spanish',
  'swedish',
  'tamil',
  'turkish',
] as const

/** The name of a language that search indexes know. */
export type Language = (typeof languages)[number]

/** Where the document has what the field is made of. */
export function sourceOf({ path, from }: FieldDefinition): Bytes {
  return from ?? path
}
