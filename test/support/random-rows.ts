import fc from 'fast-check'
import { type CommandOptions, command } from '../../packages/explore/src/values/arbitraries.js'

/** A command, or milliseconds that pass. */
export type Row = { readonly argv: readonly string[] } | { readonly advance: number }

/** Commands and, now and then, time that passes: in multiples of four seconds, as deadlines are in even ones that are not. */
export function rows(options: CommandOptions): fc.Arbitrary<Row> {
  const row = command({ commands: 'all', ...options }).map((argv): Row => ({ argv }))
  const wait = fc.constantFrom(4000, 8000, 40_000).map((advance): Row => ({ advance }))
  return fc.oneof({ weight: 19, arbitrary: row }, { weight: 1, arbitrary: wait })
}

/** Rows as text that can be pasted into a transcript. */
export function showRows(rows: readonly Row[]): string {
  return rows
    .map((row) =>
      'advance' in row ? `@advance ${row.advance}` : row.argv.map((word) => JSON.stringify(word)).join(' '),
    )
    .join('\n')
}
