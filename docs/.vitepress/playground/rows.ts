import type { Sandbox } from '../../../src/index.ts'
import type { Row } from './messages.ts'

/** The timeline as rows with their instants, so that a page can stop it anywhere. */
export function rowsOf(sandbox: Sandbox): readonly Row[] {
  const instants = new Map(sandbox.traffic.entries.map(({ seq, at }) => [seq, at]))
  let at = sandbox.traffic.entries[0]?.at ?? sandbox.clock.now()
  const rows: Row[] = []
  for (const text of sandbox.traffic.timeline().split('\n')) {
    const seq = Number(/^ *#(\d+) /.exec(text)?.[1] ?? Number.NaN)
    const last = rows.at(-1)
    at = instants.get(seq) ?? at
    // What stands below an entry belongs to it.
    if (Number.isNaN(seq) && last?.seq !== undefined && text.startsWith(' ')) {
      rows[rows.length - 1] = { ...last, text: `${last.text}\n${text}` }
    } else rows.push(Number.isNaN(seq) ? { at, text } : { seq, at, text })
  }
  // A day is a heading of what comes after it.
  return rows.map((row, nth) => (row.seq === undefined ? { ...row, at: rows[nth + 1]?.at ?? row.at } : row))
}

/** A failure ends with the timeline, which begins with a day. */
export function withoutTimeline(failure: string): string {
  return failure.split(/\n\n(?=\d{4}-\d\d-\d\d\n)/)[0]!
}
