import * as v from 'valibot'
import { farthest } from '../kernel/dump-problems.js'
import { grids } from './periods.js'
import type { StoreLedgerDump } from './store-ledger.js'
import { storeGrids, storeTallies } from './store-tallies.js'
import { tallies } from './tallies.js'
import type { LedgerDump } from './tally-book.js'

const sum = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const position = v.pipe(v.number(), v.safeInteger(), v.minValue(-farthest), v.maxValue(farthest))

/**
 * Returns the schema of a dump of counters. A load drops the counts of a dump with other names than those of this
 * version, so these counts need no validation.
 */
function countsSchema<More extends v.ObjectEntries>(
  names: readonly string[],
  intervals: ReadonlyMap<number, number>,
  more: More,
) {
  const interval = v.pipe(v.number(), v.values([...intervals.keys()], 'is not an interval length of the statistics'))
  const row = v.tuple([position, v.pipe(v.array(sum), v.length(names.length))])
  const ours = v.object({
    tallies: v.pipe(
      v.array(v.string()),
      v.check((given) => areSame(given, names)),
    ),
    rings: v.array(v.tuple([interval, v.array(row)])),
    ...more,
  })
  const others = v.object({
    tallies: v.pipe(
      v.array(v.string()),
      v.check((given) => !areSame(given, names)),
    ),
    rings: v.array(v.any()),
    ...more,
  })
  return v.lazy((given) =>
    Array.isArray(given) || areSame((given as Partial<LedgerDump> | null)?.tallies, names) ? ours : others,
  )
}

export const ledgerSchema: v.GenericSchema<unknown, LedgerDump> = countsSchema(tallies, grids, {})

export const storeLedgerSchema: v.GenericSchema<unknown, StoreLedgerDump> = countsSchema(storeTallies, storeGrids, {
  commands: v.array(v.tuple([position, v.pipe(v.string(), v.minLength(1), v.maxLength(100)), sum])),
  sizes: v.array(v.tuple([position, sum, sum])),
}) as v.GenericSchema<unknown, StoreLedgerDump>

/**
 * Returns whether a value is the list of this version's tallies. Do not compare with `join()`, which overflows the
 * stack for a deeply nested list.
 */
export function areOurs(given: unknown): boolean {
  return areSame(given, tallies) || areSame(given, storeTallies)
}

function areSame(given: unknown, names: readonly string[]): boolean {
  return Array.isArray(given) && given.length === names.length && given.every((name, index) => name === names[index])
}
