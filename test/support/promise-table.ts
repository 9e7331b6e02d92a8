import { invariants } from '../../src/invariants/invariant-table.js'

const begin = '<!-- generated: invariants -->'
const end = '<!-- end -->'

/** Returns the page about invariants with its table up to date. */
export function withPromiseTable(page: string): string {
  const from = page.indexOf(begin)
  if (from === -1) throw new Error(`The page has no line ${begin}`)
  const rows = invariants.map(({ name, guarantee, suspendedBy = {} }) => {
    const faults = Object.entries(suspendedBy).map(([fault, extent]) => `\`${fault}\` ${extent}`)
    return `| \`${name}\` | ${guarantee} | ${faults.join('; ') || '—'} |`
  })
  const table = ['| Name | Guarantee | Suspended by |', '|---|---|---|', ...rows].join('\n')
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(page.indexOf(end, from))}`
}
