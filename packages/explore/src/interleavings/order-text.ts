import { plural } from '../../../../src/kernel/plural.js'
import { excerpt } from '../../../../src/report/safe-text.js'
import type { InterleavingStep } from './client-run.js'
import type { Anomaly } from './flaws.js'
import type { SerialDifference } from './order-endings.js'

const maxRows = 6
const widest = 60

/**
 * Returns a line for each request, with its response. A long order is shortened to the steps of the anomaly and the
 * first other steps.
 */
export function stepRows(steps: readonly InterleavingStep[], { steps: telling }: Pick<Anomaly, 'steps'>): string[] {
  const shown = chosen(steps.length, telling)
  const rows = shown.map((at) => {
    const { client: who, request, reply } = steps[at - 1]!
    return [`${telling.includes(at) ? '→' : ' '} ${at}`, who, excerpt(request, widest), excerpt(reply, widest)]
  })
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    `  ${row.map((cell, column) => (column < 3 ? cell.padEnd(widths[column]!) : cell)).join('  ')}`.trimEnd(),
  )
  const left = steps.length - shown.length
  return left === 0 ? lines : [...lines, `    … and ${plural(left, 'more step')}`]
}

function chosen(length: number, telling: readonly number[]): readonly number[] {
  const all = Array.from({ length }, (_, index) => index + 1)
  if (length <= maxRows) return all
  const first = [...telling].slice(0, maxRows - 1)
  const others = all.filter((at) => !first.includes(at)).slice(0, maxRows - 1 - first.length)
  return [...first, ...others].sort((a, b) => a - b)
}

/** Formats a list of names: `alice, bob and carol`. */
export function namesList(names: readonly string[], word: 'and' | 'or' = 'and'): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`
}

/** Formats a difference: `stock = "9", expected "8"`. */
export function differenceText({ subject: what, actual: found, expected }: SerialDifference): string {
  return `${what} = ${found}, expected ${expected}`
}

/** Returns the name of an anomaly as the literature writes it: `lost update`. */
export function anomalyWords({ name }: Pick<Anomaly, 'name'>): string {
  return name === 'non-repeatable-read' ? 'non-repeatable read' : name.replaceAll('-', ' ')
}

export function flawText({ name }: Anomaly): string {
  const words = anomalyWords({ name })
  return name === 'none' ? 'Failure' : words[0]!.toUpperCase() + words.slice(1)
}
