// Compares the benchmarks of two trees for `bench/against.ts`.
import { type Measured, quantile, short } from './harness.ts'

/** A variant of a figure that both trees measure. */
export interface Comparison {
  readonly name: string
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
const atMost = 1.1

/**
 * Compares the turns of two trees by figure and variant, the first turn of one tree with the first turn of the other.
 */
export function compared(
  before: readonly (readonly Measured[])[],
  after: readonly (readonly Measured[])[],
): Comparisons {
  const [old, own] = [amountsOf(before), amountsOf(after)]
  const rows = [...own].flatMap(([name, { unit, amounts }]) => {
    const earlier = old.get(name)?.amounts
    if (earlier === undefined) return []
    const ratios = amounts.map((amount, turn) => amount / earlier[turn]!)
    const medians = { before: quantile(earlier, 0.5), after: quantile(amounts, 0.5) }
    const ratio = medians.after / medians.before
    return [{ name, unit, ...medians, ratio, low: Math.min(...ratios), high: Math.max(...ratios) }]
  })
  return {
    rows,
    onlyBefore: [...old.keys()].filter((name) => !own.has(name)),
    onlyAfter: [...own.keys()].filter((name) => !old.has(name)),
  }
}

/** Formats the comparisons as lines, the largest ratio first. */
export function comparisonLines({ rows, onlyBefore, onlyAfter }: Comparisons): readonly string[] {
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

function amountsOf(turns: readonly (readonly Measured[])[]) {
  const amounts = new Map<string, { readonly unit: Measured['unit']; readonly amounts: number[] }>()
  for (const { figure, variant, unit, amount } of turns.flat()) {
    const name = `${figure}: ${variant}`
    const known = amounts.get(name) ?? { unit, amounts: [] }
    known.amounts.push(amount)
    amounts.set(name, known)
  }
  return amounts
}
