// Benefit and cost of an index: a search over scanning, and an indexed write over a plain one.
import { createSandbox } from 'stuntdouble'
import { each, type Figure, type Variant } from '../harness.ts'
import { type Argv, loneStore, type StoreEngine, words } from '../store.ts'

const documents = 100_000
const categories = 100

function document(id: number): Readonly<Record<string, unknown>> {
  return {
    name: `${adjectives[id % 7]} ${things[id % 11]} number ${id % 1000}`,
    category: `category-${(id * 7919) % categories}`,
    price: (id * 104_729) % 10_000,
    made: `2024-01-${String(1 + (id % 28)).padStart(2, '0')}T00:00:00Z`,
  }
}
const adjectives = ['red', 'running', 'wireless', 'gaming', 'large', 'used', 'new']
const things = ['laptop', 'shoe', 'desk', 'headphones', 'bag', 'lamp', 'chair', 'phone', 'cable', 'book', 'watch']

const create = words(
  ...['SEARCH.CREATE', 'products', 'ON', 'JSON', 'PREFIX', 1, 'product:', 'SCHEMA', 'name', 'TEXT'],
  ...['category', 'KEYWORD', 'price', 'U64', 'FAST', 'made', 'DATE', 'FAST'],
)

function set(id: number, content: Readonly<Record<string, unknown>> = document(id)): Argv {
  return words('JSON.SET', `product:${id}`, '$', JSON.stringify(content))
}

async function searchingStore(): Promise<StoreEngine> {
  await createSandbox().store.loadSearch()
  return loneStore()
}

async function search(): Promise<Figure> {
  const store = await searchingStore()
  for (let id = 0; id < documents; id++) store.execute(set(id))
  store.execute(create)
  const ranges = Array.from({ length: 20 }, (_, at) => ({
    category: `category-${at * 5}`,
    least: at * 400,
    most: at * 400 + 2000,
  }))
  const rows = ranges.map(({ category, least, most }) =>
    words('SEARCH.COUNT', 'products', JSON.stringify({ category, price: { $gte: least, $lt: most } })),
  )
  /** The work of a search without an index: reading two fields of every document in the store. */
  const scan = ({ category, least, most }: (typeof ranges)[number]): number => {
    let count = 0
    store.db.forEach((value) => {
      const root = (value as unknown as { readonly root?: ReadonlyMap<string, unknown> }).root
      const price = root?.get('price') as number | undefined
      if (root?.get('category') === category && price! >= least && price! < most) count++
    })
    return count
  }
  for (const [at, range] of ranges.entries()) {
    const found = store.execute(rows[at]!)
    if (found !== scan(range) || found === 0) throw new Error(`${found} were found, and ${scan(range)} are there`)
  }
  return {
    name: 'search of an equality and a range among 100,000 documents over scanning them',
    baseline: each('scan', ranges, scan),
    variants: [
      each('SEARCH.COUNT', rows, (row) => store.execute(row)),
      each(
        'SEARCH.QUERY',
        rows.map((row) => words('SEARCH.QUERY', ...row.slice(1))),
        (row) => store.execute(row),
      ),
    ],
    atMost: { 'SEARCH.COUNT': 1 / 20, 'SEARCH.QUERY': 1 / 20 },
  }
}

/** Number of writes before each search, which indexes them. */
const writesPerSearch = 100

function writing(name: string, store: StoreEngine, rows: readonly Argv[], searches: boolean): Variant {
  const count = words('SEARCH.COUNT', 'products', '{"category":"none"}')
  let written = 0
  return each(name, rows, (row) => {
    store.execute(row)
    if (searches && ++written % writesPerSearch === 0) store.execute(count)
  })
}

/** Alternates between two contents for each of many documents. */
function changing(other: (id: number) => Readonly<Record<string, unknown>>): readonly Argv[] {
  const ids = Array.from({ length: 20_000 }, (_, id) => id)
  return [...ids.map((id) => set(id)), ...ids.map((id) => set(id, other(id)))]
}

function writtenOver(name: string, rows: readonly Argv[]): () => Promise<Figure> {
  return async () => {
    const [plain, indexed] = [await searchingStore(), await searchingStore()]
    indexed.execute(create)
    for (const store of [plain, indexed]) for (const row of rows) store.execute(row)
    // Earlier writes must not count.
    indexed.execute(words('SEARCH.WAITINDEXING', 'products'))
    return {
      name,
      baseline: writing('plain', plain, rows, false),
      variants: [writing('indexed', indexed, rows, true)],
      atMost: { indexed: 4 },
    }
  }
}

const otherPrice: () => Promise<Figure> = writtenOver(
  'JSON.SET of an indexed document with another price, searched every 100 writes, over a plain one',
  changing((id) => ({ ...document(id), price: id })),
)
const otherDocument: () => Promise<Figure> = writtenOver(
  'JSON.SET of another document in the place of an indexed one, searched every 100 writes, over a plain one',
  changing((id) => document(id + 31)),
)

export const figures = [search, otherPrice, otherDocument]
