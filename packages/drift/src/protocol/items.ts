/** Kinds of items that packages and documents of the vendor mention. */
export const itemKinds = ['command', 'option', 'endpoint', 'parameter', 'header', 'field', 'status', 'text'] as const

export type ItemKind = (typeof itemKinds)[number]

/** One thing that a package or a document says about the protocol. */
export interface Item {
  readonly kind: ItemKind
  /** Identity within the kind: `ARSET`, `SET NX`, `GET /v2/keys`, `GET /v2/logs ?cursor`, `Message.body`. */
  readonly name: string
  /** Facts that can change while the name stays: a type, a default, a syntax. */
  readonly value: string
  /** Description of the item. Recorded extracts contain only its hash, because the vendor wrote it. */
  readonly text?: string | undefined
  /** File and line. */
  readonly source: string
  /**
   * Name of the command, endpoint or type to which the item belongs. If its owner is new or gone, the item has no row
   * of its own.
   */
  readonly owner?: string | undefined
}

/** Maximum number of characters of a value or a name. Longer texts are cut off and end with a hash of the whole text. */
const maxText = 160

/** Collects the items of one source. An item that occurs several times is kept once, with all of its values. */
export class ItemSet {
  readonly #items = new Map<string, { item: Item; values: Set<string>; texts: Set<string> }>()

  add(item: Item): void {
    const name = shortened(item.name)
    const key = `${item.kind} ${name}`
    const known = this.#items.get(key) ?? { item: { ...item, name }, values: new Set(), texts: new Set() }
    this.#items.set(key, known)
    // The place that says most about an item is its source; other places only mention its name.
    if (item.value !== '' && known.values.size === 0) known.item = { ...item, name }
    if (item.value !== '') known.values.add(item.value)
    if (item.text !== undefined && item.text !== '') known.texts.add(item.text)
  }

  addAll(items: Iterable<Item>): void {
    for (const item of items) this.add(item)
  }

  /** Returns all items, sorted by kind and name. */
  list(): Item[] {
    return [...this.#items.values()]
      .map(({ item: { text: _text, ...item }, values, texts }) => ({
        ...item,
        value: shortened([...values].sort().join(' ¦ ')),
        ...(texts.size > 0 && { text: [...texts].sort().join(' ¦ ') }),
      }))
      .sort(byKindAndName)
  }
}

/** Orders items and rows by kind, then by name. */
export function byKindAndName(one: Pick<Item, 'kind' | 'name'>, other: Pick<Item, 'kind' | 'name'>): number {
  const kinds = itemKinds.indexOf(one.kind) - itemKinds.indexOf(other.kind)
  return kinds !== 0 ? kinds : one.name < other.name ? -1 : one.name > other.name ? 1 : 0
}

/** Returns the value with the hash of the text: two items with the same digest say the same. */
export function digestOf({ value, text }: Pick<Item, 'value' | 'text'>): string {
  return [value, text === undefined ? '' : `#${hashOf(text)}`].filter((part) => part !== '').join(' ')
}

/** Returns the text on one line. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Cuts off a text that is too long for a row. The hash of the whole text still shows every change. */
export function shortened(text: string, most: number = maxText): string {
  return text.length <= most ? text : `${text.slice(0, most - 12)}… #${hashOf(text)}`
}

/** Returns 8 hexadecimal digits that change with the text (FNV-1a). They detect changes and protect against nothing. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
