// Coverage as plain data: what parts of an exploration have reached, and how parts become a whole.

/** A state and a point in which something could have gone wrong. */
export interface CoverageRow {
  readonly state: string
  readonly point: string
  /** In which run it occurred first, from 1. */
  readonly seen: number
  /** At which moment of that run. */
  readonly moment: number
  /** What can go wrong there. */
  readonly could: readonly string[]
  /** What did, and in which run first. */
  readonly struck: Readonly<Record<string, number>>
}

/**
 * Parts in any order, and parts of parts, come to the same.
 * @returns one row for each state and point, in the order in which they occurred first
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

/** Each once. What parts had first cannot be told of them any more, and would be another with other parts. */
function sorted(faults: readonly string[]): readonly string[] {
  return [...new Set(faults)].sort()
}

/** How much of what can go wrong is there, in two numbers. */
export function amountOf(rows: readonly CoverageRow[]): { readonly reached: number; readonly possible: number } {
  let [reached, possible] = [0, 0]
  for (const { could, struck } of rows) {
    reached += Object.keys(struck).length
    possible += could.length
  }
  return { reached, possible }
}
