import * as v from 'valibot'
import type { Bytes } from '../../kernel/bytes.js'
import { type DumpProblem, invalidDump, shortened } from '../../kernel/dump-problems.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import type { StoreDiff } from '../../kernel/traffic-log.js'
import type { Database, KeyspaceValue } from '../keyspace/database.js'
import { SearchIndex } from '../values/search-index.js'
import { portableValue, storedValue } from './portable-values.js'
import { storeSchema } from './snapshot-schema.js'
import type { DumpedKey, StoreDump } from './store-dump.js'

export function dumpOf(db: Database): StoreDump {
  const keys: DumpedKey[] = []
  db.forEach((value, name, expiresAt) => {
    const key = portableString(name)
    keys.push({ key, ...(expiresAt !== undefined && { expiresAt }), ...portableValue(value) })
  })
  const aliases = [...db.search.aliases].map(
    ([alias, index]) => [portableString(alias), portableString(index)] as const,
  )
  return {
    format: 'stuntdouble/store',
    version: 1,
    keys,
    ...(aliases.length > 0 && { searchAliases: aliases }),
  }
}

/** Replaces all keys. Rejects an invalid dump before anything changes. */
export function loadInto(db: Database, dump: StoreDump): void {
  const loaded = keysOf(dump)
  db.clear()
  for (const { name, value, expiresAt } of loaded) db.put(name, value, expiresAt)
  for (const [alias, index] of dump.searchAliases ?? []) db.search.aliases.set(bytesOf(alias), bytesOf(index))
}

/** Returns the value of a DUMP payload, or `undefined` if the content is not a valid value. */
export function restoredValue(content: unknown): KeyspaceValue | undefined {
  const key = { ...(content as object), key: '' } as DumpedKey
  try {
    return keysOf({ format: 'stuntdouble/store', version: 1, keys: [key] })[0]!.value
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

interface LoadedKey {
  readonly name: Bytes
  readonly value: KeyspaceValue
  readonly expiresAt: number | undefined
}

/**
 * Returns the content of a dump.
 * @throws TypeError when it is invalid
 */
export function keysOf(dump: StoreDump): LoadedKey[] {
  checkDump(dump, 'load()')
  const parsed = v.safeParse(storeSchema(), dump, { abortEarly: true })
  if (!parsed.success) throw invalidDump('a store', complaintOf(parsed.issues))
  const loaded = parsed.output.keys.map(loadedKey)
  const names = new Set(loaded.map(({ name }) => name))
  if (names.size < loaded.length)
    throw new TypeError('load(): the store dump contains a key twice. Remove one of the two entries.')
  checkStreamIndexes(loaded)
  return loaded
}

/** Throws if a stream has two indexes. */
function checkStreamIndexes(loaded: readonly LoadedKey[]): void {
  const bound = new Set<Bytes>()
  for (const { value } of loaded) {
    const stream = value instanceof SearchIndex ? value.streamKey : undefined
    if (stream === undefined) continue
    if (bound.has(stream))
      throw new TypeError(
        `load(): the store dump contains two indexes over stream ${shortened(JSON.stringify(portableString(stream)))}. Remove one of them.`,
      )
    bound.add(stream)
  }
}

function complaintOf([issue]: readonly [v.BaseIssue<unknown>, ...unknown[]]): DumpProblem {
  return { place: v.getDotPath(issue), reason: issue.message }
}

function checkDump(dump: StoreDump, taker: string): void {
  if (dump?.format === 'stuntdouble/store' && dump.version === 1 && Array.isArray(dump.keys)) return
  throw new TypeError(
    `${taker}: the argument must be a store dump, \`{ format: 'stuntdouble/store', version: 1, keys: […] }\`. Pass the result of dump().`,
  )
}

function loadedKey(dumped: DumpedKey): LoadedKey {
  const refuse = (reason: string) =>
    new TypeError(`load(): key ${shortened(JSON.stringify(dumped.key))} of the dump ${reason}`)
  return { name: bytesOf(dumped.key), value: readValue(dumped, refuse), expiresAt: dumped.expiresAt }
}

function readValue(dumped: DumpedKey, refuse: (reason: string) => TypeError): KeyspaceValue {
  try {
    return storedValue(dumped)
  } catch (error) {
    throw refuse(`cannot be loaded: ${shortened((error as Error).message)}`)
  }
}

export function differenceOf(before: StoreDump, after: StoreDump): StoreDiff<DumpedKey> {
  checkDump(before, 'diff()')
  const old = new Map(before.keys.map((dumped) => [JSON.stringify(dumped.key), dumped]))
  const added: DumpedKey[] = []
  const changed: { key: PortableString; before: DumpedKey; after: DumpedKey }[] = []
  for (const now of after.keys) {
    const name = JSON.stringify(now.key)
    const then = old.get(name)
    old.delete(name)
    if (then === undefined) added.push(now)
    else if (contentOf(then) !== contentOf(now)) changed.push({ key: now.key, before: then, after: now })
  }
  return { added, removed: [...old.values()], changed }
}

/**
 * Returns a text for comparing keys. Equal keys have equal texts, because the order of set members, hash fields and vectors has
 * no meaning.
 */
function contentOf(dumped: DumpedKey): string {
  if (dumped.type === 'set') return JSON.stringify({ ...dumped, members: sorted(dumped.members) })
  if (dumped.type === 'hash') return JSON.stringify({ ...dumped, fields: sorted(dumped.fields) })
  if (dumped.type === 'vector') return JSON.stringify({ ...dumped, vectors: sorted(dumped.vectors) })
  return JSON.stringify(dumped)
}

function sorted(items: readonly unknown[]): string[] {
  return items.map((item) => JSON.stringify(item)).sort()
}
