import type { Bytes } from '../../kernel/bytes.js'

/** Type of a field in an index. [search.md 11] */
export type FieldType = 'TEXT' | 'KEYWORD' | 'U64' | 'I64' | 'F64' | 'BOOL' | 'DATE' | 'FACET' | 'HYBRID'

export const fieldTypes: readonly FieldType[] = [
  'TEXT',
  'KEYWORD',
  'U64',
  'I64',
  'F64',
  'BOOL',
  'DATE',
  'FACET',
  'HYBRID',
]

/** Returns whether a field contains words. A HYBRID field is a TEXT field that also has an embedding. */
export function isTextual(type: FieldType): boolean {
  return type === 'TEXT' || type === 'HYBRID'
}

/**
 * Function that returns one vector for each text. It is synchronous and pure: the same text always has the same vector,
 * so vectors are cached by text.
 */
export type Embed = (texts: readonly string[]) => readonly Float32Array[]

/** Kind of keys that an index covers. A STREAM index covers the entries of one stream. [search.md 15] */
export type DataType = 'JSON' | 'HASH' | 'STRING' | 'STREAM'

export const dataTypes: readonly DataType[] = ['JSON', 'HASH', 'STRING', 'STREAM']

export interface FieldDefinition {
  /** Name that filters use. Dots separate the names of nested objects. */
  readonly path: Bytes
  readonly type: FieldType
  readonly fast?: boolean | undefined
  readonly noStem?: boolean | undefined
  readonly noTokenize?: boolean | undefined
  /** Source field in the document, if its name differs. */
  readonly from?: Bytes | undefined
}

/** Definition from SEARCH.CREATE. */
export interface IndexDefinition {
  readonly dataType: DataType
  /** Prefixes of the covered keys. A STREAM index has one element: the key of its stream. */
  readonly prefixes: readonly Bytes[]
  readonly language: Language
  /** Fields in the order of their declaration. */
  readonly fields: readonly FieldDefinition[]
}

/** Languages with stemming. [search.md 1] */
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

export function sourceOf({ path, from }: FieldDefinition): Bytes {
  return from ?? path
}
