import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf, type Item, type ItemKind, itemKinds } from './items.js'
import type { Extract } from './read-package.js'

// Recorded extracts are what the tables were last checked against. One file per package and version contains names,
// facts and places. Descriptions by the vendor are recorded as hashes.

const folder = new URL('../../recorded', import.meta.url).pathname

/** Form of a file: the items by kind, name and `[facts, place, owner]`. */
interface RecordFile {
  readonly name: string
  readonly version: string
  readonly items: Readonly<Partial<Record<ItemKind, Readonly<Record<string, string>>>>>
}

/** Separates facts, place and owner. It occurs in none of them. */
const separator = ' ¶ '

/** Writes the record of an extract. Returns the path of the file. */
export function writeRecord(extract: Extract): string {
  const { name, version, items } = extract
  const file: RecordFile = {
    name,
    version,
    items: Object.fromEntries(
      itemKinds
        .map((kind) => [kind, items.filter((item) => item.kind === kind)] as const)
        .filter(([, list]) => list.length > 0)
        .map(([kind, list]) => [kind, Object.fromEntries(list.map((item) => [item.name, lineOf(item)]))]),
    ),
  }
  mkdirSync(folder, { recursive: true })
  const path = join(folder, fileName(name, version))
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`)
  return path
}

/** Reads the record of one version, or of the newest version that was recorded. */
export function readRecord(name: string, version?: string): Extract | undefined {
  const prefix = fileName(name, '').slice(0, -'.json'.length)
  const versions = readdirSync(folder)
    .filter((file) => file.startsWith(prefix) && /^v?\d+\.\d+\.\d+.*\.json$/.test(file.slice(prefix.length)))
    .map((file) => file.slice(prefix.length, -'.json'.length))
    .sort(byVersion)
  const wanted = version ?? versions.at(-1)
  if (wanted === undefined || !versions.includes(wanted)) return undefined
  const file = JSON.parse(readFileSync(join(folder, fileName(name, wanted)), 'utf8')) as RecordFile
  const items = itemKinds.flatMap((kind) =>
    Object.entries(file.items[kind] ?? {}).map(([name, line]) => itemOf(kind, name, line)),
  )
  return { name, version: file.version, items }
}

function lineOf(item: Item): string {
  const { source, owner } = item
  return [digestOf(item), source, ...(owner === undefined ? [] : [owner])].join(separator)
}

function itemOf(kind: ItemKind, name: string, line: string): Item {
  const [value = '', source = '', owner] = line.split(separator)
  return { kind, name, value, source, owner }
}

function fileName(name: string, version: string): string {
  return `${name.replace(/^@\w+\//, '')}-${version}.json`
}

function byVersion(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}
