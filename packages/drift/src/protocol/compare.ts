import { byKindAndName, digestOf, type Item, type ItemKind } from './items.js'

export type Change = 'new' | 'changed' | 'gone'

/** A difference between what was known and what was found. */
export interface Row {
  readonly change: Change
  readonly kind: ItemKind
  readonly name: string
  /** Value and text as they were known. */
  readonly before?: string
  /** Value and text as they were found. */
  readonly after?: string
  /** File and line: where the item was found, or where it was before it was removed. */
  readonly source: string
}

/** Returns whether our tables contain an item. `perhaps`: there is no table for it, or only its name occurs. */
export type TableLookup = (item: Item) => 'yes' | 'no' | 'perhaps'

/**
 * Compares items with those that were recorded earlier, and with our tables.
 *
 * - new: our tables do not contain the item. If this is not certain, the record does not contain it.
 * - changed: the record contains the item with another value.
 * - gone: only the record contains the item.
 *
 * What belongs to a new or removed command, endpoint or type has no row of its own.
 *
 * @param recorded `undefined`: nothing was recorded, so that only our tables count
 */
export function compareItems(
  recorded: readonly Item[] | undefined,
  found: readonly Item[],
  known: TableLookup = () => 'perhaps',
): Row[] {
  const before = byKey(recorded ?? [])
  const after = byKey(found)
  const rows: Row[] = []
  const owners = new Set<string>()
  const isOwned = ({ owner, name, kind }: Item): boolean =>
    owner !== undefined && (owner !== name || kind === 'text') && owners.has(owner)
  const isNew = (item: Item): boolean => {
    const answer = known(item)
    return answer === 'no' || (answer === 'perhaps' && recorded !== undefined && !before.has(keyOf(item)))
  }
  const isGone = (item: Item): boolean => !after.has(keyOf(item))
  for (const [items, isChanged] of [
    [after, isNew],
    [before, isGone],
  ] as const) {
    for (const item of items.values()) if (item.kind !== 'text' && isChanged(item)) owners.add(item.name)
  }
  for (const item of after.values()) {
    if (isOwned(item)) continue
    const earlier = before.get(keyOf(item))
    if (isNew(item)) rows.push({ change: 'new', ...shown(item), after: said(item) })
    else if (earlier !== undefined && digestOf(earlier) !== digestOf(item))
      rows.push({ change: 'changed', ...shown(item), before: said(earlier), after: said(item) })
  }
  for (const item of before.values()) {
    if (isGone(item) && !isOwned(item)) rows.push({ change: 'gone', ...shown(item), before: said(item) })
  }
  return joinedTexts(rows).sort(byKindAndName)
}

/** Shortest common beginning of two texts that count as one changed text. */
const minBeginning = 12

/** Joins a text that is gone with a new one that begins in the same way: the text has changed. */
function joinedTexts(rows: readonly Row[]): Row[] {
  const isText = ({ kind }: Row): boolean => kind === 'text'
  const joined = new Set<Row>()
  const changed: Row[] = []
  for (const row of rows.filter((one) => isText(one) && one.change === 'new')) {
    const candidates = rows.filter((one) => isText(one) && one.change === 'gone' && !joined.has(one))
    const [best] = candidates.sort((one, other) => commonBeginning(other, row) - commonBeginning(one, row))
    if (best === undefined) continue
    const shorter = Math.min(best.name.length, row.name.length)
    if (commonBeginning(best, row) < Math.max(minBeginning, shorter * 0.6)) continue
    joined.add(best).add(row)
    changed.push({ ...row, change: 'changed', before: best.name, after: row.name })
  }
  return [...rows.filter((row) => !joined.has(row)), ...changed]
}

function commonBeginning(one: Row, other: Row): number {
  let length = 0
  while (length < one.name.length && one.name[length] === other.name[length]) length++
  return length
}

function byKey(items: readonly Item[]): Map<string, Item> {
  return new Map(items.map((item) => [keyOf(item), item]))
}

function keyOf({ kind, name }: Item): string {
  return `${kind} ${name}`
}

function shown({ kind, name, source }: Item): Pick<Row, 'kind' | 'name' | 'source'> {
  return { kind, name, source }
}

function said({ value, text }: Item): string {
  return [value, text].filter((part) => part !== undefined && part !== '').join(': ')
}
