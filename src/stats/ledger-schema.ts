import * as v from 'valibot'
import { farthest } from '../kernel/dump-problems.js'
import type { LedgerDump } from './ledger.js'
import { grids } from './periods.js'
import { tallies } from './tallies.js'

const interval = v.pipe(v.number(), v.values([...grids.keys()], 'is not an interval length of the statistics'))
const sum = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const row = v.tuple([
  v.pipe(v.number(), v.safeInteger(), v.minValue(-farthest), v.maxValue(farthest)),
  v.pipe(v.array(sum), v.length(tallies.length)),
])

/**
 * Schema of a dump whose tallies are those of this version. A load drops the counts of a dump with other tallies, so
 * these counts need no validation.
 */
const ours = v.object({
  tallies: v.pipe(
    v.array(v.string()),
    v.check((names) => areOurs(names)),
  ),
  rings: v.array(v.tuple([interval, v.array(row)])),
})
const others = v.object({
  tallies: v.pipe(
    v.array(v.string()),
    v.check((names) => !areOurs(names)),
  ),
  rings: v.array(v.any()),
})

export const ledgerSchema: v.GenericSchema<unknown, LedgerDump> = v.lazy((given) =>
  Array.isArray(given) || areOurs((given as Partial<LedgerDump> | null)?.tallies) ? ours : others,
)

/**
 * Returns whether a value is the list of this version's tallies. Do not compare with `join()`, which overflows the
 * stack for a deeply nested list.
 */
export function areOurs(names: unknown): boolean {
  return (
    Array.isArray(names) && names.length === tallies.length && names.every((name, index) => name === tallies[index])
  )
}
