// Compares the benchmarks of two trees for `bench/against.ts`, and decides for the nightly guard.
import { type Measured, quantile, short } from './harness.ts'

/** A variant of a figure that both trees measure. */
export interface Comparison {
  readonly name: string
  /** Word that selects the figure: `npm run bench -- WORD`. */
  readonly word?: string
  readonly unit: Measured['unit']
  /** Median over the turns. */
  readonly before: number
  readonly after: number
  /** `after` divided by `before`. */
  readonly ratio: number
  /** The lowest and the highest ratio of a turn, which show the noise of the machine. */
  readonly low: number
  readonly high: number
}

export interface Comparisons {
  readonly rows: readonly Comparison[]
  readonly onlyBefore: readonly string[]
  readonly onlyAfter: readonly string[]
}

/** Highest ratio that is not marked. */
const markedAbove = 1.1

/**
 * Compares the turns of two trees by figure and variant, the first turn of one tree with the first turn of the other.
 */
export function compared(
  before: readonly (readonly Measured[])[],
  after: readonly (readonly Measured[])[],
): Comparisons {
  const [old, own] = [amountsOf(before), amountsOf(after)]
  const rows = [...own].flatMap(([name, { unit, word, amounts }]) => {
    const earlier = old.get(name)?.amounts
    if (earlier === undefined) return []
    const ratios = amounts.map((amount, turn) => amount / earlier[turn]!)
    const medians = { before: quantile(earlier, 0.5), after: quantile(amounts, 0.5) }
    const ratio = medians.after / medians.before
    return [
      {
        name,
        ...(word !== undefined && { word }),
        unit,
        ...medians,
        ratio,
        low: Math.min(...ratios),
        high: Math.max(...ratios),
      },
    ]
  })
  return {
    rows,
    onlyBefore: [...old.keys()].filter((name) => !own.has(name)),
    onlyAfter: [...own.keys()].filter((name) => !old.has(name)),
  }
}

/** Ratios of the nightly guard: from the first one on, a figure is reported; from the second one on, it is suspicious. */
export const guardLimits = { report: 1.15, fail: 1.3 } as const

export interface Guarded {
  /** Figures to report, the largest ratio first. */
  readonly reported: readonly Comparison[]
  /** Figures that were suspicious in both runs. They make the nightly fail. */
  readonly failed: readonly Comparison[]
}

/** Returns the figures that must be measured again before the guard may fail. */
export function suspicious({ rows }: Comparisons): readonly Comparison[] {
  return rows.filter(({ ratio }) => ratio > guardLimits.fail)
}

/**
 * Decides for the nightly guard. One run can be wrong on a busy machine, so only a figure that is suspicious in two runs
 * in a row has failed.
 * @param again second run of the suspicious figures
 */
export function guarded(first: Comparisons, again: Comparisons): Guarded {
  const ratios = new Map(again.rows.map(({ name, ratio }) => [name, ratio]))
  const reported = first.rows
    .filter(({ ratio }) => ratio > guardLimits.report)
    .toSorted((one, other) => other.ratio - one.ratio)
  return { reported, failed: suspicious(first).filter(({ name }) => (ratios.get(name) ?? 0) > guardLimits.fail) }
}

/** Formats the comparisons as lines, the largest ratio first. */
export function comparisonLines(
  { rows, onlyBefore, onlyAfter }: Comparisons,
  atMost: number = markedAbove,
): readonly string[] {
  const width = Math.max(...rows.map(({ name }) => name.length))
  const lines = rows
    .toSorted((a, b) => b.ratio - a.ratio)
    .map(({ name, unit, before, after, ratio, low, high }) => {
      const amounts = `${short(before).padStart(8)} to ${short(after).padStart(8)} ${unit}`
      const mark = ratio > atMost ? `  more than ${atMost}` : ''
      return `${name.padEnd(width)}  ${short(ratio).padStart(5)} ×  (${short(low)} to ${short(high)})  ${amounts}${mark}`
    })
  const alone = [
    ['Only before', onlyBefore],
    ['Only in this tree', onlyAfter],
  ] as const
  return [...lines, ...alone.flatMap(([where, names]) => (names.length > 0 ? [`${where}: ${names.join('; ')}`] : []))]
}

interface Amounts {
  readonly unit: Measured['unit']
  readonly word: string | undefined
  readonly amounts: number[]
}

function amountsOf(turns: readonly (readonly Measured[])[]) {
  const amounts = new Map<string, Amounts>()
  for (const { figure, variant, word, unit, amount } of turns.flat()) {
    const name = `${figure}: ${variant}`
    const known = amounts.get(name) ?? { unit, word, amounts: [] }
    known.amounts.push(amount)
    amounts.set(name, known)
  }
  return amounts
}
