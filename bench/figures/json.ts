// Cost of reading one value in a large document, over parsing the document.
import { each, type Figure } from '../harness.ts'
import { loneStore, words } from '../store.ts'

/** A megabyte of records as an app stores them. */
function document(): string {
  const records = Array.from({ length: 7000 }, (_, id) => ({
    id,
    name: `Customer ${id}`,
    email: `customer.${id}@shop.test`,
    tags: ['new', 'mail', `segment-${id % 17}`],
    address: { street: `${id % 200} Main Street`, zip: String(10_000 + id), lat: 52.5 + id / 1e5 },
  }))
  return JSON.stringify({ version: 3, customers: records })
}

function leaf(): Figure {
  const text = document()
  if (text.length < 1_000_000) throw new Error(`the document is too short: ${text.length} bytes`)
  const store = loneStore()
  store.execute(words('JSON.SET', 'key', '$', text))
  const rows = [17, 3500, 6999].map((at) => words('JSON.GET', 'key', `$.customers[${at}].address.zip`))
  if (store.execute(rows[0]!) !== '["10017"]') throw new Error('JSON.GET found something else')
  return {
    name: 'JSON.GET of one leaf in a document of 1 MB over parsing it',
    baseline: each('JSON.parse', [text], JSON.parse),
    variants: [each('JSON.GET', rows, (row) => store.execute(row))],
    atMost: { 'JSON.GET': 1 / 20 },
  }
}

export const figures = [leaf]
