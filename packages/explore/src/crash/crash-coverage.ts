import { figureText } from '../campaign/coverage-text.js'
import type { Coverage, CoverageCell, ReachedCell } from '../delivery/coverage.js'
import type { Disruption } from './disruption.js'
import type { RunDelivery } from './run-delivery.js'

/**
 * Returns the coverage of a check: all possible disruptions, and those that were tried.
 * @param tried the crash plans with a result
 */
export function crashCoverage(
  deliveries: readonly RunDelivery[],
  all: readonly Disruption[],
  tried: readonly (readonly Disruption[])[],
): Coverage {
  const runs = new Map<Disruption, number>()
  for (const [index, schedule] of tried.entries())
    for (const one of schedule) if (!runs.has(one)) runs.set(one, index + 1)
  const cells: ReachedCell[] = []
  const never: CoverageCell[] = []
  for (const one of all) {
    const cell = { state: deliveries[one.delivery - 1]?.told ?? '', fault: one.kind, point: one.id }
    const run = runs.get(one)
    if (run === undefined) never.push(cell)
    else cells.push({ ...cell, run })
  }
  const [reached, possible] = [cells.length, all.length]
  return {
    reached,
    possible,
    cells,
    unreached: never,
    toString: () => figureText(reached, possible, deliveries.length, never),
  }
}
