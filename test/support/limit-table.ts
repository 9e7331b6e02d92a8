import { type LimitRow, limitAreas, limitRows } from '../../packages/server/test/limit-rows.js'

const begin = '<!-- begin limits: `npm run docs` writes this -->'
const end = '<!-- end -->'

/** Returns a page with the tables of the limits in packages/server/test/limit-rows.ts. */
export function withLimitTable(page: string): string {
  const from = page.indexOf(begin)
  if (from === -1) throw new Error(`The page has no line ${begin}`)
  const text = [
    '### Limits that you can set',
    ...table(['Limit', 'Set by', 'Default', 'Beyond it'], limitRows.filter(({ set }) => set !== 'fixed').map(settable)),
    ...Object.entries(limitAreas).flatMap(([area, rows]) => [
      `### Fixed limits of ${area}`,
      ...table(['Limit', 'Value', 'Beyond it'], rows.filter(({ set }) => set === 'fixed').map(fixed)),
    ]),
  ]
  return `${page.slice(0, from)}${begin}\n\n${text.join('\n')}${page.slice(page.indexOf(end, from))}`
}

function table(head: readonly string[], rows: readonly string[]): string[] {
  return ['', `| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows, '']
}

function settable({ set, what, default: value, unit, beyond }: LimitRow): string {
  return `| ${what} | \`${set}\` | ${shown(value, unit)} | ${beyond} |`
}

function fixed({ what, default: value, unit, beyond }: LimitRow): string {
  return `| ${what} | ${shown(value, unit)} | ${beyond} |`
}

function shown(value: LimitRow['default'], unit: string): string {
  if (typeof value === 'string') return value
  if (unit !== 'bytes') return `${value.toLocaleString('en')} ${unit}`
  return value % 1_048_576 === 0
    ? `${value / 1_048_576} MiB`
    : value % 1024 === 0
      ? `${value / 1024} KiB`
      : `${value.toLocaleString('en')} bytes`
}
