// The table of docs/decisions/speed.md, which `npm run bench -- --write` renews.
import { type Measured, quantile, short } from './harness.ts'

const begin = '<!-- begin of the table that npm run bench -- --write renews -->'
const end = '<!-- end of the table -->'
const head = ['Word', 'Figure', 'Ratio', 'Goal', 'Kept', 'Amount', 'Measured']
const unmeasured = 'not measured yet'

/** One row of the table, as its cells. */
export type Row = readonly string[]

/** Returns the rows of the table in the page. */
export function rowsOf(page: string): readonly Row[] {
  const lines = page.slice(page.indexOf(begin), page.indexOf(end)).split('\n')
  return lines
    .filter((line) => line.startsWith('| ') && !/^\| (?:Word|---) /.test(line))
    .map((line) => line.slice(2, -2).split(' | '))
}

/**
 * Returns the page with new rows for the figures that were measured. Rows of other figures stay.
 * @param words all words, in their order: the names of the files in `bench/figures`
 * @param on Node version and date of the run
 */
export function withTable(
  page: string,
  words: readonly string[],
  measured: readonly Measured[],
  on: { readonly node: string; readonly date: string },
): string {
  const known = rowsOf(page)
  const fresh = measuredRows(measured, on)
  const rows = words.flatMap((word) => {
    const names = new Set(fresh.filter(([own]) => own === word).map(([, figure]) => nameOf(figure!)))
    const kept = known.filter(([own, figure]) => own === word && figure !== unmeasured && !names.has(nameOf(figure!)))
    const all = [...fresh.filter(([own]) => own === word), ...kept]
    return all.length > 0 ? all : [[word, unmeasured, '', '', '', '', '']]
  })
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  const [before, after] = [page.indexOf(begin), page.indexOf(end)]
  if (before === -1 || after === -1) throw new Error(`The page lacks the lines ${begin} and ${end}.`)
  return `${page.slice(0, before)}${begin}\n\n${lines.join('\n')}\n\n${page.slice(after)}`
}

/** Returns the name of a figure, without the variant. */
export function nameOf(figure: string): string {
  return figure.split(': ')[0]!
}

/** One row for each variant, with the medians of all runs. The baseline has no row. */
function measuredRows(measured: readonly Measured[], { node, date }: { node: string; date: string }): readonly Row[] {
  const groups = new Map<string, Measured[]>()
  for (const one of measured) {
    const name = `${one.figure}\n${one.variant}`
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return [...groups.values()].flatMap((runs) => {
    const { word = '', figure, variant, baseline, unit, atMost, within } = runs[0]!
    if (variant === baseline) return []
    const ratio = quantile(
      runs.map((one) => one.ratio),
      0.5,
    )
    const amount = quantile(
      runs.map((one) => one.amount),
      0.5,
    )
    const goals = [atMost !== undefined && short(atMost), within !== undefined && `${short(within)} ${unit}`]
    const isKept = ratio <= (atMost ?? Number.POSITIVE_INFINITY) && amount <= (within ?? Number.POSITIVE_INFINITY)
    const hasGoal = atMost !== undefined || within !== undefined
    const name = `${figure.replaceAll(': ', ', ')}: ${variant}`.replaceAll('|', '/')
    return [
      [
        ...[
          word,
          name,
          short(ratio),
          goals.filter(Boolean).join(', '),
          hasGoal ? (isKept ? 'kept' : '**missed**') : '',
        ],
        ...[`${short(amount)} ${unit}`, `${date}, Node ${node.slice(1)}`],
      ],
    ]
  })
}
