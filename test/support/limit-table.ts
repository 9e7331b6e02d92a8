import { type LimitRow, limitRows } from '../../src/server/limits.js'

const begin = '<!-- begin limits: `npm run docs` writes this -->'
const end = '<!-- end -->'

/** A page with the table of every limit as src/server/limits.ts has it. */
export function withLimitTable(page: string): string {
  const from = page.indexOf(begin)
  if (from === -1) throw new Error(`The page has no line ${begin}`)
  const table = ['| Limit | Set by | Default | Unit | Beyond it |', '|---|---|---|---|---|', ...limitRows.map(rowOf)]
  return `${page.slice(0, from)}${begin}\n\n${table.join('\n')}\n\n${page.slice(page.indexOf(end, from))}`
}

function rowOf({ set, what, default: value, unit, beyond }: LimitRow): string {
  const shown = typeof value === 'number' ? value.toLocaleString('en') : value
  return `| ${what} | ${set === 'fixed' ? 'fixed' : `\`${set}\``} | ${shown} | ${unit} | ${beyond} |`
}
