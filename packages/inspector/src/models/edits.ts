import type { PortableString } from '../../../../src/kernel/portable.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'
import type { ControlArg } from './control-values.js'

// How a value of each type is shown as rows, and which commands change it. The commands run one after the other.

export type CommandLine = readonly ControlArg[]
/** The cells of a row. */
export type Cells = readonly PortableString[]

export interface RowEditing<K extends DumpedKey = DumpedKey> {
  /** Titles of the columns. */
  readonly columns: readonly string[]
  /** Number of cells at the start of a row that cannot be changed, such as its index or its ID. */
  readonly fixed: number
  rows(value: K): readonly Cells[]
  /** Expiration of a row in virtual milliseconds. */
  deadline?(value: K, row: number): number | undefined
  /** Absent if a row cannot be changed. */
  change?(key: PortableString, before: Cells, after: Cells): readonly CommandLine[]
  remove(key: PortableString, row: Cells): readonly CommandLine[]
  /** Titles of the cells of a new row, without those that the store sets. */
  readonly fresh: readonly string[]
  add(key: PortableString, cells: Cells): readonly CommandLine[]
}

type Typed<T extends DumpedKey['type']> = Extract<DumpedKey, { type: T }>

function editing<T extends DumpedKey['type']>(row: RowEditing<Typed<T>>): RowEditing {
  return row as RowEditing
}

/**
 * A text that no element of a list has. An element is set to it before its removal, because LREM finds values and not
 * indexes.
 */
const removed = 'stuntdouble: this element is removed'

/** Types that are shown as rows. Strings and documents are shown as text. */
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
    // The command that the store may reject comes first, because the typed score may be invalid.
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
}

function isSame(one: PortableString, other: PortableString): boolean {
  return typeof one === 'string' ? one === other : typeof other === 'object' && one.base64 === other.base64
}

function pairsOf(words: readonly PortableString[]): string {
  const shown = words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word)))
  return shown.flatMap((word, at) => (at % 2 === 0 ? [`${word}: ${shown[at + 1] ?? ''}`] : [])).join(', ')
}

/** Returns the command that replaces a text and keeps its expiration. */
export function writing({ key, type }: DumpedKey, text: PortableString): CommandLine {
  return type === 'json' ? ['JSON.SET', key, '$', text] : ['SET', key, text, 'KEEPTTL']
}

/** Returns the command that sets an expiration in seconds, or removes it if the text is empty. */
export function expiring(key: PortableString, seconds: string): CommandLine {
  return seconds.trim() === '' ? ['PERSIST', key] : ['PEXPIRE', key, String(Math.round(Number(seconds) * 1000))]
}

/** Commands that create a new key of each type with one element. */
export const firstOf: Readonly<Record<DumpedKey['type'], (key: PortableString, value: string) => CommandLine>> = {
  string: (key, value) => ['SET', key, value],
  list: (key, value) => ['RPUSH', key, value],
  hash: (key, value) => ['HSET', key, 'field', value],
  set: (key, value) => ['SADD', key, value],
  zset: (key, value) => ['ZADD', key, '0', value],
  stream: (key, value) => ['XADD', key, '*', 'field', value],
  json: (key, value) => ['JSON.SET', key, '$', value],
  search: (key, value) => ['SEARCH.CREATE', key, 'ON', 'JSON', 'PREFIX', '1', value, 'SCHEMA', 'name', 'TEXT'],
}

/** Converts typed hexadecimal digits, `ff 00`, to bytes in the wire format; `undefined` if they are invalid. */
export function bytesOfHex(digits: string): PortableString | undefined {
  const plain = digits.replace(/^0x|\s+/g, '')
  if (!/^(?:[\da-f]{2})*$/i.test(plain)) return undefined
  const pairs = plain.match(/../g) ?? []
  return { base64: btoa(String.fromCharCode(...pairs.map((pair) => Number.parseInt(pair, 16)))) }
}
