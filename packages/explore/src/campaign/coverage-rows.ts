// Coverage as plain data. Each part of an exploration has its own coverage, and the parts are merged.

/** A state and an injection point at which a fault could have been injected. */
export interface CoverageRow {
  readonly state: string
  readonly point: string
  /** Number of the run in which this state and point occurred first, from 1. */
  readonly seen: number
  /** Index of the injection point in that run. */
  readonly moment: number
  /** Kinds of faults that can be injected in this state at this point. */
  readonly could: readonly string[]
  /** Kinds of faults that were injected, each with the number of the first run that injected it, from 1. */
  readonly struck: Readonly<Record<string, number>>
}

/**
 * Merges the coverage of several parts of an exploration. The result is the same if the parts are in another order, or
 * if some of them were merged before.
 * @returns one row for each state and injection point, sorted by first occurrence
 */
export function united(parts: Iterable<readonly CoverageRow[]>): readonly CoverageRow[] {
  const rows = new Map<string, CoverageRow>()
  for (const part of parts) {
    for (const row of part) {
      const place = JSON.stringify([row.state, row.point])
      const known = rows.get(place)
      rows.set(place, known === undefined ? { ...row, could: sorted(row.could) } : both(known, row))
    }
  }
  return [...rows.values()].sort((a, b) => a.seen - b.seen || a.moment - b.moment)
}

function both(one: CoverageRow, other: CoverageRow): CoverageRow {
  const [first, second] = one.seen <= other.seen ? [one, other] : [other, one]
  const struck: Record<string, number> = { ...first.struck }
  for (const [fault, run] of Object.entries(second.struck)) struck[fault] = Math.min(run, struck[fault] ?? run)
  return { ...first, could: sorted([...first.could, ...second.could]), struck }
}

/**
 * Sorts the kinds of faults and removes duplicates. Their original order depends on the division into parts, so it is
 * not kept.
 */
function sorted(faults: readonly string[]): readonly string[] {
  return [...new Set(faults)].sort()
}

/** Counts the possible pairs of a row and a fault kind, and the pairs whose fault was injected. */
export function amountOf(rows: readonly CoverageRow[]): { readonly reached: number; readonly possible: number } {
  let [reached, possible] = [0, 0]
  for (const { could, struck } of rows) {
    reached += Object.keys(struck).length
    possible += could.length
  }
  return { reached, possible }
}
