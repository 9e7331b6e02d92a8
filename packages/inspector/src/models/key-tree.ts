import type { PortableString } from '../../../../src/kernel/portable.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'

// Shows keys as a tree. Colons separate the levels: the key `user:42:name` is the row `name` in the folder `42` in the
// folder `user`.

/** A row of the tree: a key, or a folder of the keys that have the same prefix. */
export interface TreeRow {
  /** Last part of the name, which is shown on this level. */
  readonly name: string
  /** ID of the key. For a folder, its prefix, including the colon. */
  readonly path: string
  /** Number of keys in a folder. */
  readonly count?: number
  readonly key?: DumpedKey
}

/** Formats a key for a reader. Bytes that are not text become hexadecimal digits. */
export function shownKey(key: PortableString): string {
  return typeof key === 'string' ? key : `0x${hexOf(key.base64)}`
}

export function hexOf(base64: string): string {
  return Array.from(atob(base64), (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}

/**
 * Returns the rows of one level, sorted by name. It is called only for open levels, and reads all keys once.
 * @param beginning prefix of the folder, or `''` for the top level
 * @param wanted text that the name of a key must contain
 */
export function levelOf(
  state: Iterable<readonly [id: string, key: DumpedKey]>,
  beginning: string,
  wanted = '',
): readonly TreeRow[] {
  const folders = new Map<string, number>()
  const rows: TreeRow[] = []
  const word = wanted.toLowerCase()
  for (const [id, key] of state) {
    const name = shownKey(key.key)
    if (!name.startsWith(beginning) || (word !== '' && !name.toLowerCase().includes(word))) continue
    const colon = name.indexOf(':', beginning.length)
    if (colon < 0 || colon === name.length - 1) {
      rows.push({ name: name.slice(beginning.length), path: id, key })
      continue
    }
    const folder = name.slice(beginning.length, colon)
    folders.set(folder, (folders.get(folder) ?? 0) + 1)
  }
  for (const [name, count] of folders) rows.push({ name, path: `${beginning}${name}:`, count })
  return rows.sort(byName)
}

/** Compares names. Numbers in names are compared by value. If the names are equal, the folder is first. */
function byName(one: TreeRow, other: TreeRow): number {
  return collator.compare(one.name, other.name) || (other.count ?? 0) - (one.count ?? 0)
}

const collator = new Intl.Collator('en', { numeric: true })
