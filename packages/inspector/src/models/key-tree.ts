import type { PortableString } from '../../../../src/kernel/portable.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'

// Keys as a tree: `user:42:name` is `name` in `42` in `user`.

/** One row of a level: a key, or a folder of keys with the same prefix. */
export interface TreeRow {
  /** Name within its level. */
  readonly name: string
  /** ID of the key, or the prefix of the folder including the colon. */
  readonly path: string
  /** Number of keys in a folder. */
  readonly count?: number
  readonly key?: DumpedKey
}

/** Formats a key for a reader; bytes that are not text as hexadecimal digits. */
export function shownKey(key: PortableString): string {
  return typeof key === 'string' ? key : `0x${hexOf(key.base64)}`
}

export function hexOf(base64: string): string {
  return Array.from(atob(base64), (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}

/**
 * Returns one level of the tree, folders and keys by name. Only open levels are computed, each with one pass over the
 * keys.
 * @param beginning `''` for the top, else the prefix of the folder
 * @param wanted part of the names of keys that are shown
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

/** Compares numbers by their value; with equal names the folder is first. */
function byName(one: TreeRow, other: TreeRow): number {
  return collator.compare(one.name, other.name) || (other.count ?? 0) - (one.count ?? 0)
}

const collator = new Intl.Collator('en', { numeric: true })
