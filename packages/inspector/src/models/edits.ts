import { floatsOfBase64, formatFloat32 } from '../../../../src/kernel/float32.js'
import type { PortableString } from '../../../../src/kernel/portable.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'
import type { ControlArg } from './control-values.js'

// Shows the value of a key as rows, and returns the commands that change a row. There is one definition for each type.
// The commands run one after the other.

export type CommandLine = readonly ControlArg[]
export type Cells = readonly PortableString[]

export interface RowEditing<K extends DumpedKey = DumpedKey> {
  readonly columns: readonly string[]
  /** Number of cells that cannot be changed, at the beginning of each row, such as the index or the ID. */
  readonly fixed: number
  rows(value: K): readonly Cells[]
  /** Returns the expiration of a row, in milliseconds of virtual time. */
  deadline?(value: K, row: number): number | undefined
  /** Returns the commands that change a row. Absent if the rows of this type cannot be changed. */
  change?(key: PortableString, before: Cells, after: Cells): readonly CommandLine[]
  remove(key: PortableString, row: Cells): readonly CommandLine[]
  /** Titles of the cells that a user types for a new row. The store sets the other cells. */
  readonly fresh: readonly string[]
  add(key: PortableString, cells: Cells): readonly CommandLine[]
}

type Typed<T extends DumpedKey['type']> = Extract<DumpedKey, { type: T }>

function editing<T extends DumpedKey['type']>(row: RowEditing<Typed<T>>): RowEditing {
  return row as RowEditing
}

/**
 * Replaces a list element that is to be removed. LREM finds an element by its value, so the element first gets a value
 * that no other element has.
 */
const removed = 'stuntdouble: this element is removed'

/** Definitions for the types that are shown as rows. Strings and JSON documents are shown as text. */
export const rowEditing: Readonly<Partial<Record<DumpedKey['type'], RowEditing>>> = {
  list: editing<'list'>({
    columns: ['index', 'element'],
    fixed: 1,
    rows: ({ elements }) => elements.map((element, index) => [String(index), element]),
    change: (key, [index = ''], [, element = '']) => [['LSET', key, index, element]],
    remove: (key, [index = '']) => [
      ['LSET', key, index, removed],
      ['LREM', key, '1', removed],
    ],
    fresh: ['element'],
    add: (key, [element = '']) => [['RPUSH', key, element]],
  }),
  set: editing<'set'>({
    columns: ['member'],
    fixed: 0,
    rows: ({ members }) => members.map((member) => [member]),
    change: (key, [before = ''], [after = '']) => [
      ['SADD', key, after],
      ['SREM', key, before],
    ],
    remove: (key, [member = '']) => [['SREM', key, member]],
    fresh: ['member'],
    add: (key, [member = '']) => [['SADD', key, member]],
  }),
  zset: editing<'zset'>({
    columns: ['member', 'score'],
    fixed: 0,
    rows: ({ members }) => members,
    // ZADD comes first, because the store rejects it if the typed score is invalid. The old member is then not removed.
    change: (key, [before = ''], [after = '', score = '']) => [
      ['ZADD', key, score, after],
      ...(isSame(before, after) ? [] : [['ZREM', key, before]]),
    ],
    remove: (key, [member = '']) => [['ZREM', key, member]],
    fresh: ['member', 'score'],
    add: (key, [member = '', score = '']) => [['ZADD', key, score, member]],
  }),
  hash: editing<'hash'>({
    columns: ['field', 'value'],
    fixed: 0,
    rows: ({ fields }) => fields.map(([field, value]) => [field, value]),
    deadline: ({ fields }, row) => fields[row]?.[2],
    change: (key, [before = ''], [after = '', value = '']) => [
      ['HSET', key, after, value],
      ...(isSame(before, after) ? [] : [['HDEL', key, before]]),
    ],
    remove: (key, [field = '']) => [['HDEL', key, field]],
    fresh: ['field', 'value'],
    add: (key, [field = '', value = '']) => [['HSET', key, field, value]],
  }),
  stream: editing<'stream'>({
    columns: ['id', 'fields'],
    fixed: 2,
    rows: ({ entries }) => entries.map(([id, ...words]) => [id!, pairsOf(words)]),
    remove: (key, [id = '']) => [['XDEL', key, id]],
    fresh: ['field', 'value'],
    add: (key, [field = '', value = '']) => [['XADD', key, '*', field, value]],
  }),
  array: editing<'array'>({
    columns: ['index', 'value'],
    fixed: 1,
    rows: ({ slots }) => slots,
    change: (key, [index = ''], [, value = '']) => [['ARSET', key, index, value]],
    remove: (key, [index = '']) => [['ARDEL', key, index]],
    fresh: ['index', 'value'],
    add: (key, [index = '', value = '']) => [['ARSET', key, index, value]],
  }),
  vector: editing<'vector'>({
    columns: ['id', 'vector'],
    fixed: 0,
    rows: ({ vectors }) => vectors.map(([id, vector]) => [id, elementsText(vector)]),
    change: (key, [before = ''], [after = '', elements = '']) => [
      vectorAdded(key, after, elements),
      ...(isSame(before, after) ? [] : [['VECTOR.DEL', key, before]]),
    ],
    remove: (key, [id = '']) => [['VECTOR.DEL', key, id]],
    fresh: ['id', 'vector'],
    add: (key, [id = '', elements = '']) => [vectorAdded(key, id, elements)],
  }),
}

/** Shows the elements of a vector, which a dump contains as base64: `1, 0, 0.5`. */
function elementsText(vector: string | readonly number[]): string {
  const elements = typeof vector === 'string' ? [...(floatsOfBase64(vector) ?? [])] : vector
  return elements.map(formatFloat32).join(', ')
}

function vectorAdded(key: PortableString, id: PortableString, elements: PortableString): CommandLine {
  const words = String(elements).match(/[^\s,[\]]+/g) ?? []
  return ['VECTOR.ADD', key, id, 'VALUES', String(words.length), ...words]
}

function isSame(one: PortableString, other: PortableString): boolean {
  return typeof one === 'string' ? one === other : typeof other === 'object' && one.base64 === other.base64
}

function pairsOf(words: readonly PortableString[]): string {
  const shown = words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word)))
  return shown.flatMap((word, at) => (at % 2 === 0 ? [`${word}: ${shown[at + 1] ?? ''}`] : [])).join(', ')
}

/** Returns a command that sets the value of a string or a JSON document, without changing its expiration. */
export function writing({ key, type }: DumpedKey, text: PortableString): CommandLine {
  return type === 'json' ? ['JSON.SET', key, '$', text] : ['SET', key, text, 'KEEPTTL']
}

/**
 * Returns a command that sets the expiration of a key. If the typed text is empty, the command removes the expiration.
 */
export function expiring(key: PortableString, seconds: string): CommandLine {
  return seconds.trim() === '' ? ['PERSIST', key] : ['PEXPIRE', key, String(Math.round(Number(seconds) * 1000))]
}

/** Returns a command that creates a key of this type with one element. A search or vector index is created empty. */
export const firstOf: Readonly<Record<DumpedKey['type'], (key: PortableString, value: string) => CommandLine>> = {
  string: (key, value) => ['SET', key, value],
  list: (key, value) => ['RPUSH', key, value],
  hash: (key, value) => ['HSET', key, 'field', value],
  set: (key, value) => ['SADD', key, value],
  zset: (key, value) => ['ZADD', key, '0', value],
  stream: (key, value) => ['XADD', key, '*', 'field', value],
  array: (key, value) => ['ARINSERT', key, value],
  json: (key, value) => ['JSON.SET', key, '$', value],
  search: (key, value) => ['SEARCH.CREATE', key, 'ON', 'JSON', 'PREFIX', '1', value, 'SCHEMA', 'name', 'TEXT'],
  vector: (key, dimensions) => ['VECTOR.CREATE', key, 'DIM', dimensions, 'METRIC', 'COSINE'],
}

/**
 * Converts typed hexadecimal digits, such as `ff 00`, to an argument. Returns `undefined` if the digits are invalid.
 */
export function bytesOfHex(digits: string): PortableString | undefined {
  const plain = digits.replace(/^0x|\s+/g, '')
  if (!/^(?:[\da-f]{2})*$/i.test(plain)) return undefined
  const pairs = plain.match(/../g) ?? []
  return { base64: btoa(String.fromCharCode(...pairs.map((pair) => Number.parseInt(pair, 16)))) }
}
